"""The request a model was sent, made again from what the log holds."""

from typing import Any

import msgspec

from windlass.core.errors import ModelError
from windlass.core.ports import ModelRequest
from windlass.providers import Models, OpenAIChat, profile_for
from windlass.providers.encoding import ByteCache, Encoder


def request_shown(models: Models, request: ModelRequest) -> dict[str, Any]:
    body: dict[str, Any] = msgspec.json.decode(_body(models, request))
    return body


def _body(models: Models, request: ModelRequest) -> bytes:
    """For a model without a wire, or one that is gone, the common form stands in."""
    settings = request.settings
    try:
        model = models.model(settings.provider)
    except ModelError:
        model = None
    if isinstance(model, OpenAIChat):
        return model.body(request)
    encoder = Encoder(settings.provider, ByteCache())
    return encoder.body(request, profile_for("", settings.model), settings.model, settings.temperature)
