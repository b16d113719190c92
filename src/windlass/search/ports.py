"""What a search backend is. Each lives in a file of its own and passes the same suite."""

from typing import Protocol

from windlass.core.values import value_object


@value_object
class Hit:
    title: str
    url: str
    text: str = ""
    published: str = ""


class Backend(Protocol):
    @property
    def name(self) -> str: ...

    def ready(self) -> str | None:
        """Why it cannot be asked, in words for the operator; None when it can."""

    async def search(self, query: str, count: int) -> list[Hit]:
        """At most `count` hits, best first; `ToolError` when the service gives no answer."""
