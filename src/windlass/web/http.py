"""The small parts of HTTP: finished responses, a request's headers and its query."""

from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope, Send

from windlass.core.errors import BadInput, WindlassError
from windlass.web.errors import failed, status_of, v1_failure

Headers = list[tuple[bytes, bytes]]
encode = msgspec.json.Encoder().encode


async def send_json(send: Send, status: int, body: object, headers: Headers | None = None) -> None:
    await send_bytes(send, status, b"application/json", encode(body), headers)


async def send_error(send: Send, error: WindlassError, path: str = "") -> None:
    """In OpenAI's form where the request's path is one of theirs."""
    if path == "/v1" or path.startswith("/v1/"):
        return await send_v1_error(send, error)
    await send_json(send, status_of(error), failed(error), headers_of(error))


async def send_v1_error(send: Send, error: WindlassError) -> None:
    await send_json(send, *v1_failure(error), headers_of(error))


def headers_of(error: WindlassError) -> Headers:
    headers: Headers = []
    if isinstance(error.detail, dict):
        if wait := error.detail.get("retry_after"):
            headers.append((b"retry-after", str(wait).encode()))
        if allow := error.detail.get("allow"):
            headers.append((b"allow", ", ".join(allow).encode()))
    status = status_of(error)
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    if status == 503 and not headers:
        headers.append((b"retry-after", b"5"))
    return headers


async def send_bytes(send: Send, status: int, kind: bytes, body: bytes, headers: Headers | None = None) -> None:
    head = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *(headers or ())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


MOST_FIELDS = 100


def header_of(scope: Scope, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted), "")


def query_of(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise BadInput(f"The query has more than {MOST_FIELDS} fields.") from None
