"""The chat-completions wire: one provider, asked over HTTP, its answer streamed."""

import asyncio
import json
import re
import time
from dataclasses import replace

from windlass.core.errors import ModelError
from windlass.core.ports import Emit, ModelRequest, Reply
from windlass.providers.answer import Deadline, read_answer, read_up_to
from windlass.providers.assembly import Assembly
from windlass.providers.attempt import Attempt
from windlass.providers.byte_cache import ByteCache
from windlass.providers.config import ProviderConfig, endpoint_for, host_of
from windlass.providers.encoding import ENTRIES, OPTIONAL, Encoder, filled
from windlass.providers.failures import (
    BAD_REQUEST,
    MISSING,
    NAMELESS,
    RATE,
    SERVER,
    BadAnswer,
    Stale,
    WireError,
    exception_failure,
    failure,
    http_failure,
)
from windlass.providers.http_client import HttpClient
from windlass.providers.limiter import Limiter
from windlass.providers.media import LONG, NO_MEDIA, Media, RequestMedia
from windlass.providers.profiles import Profile, profile_for

ERROR_CAP = 64 * 1024
GATHER_S = 0.1  # after a pause, so that those who were refused together line up in order before one is let in
_PROVIDER_SEARCH = b'{"type":"web_search"'
_ABOUT_MEDIA = re.compile(r"image|picture|vision|multi-?modal|mmproj|audio", re.IGNORECASE)
_REFUSALS = {kind.cause for kind in (BAD_REQUEST, MISSING, SERVER)}  # of pictures; servers differ
_ABOUT_SEARCH = re.compile(r"web_?search|\btools?\b", re.IGNORECASE)


