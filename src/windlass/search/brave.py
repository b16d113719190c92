"""Brave's search API: a key in a header, `web.results` in the answer."""

from dataclasses import field

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, tidy_hits

BASE_URL = "https://api.search.brave.com"
_LONGEST_QUERY = 400
_MOST_TERMS = 50
_MOST_RESULTS = 20


class _BraveResult(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    description: str | None = None
    page_age: str | None = None
    age: str | None = None
    extra_snippets: list[str] | None = None


class _Web(msgspec.Struct):
    results: list[_BraveResult] | None = None


class _BraveAnswer(msgspec.Struct):
    web: _Web | None = None


@value_object
class Brave:
    api_key: str = field(default="", repr=False)
    base_url: str = BASE_URL
    name: str = "brave"

    def ready(self) -> str | None:
        return None if self.api_key else "brave needs a key: web_search.brave_key"

    async def search(self, query: str, count: int) -> list[Hit]:
        short = " ".join(query.split()[:_MOST_TERMS])[:_LONGEST_QUERY]
        answer = await ask(
            "Brave search",
            f"{self.base_url.rstrip('/')}/res/v1/web/search",
            _BraveAnswer,
            params={"q": short, "count": str(min(count, _MOST_RESULTS))},
            headers={"X-Subscription-Token": self.api_key},
        )
        results = (answer.web and answer.web.results) or []
        return tidy_hits(map(_hit, results), count)


def _hit(result: _BraveResult) -> Hit:
    snippets = [result.description or "", *(result.extra_snippets or [])]
    return Hit(result.title or "", result.url or "", "<br>".join(snippets), result.page_age or result.age or "")
