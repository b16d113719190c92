"""A provider as it is configured."""

from dataclasses import field
from typing import Literal

from windlass.core.values import value_object
from windlass.providers.failures import Patience

Kind = Literal["openai", "demo"]


@value_object
class ProviderConfig:
    id: str
    name: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    model: str = ""
    temperature: float | None = None
    profile: str = ""  # a profile's name, where the address and the model do not tell
    kind: Kind = "openai"
    ca_file: str = ""
    patience: Patience = field(default_factory=Patience)
