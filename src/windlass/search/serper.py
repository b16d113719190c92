"""Serper, which asks Google: a key in a header, `organic` in the answer."""

from dataclasses import field

import msgspec

from windlass.core.values import value_object
from windlass.search.backend import Hit, ask, tidy_hits

BASE_URL = "https://google.serper.dev"
_MOST_RESULTS = 100


class _SerperResult(msgspec.Struct):
    link: str | None = None
    title: str | None = None
    snippet: str | None = None
    date: str | None = None


class _AnswerBox(msgspec.Struct):
    """What Google shows above the results, such as the weather; not always with a link."""

    link: str | None = None
    title: str | None = None
    answer: str | None = None
    snippet: str | None = None


class _SerperAnswer(msgspec.Struct):
    answerBox: _AnswerBox | None = None
    organic: list[_SerperResult] = []


@value_object
class Serper:
    api_key: str = field(default="", repr=False)
    base_url: str = BASE_URL
    name: str = "serper"

    def ready(self) -> str | None:
        return None if self.api_key else "serper needs a key: web_search.serper_key"

    async def search(self, query: str, count: int) -> list[Hit]:
        answer = await ask(
            "Serper search",
            f"{self.base_url.rstrip('/')}/search",
            _SerperAnswer,
            json={"q": query, "num": min(count, _MOST_RESULTS)},
            headers={"X-API-KEY": self.api_key},
        )
        shown = [_box(answer.answerBox)] if answer.answerBox else []
        return tidy_hits([*shown, *map(_hit, answer.organic)], count)


def _box(box: _AnswerBox) -> Hit:
    return Hit(box.title or "", box.link or "", box.answer or box.snippet or "")


def _hit(result: _SerperResult) -> Hit:
    return Hit(result.title or "", result.link or "", result.snippet or "", result.date or "")