class OpenAIChat:
    """A `Model` for one provider."""

    def __init__(
        self,
        config: ProviderConfig,
        cache: ByteCache | None = None,
        limiter: Limiter | None = None,
        media: Media | None = None,
    ) -> None:
        self.config = config
        self.limiter = limiter or Limiter()
        self.media = media
        self._encoder = Encoder(config.id, cache or ByteCache())
        self._transport = HttpClient(endpoint_for(config, "/chat/completions"), config.patience.connect_s)
        self._profiles: dict[str, Profile] = {}
        self._usual_s: dict[str, float] = {}  # model -> time to its first token, of late
        self.host = host_of(config.base_url)

    async def reply(self, request: ModelRequest, emit: Emit) -> Reply:
        attempt = self._attempt(request, emit)
        if not attempt.model:
            raise self._named(failure(NAMELESS, self.config.base_url), attempt)
        granted_at = await self.limiter.acquire(request.turn_id, attempt.queued)
        try:
            return await self._ask(request, attempt)
        except ModelError as error:
            if error.code == RATE.cause and error.retryable:
                self.limiter.refused(granted_at, error.wait_s + GATHER_S)
            raise
        finally:
            self.limiter.release()

    def close(self) -> None:
        self._transport.close()

    async def media_in(self, request: ModelRequest) -> RequestMedia:
        if self.media is None:
            return NO_MEDIA
        return await self.media.shown_in(request.prompt, request.settings.model or self.config.model)

    def body(self, request: ModelRequest, media: RequestMedia = NO_MEDIA) -> bytes:
        """The request exactly as it is sent."""
        return filled(self._with_holes(request, media), request.prompt, media)

    async def _body(self, request: ModelRequest, media: RequestMedia) -> bytes:
        """Large pictures are copied in a thread: the loop has others to serve."""
        if media.size <= LONG:
            return self.body(request, media)
        return await asyncio.to_thread(filled, self._with_holes(request, media), request.prompt, media)

    def _with_holes(self, request: ModelRequest, media: RequestMedia) -> bytes:
        model = request.settings.model or self.config.model
        asked = request.settings.temperature
        temperature = self.config.temperature if asked is None else asked
        return self._encoder.body(request, self.profile(model), model, temperature, media)

    def profile(self, model: str) -> Profile:
        if model not in self._profiles:
            self._profiles[model] = profile_for(self.config.base_url, model, self.config.profile)
        return self._profiles[model]

    def _attempt(self, request: ModelRequest, emit: Emit) -> Attempt:
        model = request.settings.model or self.config.model
        return Attempt(request, emit, self.host, model, self._usual_s.get(model))

    async def _ask(self, request: ModelRequest, attempt: Attempt) -> Reply:
        model = attempt.model
        assembly = Assembly(
            request.tools,
            attempt.emit,
            attempt=request.attempt,
            cited=request.cited,
            provider=self.config.id,
            finish_reasons=self.profile(model).finish,
            backoff_s=self.config.patience.backoff(request.attempt),
            extras=bool(request.settings.parameters),
        )
        media = await self.media_in(request)
        body = await self._body(request, media)
        began = time.monotonic()
        try:
            first_at = await self._exchange(body, assembly, attempt)
            reply = assembly.reply(max(0, round((first_at - began) * 1000)))
        except ModelError as error:
            self._learn(error, body, model, request.settings.parameters, media)
            raise self._named(error, attempt) from error.__cause__
        first_s, usual_s = reply.first_ms / 1000, self._usual_s.get(model)
        self._usual_s[model] = first_s if usual_s is None else usual_s + (first_s - usual_s) / 8
        if self.media is None:
            return reply
        self.media.refusals.accepted(model, media.shown)
        return replace(reply, media=media.signature) if media.letters else reply

    async def _exchange(self, body: bytes, assembly: Assembly, attempt: Attempt) -> float:
        """A kept connection may have been closed at its other end just now: then the request is sent once more."""
        while True:
            try:
                return await self._send(body, assembly, attempt)
            except Stale:  # no endless loop: each takes one connection from those kept, and a new one is never stale
                continue
            except (OSError, ValueError, BadAnswer) as error:
                begun = assembly.started
                raise exception_failure(error, assembly.backoff_s, assembly.text, begun=begun) from error

    async def _send(self, body: bytes, assembly: Assembly, attempt: Attempt) -> float:
        """Send the request and read the response; gives the time of its first token."""
        connection = await self._transport.send("POST", body)
        deadline = Deadline(
            self.config.patience,
            connection.give_up,
            before=attempt.spent_before,
            quiet=attempt.quiet,
            begun=self.limiter.accepted,
        )
        attempt.sent(deadline)
        try:
            status = await connection.answered()
            deadline.answered()
            if not 200 <= status < 300:
                text = await read_up_to(connection, ERROR_CAP)
                raise http_failure(status, connection.headers, text, assembly.backoff_s)
            await read_answer(connection, assembly, deadline)
        except TimeoutError:
            if not assembly.finished:
                raise
        finally:
            deadline.cancel()
            attempt.ended(deadline)
            self._transport.give_back(connection)
        return deadline.first_at

    def _learn(self, error: ModelError, body: bytes, model: str, parameters: str, media: RequestMedia) -> None:
        """A server that refuses a request with pictures, or an optional field by its name, is asked again without."""
        if error.code in _REFUSALS and _ABOUT_MEDIA.search(error.message) and self._leave_out(error, model, media):
            return
        if error.code != BAD_REQUEST.cause or self._drop_refused(error, body, model, parameters):
            return
        self._leave_out(error, model, media)  # whatever it says

    def _drop_refused(self, error: ModelError, body: bytes, model: str, parameters: str) -> bool:
        """A field that an API client asked for is not left out behind its back."""
        refused = _ABOUT_SEARCH.search(error.message) or ("1210" in error.message and not parameters.strip("{}"))
        if _PROVIDER_SEARCH in body and refused:
            self._encoder.drop(ENTRIES, model)
            error.retryable = True
            error.hint = "Asked again without the provider's own search."
            return True
        asked_for = json.loads(parameters or "{}").keys()
        for field in [field for field in OPTIONAL if field not in asked_for]:
            if re.search(rf"\b{field}(ing)?\b", error.message) and f'"{field}":'.encode() in body:
                self._encoder.drop(field, model)
                error.retryable = True
                error.hint = f"Asked again without {field}."
                return True
        return False

    def _leave_out(self, error: ModelError, model: str, media: RequestMedia) -> bool:
        if self.media is None or not self.media.refusals.refused(model, media.shown):
            return False
        error.retryable = True
        error.hint = "Asked again without the pictures and sounds that are new in it."
        return True

    def _named(self, error: ModelError, attempt: Attempt) -> ModelError:
        """With the host and the model in its message, without the key, and with the time that was spent. Once a time
        is used up nothing can be tried again."""
        if isinstance(error, WireError):
            error.name(attempt.host, attempt.model)
        error.first_byte_s, error.silence_s = attempt.spent.first_byte_s, attempt.spent.silence_s
        if attempt.is_out_of_time(self.config.patience):
            error.retryable = False
        key = self.config.api_key
        if key and key in error.message:
            error.message = error.message.replace(key, "[key]")
            error.args = (error.message,)
        return error
