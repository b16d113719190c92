"""Z.AI's search endpoint, beside its chat endpoint and with the same key."""

from dataclasses import field
from urllib.parse import urlsplit

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, failed, tidy_hits

_MOST_RESULTS = 50
_PATH = "/paas/v4"  # below any host: its own, a proxy before it, or a stand-in for tests


def is_zai(base_url: str) -> bool:
    return _PATH in urlsplit(base_url).path


class _ZaiResult(msgspec.Struct):
    title: str | None = None
    link: str | None = None
    content: str | None = None
    publish_date: str | None = None


class _ZaiError(msgspec.Struct):
    code: str | int = ""
    message: str = ""


class _ZaiAnswer(msgspec.Struct):
    search_result: list[_ZaiResult] | _ZaiResult | None = None  # an array in the documentation, one object in the SDK
    error: _ZaiError | None = None


@value_object
class ZAI:
    """`base_url` is the provider's chat base; both its plans have the endpoint at the same path below it."""

    api_key: str = field(default="", repr=False)
    base_url: str = ""
    engine: str = "search-prime"
    name: str = "zai"

    def ready(self) -> str | None:
        return None if self.api_key and self.base_url else "zai needs a Z.AI provider with a key"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "Z.AI search",
            f"{self.base_url.rstrip('/')}/web_search",
            _ZaiAnswer,
            json={
                "search_engine": self.engine,
                "search_query": query,
                "count": min(count, _MOST_RESULTS),
                "search_recency_filter": "noLimit",
                "content_size": "high",
            },
            headers={"Authorization": f"Bearer {self.api_key}"},
            why=_WHY,
        )
        if answer.error:
            raise failed("Z.AI search", f"answered {answer.error.code}: {answer.error.message}")
        found = answer.search_result or []
        return tidy_hits(map(_hit, [found] if isinstance(found, _ZaiResult) else found), count)


def _hit(result: _ZaiResult) -> Hit:
    return Hit(result.title or "", result.link or "", result.content or "", result.publish_date or "")


_WHY = {401: "rejected the provider's key (HTTP 401); check the key", 404: "is not offered at this address (HTTP 404)"}
