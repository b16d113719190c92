"""A SearXNG instance, usually the operator's own: it must have JSON among its `search.formats`."""

import msgspec

from windlass.core.values import frozen
from windlass.search.ports import Hit
from windlass.search.wire import ask, tidy_hits


class _Result(msgspec.Struct):
    url: str | None = None
    title: str | None = None
    content: str | None = None
    publishedDate: str | None = None


class _Answer(msgspec.Struct):
    results: list[_Result] = []


@frozen
class SearXNG:
    base_url: str = ""
    name: str = "searxng"

    def ready(self) -> str | None:
        return None if self.base_url else "searxng needs the address of an instance: web_search.searxng_url"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "SearXNG",
            f"{self.base_url.rstrip('/')}/search",
            _Answer,
            params={"q": query, "format": "json"},
            why=_WHY,
        )
        return tidy_hits(map(_hit, answer.results), count)


def _hit(result: _Result) -> Hit:
    return Hit(result.title or "", result.url or "", result.content or "", result.publishedDate or "")


_WHY = {
    403: "does not give JSON (HTTP 403); add json to search.formats in its settings.yml",
    429: "takes us for a bot (HTTP 429); allow this machine in its limiter.toml",
}
