"""Keyless search through the PyPI package `ddgs`, which reads the result pages of public engines. It works until an
engine minds; hence last in the order."""

import asyncio
import logging
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from windlass.core.values import value_object
from windlass.search.backend import Hit, failed, tidy_hits

ENGINES = "duckduckgo,brave,mojeek,startpage,yahoo"
Results = list[dict[str, str]]


@value_object
class DDGS:
    """`engines` leaves out the encyclopedias, which answer first and know nothing of today; `allowed` is the operator's
    choice whether queries may go to them."""

    engines: str = ENGINES
    timeout_s: int = 15
    allowed: bool = True
    name: str = "ddgs"

    def ready(self) -> str | None:
        if not self.allowed:
            return "keyless search is off: web_search.keyless = false"
        return None if find_spec("ddgs") else "ddgs is not installed: pip install ddgs"

    async def search(self, query: str, count: int) -> list[Hit]:
        found = await asyncio.to_thread(self._search, query, count)
        return tidy_hits(
            (Hit(str(hit.get("title", "")), str(hit.get("href", "")), str(hit.get("body", ""))) for hit in found), count
        )

    def _search(self, query: str, count: int) -> Results:
        # Imported here, in the thread: it brings a whole HTTP stack of its own.
        package, errors = import_module("ddgs"), import_module("ddgs.exceptions")
        for talkative in ("ddgs", "primp"):  # they log addresses at INFO, and with them what people search for
            logging.getLogger(talkative).setLevel(logging.WARNING)
        text: Callable[..., Results] = package.DDGS(timeout=self.timeout_s).text
        try:
            return text(query, max_results=count, backend=self.engines)
        except errors.DDGSException as error:
            # An engine that refuses us looks to the package like one that found nothing, so neither is "no hits".
            # What follows the colon is the engine's address with the query in it, which nobody needs to read again.
            why = str(error).partition(":")[0].rstrip(".")
            raise failed("Keyless search", f"gave no answer, the engines may be refusing us: {why}") from error
