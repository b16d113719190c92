"""A SearXNG instance, usually the operator's own: it must have JSON among its `search.formats`."""

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, tidy_hits


class _SearxngResult(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None


class _SearxngAnswer(msgspec.Struct):
    results: list[_SearxngResult] = []


@value_object
class SearXNG:
    base_url: str = ""
    name: str = "searxng"

    def ready(self) -> str | None:
        return None if self.base_url else "searxng needs the address of an instance: web_search.searxng_url"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "SearXNG",
            f"{self.base_url.rstrip('/')}/search",
            _SearxngAnswer,
            params={"q": query, "format": "json"},
            why=_WHY,
        )
        return tidy_hits(map(_hit, answer.results), count)


def _hit(result: _SearxngResult) -> Hit:
    return Hit(result.title or "", result.url or "", result.content or "", result.publishedDate or "")


_WHY = {
    403: "does not give JSON (HTTP 403); add json to search.formats in its settings.yml",
    429: "blocks this machine as a bot (HTTP 429); allow its address in limiter.toml",
}
