"""The built page and the API's own documentation, from files of ours. What is not listed at start cannot be asked for,
so no path leads elsewhere."""

import hashlib
import mimetypes
from collections.abc import Iterable, Mapping
from pathlib import Path

from starlette.types import Receive, Scope, Send

from windlass.core.errors import NotFound, WindlassError
from windlass.core.values import value_object
from windlass.web.errors import NotAllowed
from windlass.web.guard import new_nonce
from windlass.web.http import header_of, send_bytes, send_error
from windlass.web.origin import browser_origin

HERE = Path(__file__).parent
NONCE = b"__CSP_NONCE__"
FOREVER = b"public, max-age=31536000, immutable"
NO_PAGE = b"""<!doctype html><meta charset="utf-8"><title>Windlass</title>
<p>The page is not built. Run <code>make setup</code> with Node installed. The API works: <a href="/docs">/docs</a>."""


@value_object
class File:
    """`packed` holds the forms that the build put beside it, by their names in `Content-Encoding`."""

    body: bytes
    kind: bytes
    tag: str
    packed: Mapping[str, bytes]


class Static:
    """`/` and every address below `/ui/` that is no file give the page, which reads its own address: the one-time key
    of a login link too, which it sends itself, so that a link elsewhere signs nobody in."""

    def __init__(self, built: Path = HERE / "static", docs: Path = HERE / "docs") -> None:
        self._built = built
        self._docs = docs
        self._files: dict[str, File] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["method"] not in {"GET", "HEAD"}:
                raise NotAllowed("Only GET is possible here.", detail={"allow": ["GET", "HEAD"]})
            await self._answer(scope, send)
        except WindlassError as error:
            await send_error(send, error)

    async def _answer(self, scope: Scope, send: Send) -> None:
        path = scope["path"]
        if path == "/docs":
            await self._page(scope, send, self._read(self._docs / "index.html"))
        elif path.startswith("/docs/"):
            await self._file(scope, send, self._listed(self._docs, path.removeprefix("/docs/")), b"no-cache")
        elif path.startswith("/ui/assets/"):
            await self._file(scope, send, self._listed(self._built, path.removeprefix("/ui/")), FOREVER)
        elif path.startswith("/ui/") and (file := self._find(self._built, path.removeprefix("/ui/"))):
            await self._file(scope, send, file, b"no-cache")
        else:
            await self._page(scope, send, self._read(self._built / "index.html"))

    async def _page(self, scope: Scope, send: Send, file: File | None) -> None:
        base = browser_origin(scope).base.encode()
        body = (file.body if file else NO_PAGE).replace(b'="/', b'="' + base + b"/")  # its own addresses, all of them
        body = body.replace(NONCE, new_nonce(scope).encode())
        await send_bytes(send, 200, b"text/html; charset=utf-8", body, [(b"cache-control", b"no-store")])

    async def _file(self, scope: Scope, send: Send, file: File, caching: bytes) -> None:
        form = best_encoding(header_of(scope, b"accept-encoding"), file.packed)
        tag = f'"{file.tag}"' if form == PLAIN else f'"{file.tag}-{form}"'
        headers = [(b"cache-control", caching), (b"etag", tag.encode())]
        if file.packed:
            headers.append((b"vary", b"Accept-Encoding"))
        if tag in header_of(scope, b"if-none-match"):
            await send_bytes(send, 304, file.kind, b"", headers)
            return
        if form != PLAIN:
            headers.append((b"content-encoding", form.encode()))
        await send_bytes(send, 200, file.kind, file.packed.get(form, file.body), headers)

    def _listed(self, folder: Path, name: str) -> File:
        if file := self._find(folder, name):
            return file
        raise NotFound(f"There is no file {name}.", hint="The page was built anew: reload it.")

    def _find(self, folder: Path, name: str) -> File | None:
        if name.endswith(tuple(PACKED.values())):  # forms of a file, and no files of their own
            return None
        found = next((path for path in folder.rglob("*") if path.relative_to(folder).as_posix() == name), None)
        return self._read(found) if found and found.is_file() else None

    def _read(self, path: Path) -> File | None:
        key = str(path)
        if key not in self._files and path.is_file():
            body = path.read_bytes()
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            text = kind.startswith("text/") or kind.endswith("javascript")
            tag = hashlib.sha256(body).hexdigest()[:32]
            packed = {
                form: _beside(path, end).read_bytes() for form, end in PACKED.items() if _beside(path, end).is_file()
            }
            self._files[key] = File(body, (f"{kind}; charset=utf-8" if text else kind).encode(), tag, packed)
        return self._files.get(key)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


PLAIN = "identity"
PACKED = {"br": ".br", "gzip": ".gz"}  # the ending of each form's file, the smallest form first
_UNNAMED = 0.0001  # plain is acceptable without being named, but any named form is preferred to it


def best_encoding(accepted: str, available: Iterable[str]) -> str:
    """The form with the highest weight; of equals the first available one. Plain when nothing else fits."""
    weights = _weights(accepted)
    others = weights.get("*", 0.0)
    forms = [
        *((form, weights.get(form, others)) for form in available),
        (PLAIN, weights.get(PLAIN, others or _UNNAMED)),
    ]
    form, weight = max(forms, key=lambda one: one[1])
    return form if weight > 0 else PLAIN


def _weights(accepted: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, _, parameters = part.partition(";")
        key, _, value = parameters.partition("=")
        found[name.strip().removeprefix("x-")] = _number(value) if key.strip() == "q" else 1.0
    return found


def _number(text: str) -> float:
    """What is no weight counts as a refusal: plain is always right."""
    try:
        return min(max(float(text), 0.0), 1.0)
    except ValueError:
        return 0.0
