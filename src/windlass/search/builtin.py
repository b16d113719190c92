"""The provider's own search. Nothing runs here: choosing it means that the provider's tool is offered with the
request, and its results come back with the reply."""

from dataclasses import dataclass

from windlass.search.ports import Hit
from windlass.search.wire import failed


@dataclass(frozen=True, slots=True)
class Builtin:
    """`offers` says whether this provider has such a tool; Z.AI's coding endpoint is reported not to."""

    offers: bool = False
    name: str = "builtin"

    def ready(self) -> str | None:
        return None if self.offers else "this provider has no search tool of its own"

    async def search(self, query: str, count: int) -> list[Hit]:
        raise failed("The provider's own search", "runs with the model's reply and cannot be asked apart from it")
