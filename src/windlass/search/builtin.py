"""The provider's own search. Nothing runs here: choosing it means that the provider's tool is offered with the
request, and its results come back with the reply."""

from windlass.core.engine import SEARCH_TOOL
from windlass.core.messages import ToolSpec
from windlass.core.values import value_object
from windlass.search.backend import Hit, failed
from windlass.search.zai import is_zai

BUILTIN = "builtin"
# Server "provider": its schema is the whole entry of the request's `tools`, not the parameters of a function.
PROVIDER_SEARCH = ToolSpec(
    name=SEARCH_TOOL,
    server="provider",
    tool=SEARCH_TOOL,
    schema=(
        '{"type":"web_search","web_search":{"enable":"True","search_engine":"search_pro","search_result":"True",'
        '"count":"5","search_recency_filter":"noLimit","content_size":"high"}}'
    ),
    hash=SEARCH_TOOL,
    safe=True,
    read_only=True,
    open_world=True,
    kind="reads",
)


def searches_itself(base_url: str) -> bool:
    """Whether the provider at this address has such a tool; Z.AI's coding endpoint is reported not to."""
    return is_zai(base_url) and "/coding/" not in base_url


@value_object
class Builtin:
    offers: bool = False
    name: str = BUILTIN

    def ready(self) -> str | None:
        return None if self.offers else "this provider has no search tool of its own"

    async def search(self, query: str, count: int) -> list[Hit]:
        raise failed("The provider's own search", "runs with the model's reply and cannot be run on its own")
