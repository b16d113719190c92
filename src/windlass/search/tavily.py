"""Tavily's search API: a bearer key, `results` in the answer."""

from dataclasses import field

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, tidy_hits

BASE_URL = "https://api.tavily.com"
_LONGEST_QUERY = 400
_MOST_RESULTS = 20


class _TavilyResult(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    content: str | None = None
    published_date: str | None = None


class _TavilyAnswer(msgspec.Struct):
    results: list[_TavilyResult] = []


@value_object
class Tavily:
    api_key: str = field(default="", repr=False)
    base_url: str = BASE_URL
    name: str = "tavily"

    def ready(self) -> str | None:
        return None if self.api_key else "tavily needs a key: web_search.tavily_key"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "Tavily search",
            f"{self.base_url.rstrip('/')}/search",
            _TavilyAnswer,
            json={"query": query[:_LONGEST_QUERY], "max_results": min(count, _MOST_RESULTS)},
            headers={"Authorization": f"Bearer {self.api_key}"},
        )
        return tidy_hits(map(_hit, answer.results), count)


def _hit(result: _TavilyResult) -> Hit:
    return Hit(result.title or "", result.url or "", result.content or "", result.published_date or "")
