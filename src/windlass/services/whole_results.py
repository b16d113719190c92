"""A result that is kept nowhere, for as long as its answer is made."""

from base64 import b64encode

from windlass.api import schemas
from windlass.core.messages import ToolOutput
from windlass.servers.values import EmbeddedPart
from windlass.toolbox.kept_media import base64_in
from windlass.toolbox.kept_parts import parts_of
from windlass.turns.views import files_shown


class WholeResult:
    def __init__(self) -> None:
        self._body = b""

    async def keep(self, body: bytes, mime: str) -> str:
        """In place of the store, which gives it an id."""
        self._body = body
        return ""

    def files(self, output: ToolOutput, *, with_data: bool) -> list[schemas.ResultFile]:
        files = files_shown(output)
        parts = parts_of(self._body).parts if with_data else ()
        for file in files:
            if file.kind != "link" and file.index < len(parts):
                file.data = _data(parts[file.index])
        return files


def _data(part: object) -> str:
    match part:
        case EmbeddedPart(text=str(text)):
            return b64encode(text.encode("utf-8", "replace")).decode()
    return "".join(base64_in(part).split())
