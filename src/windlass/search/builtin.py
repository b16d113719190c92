"""The provider's own search. Nothing runs here: choosing it means that the provider's tool is offered with the
request, and its results come back with the reply. Where none come, the next backend searches."""

from dataclasses import replace

from windlass.core.values import value_object
from windlass.search.backend import Hit, failed
from windlass.search.tool import WEB_SEARCH
from windlass.search.zai import is_zai

BUILTIN = "builtin"
# A call of this name is run here, as a call of the function tool: models make such calls all the same.
PROVIDER_SEARCH = replace(
    WEB_SEARCH,
    entry=(
        '{"type":"web_search","web_search":{"enable":"True","search_engine":"search_pro","search_result":"True",'
        '"count":"5","search_recency_filter":"noLimit","content_size":"high"}}'
    ),
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
