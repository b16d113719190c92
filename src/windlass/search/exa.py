"""Exa's search API: a key in a header, `results` with the passages that fit the query."""

from dataclasses import field

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, tidy_hits

BASE_URL = "https://api.exa.ai"
_MOST_RESULTS = 100
_TEXT_CHARS = 1000


class _ExaResult(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    text: str | None = None
    highlights: list[str] | None = None
    publishedDate: str | None = None


class _ExaAnswer(msgspec.Struct):
    results: list[_ExaResult] = []


@value_object
class Exa:
    api_key: str = field(default="", repr=False)
    base_url: str = BASE_URL
    name: str = "exa"

    def ready(self) -> str | None:
        return None if self.api_key else "exa needs a key: web_search.exa_key"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "Exa search",
            f"{self.base_url.rstrip('/')}/search",
            _ExaAnswer,
            json={
                "query": query,
                "numResults": min(count, _MOST_RESULTS),
                "contents": {"highlights": True, "text": {"maxCharacters": _TEXT_CHARS}},
            },
            headers={"x-api-key": self.api_key},
        )
        return tidy_hits(map(_hit, answer.results), count)


def _hit(result: _ExaResult) -> Hit:
    text = " … ".join(result.highlights or ()) or result.text or ""
    return Hit(result.title or "", result.url or "", text, result.publishedDate or "")
