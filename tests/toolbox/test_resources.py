"""The lists of resources that a model is shown."""

import threading
from typing import ClassVar

from windlass.servers.catalogue import Catalogue
from windlass.servers.offered import ListedResource, ListedTemplate
from windlass.servers.values import TextPart
from windlass.toolbox.resources import LONGEST_LINE, MOST_SHOWN, listing


class Many(Catalogue):
    def __init__(self, found: tuple[ListedResource, ...]) -> None:
        self.found = found

    async def resources(self) -> tuple[ListedResource, ...]:
        return self.found

    async def templates(self) -> tuple[ListedTemplate, ...]:
        return (ListedTemplate("doc://{x}"),)


async def shown(query: str, *found: ListedResource) -> str:
    (part,) = (await listing(Many(found), query)).parts
    assert isinstance(part, TextPart)
    return part.text


async def test_a_long_list_of_long_lines_is_cut_and_says_so() -> None:
    every = [ListedResource(f"doc://{number}/" + "x" * 7_900, "n", "t", "d e " * 500) for number in range(300)]
    lines = (await shown("", *every)).split("\n")
    assert lines[0].startswith("doc://{x} (template") and lines[1].startswith("doc://0/")
    assert len(lines) == MOST_SHOWN + 1 and lines[-1].startswith("[201 more;")
    assert {len(line) for line in lines[1:-1]} == {LONGEST_LINE + len(" [cut]")}


class Noted(str):
    """Notes who reads it."""

    readers: ClassVar[set[int]] = set()

    def __format__(self, spec: str) -> str:
        self.readers.add(threading.get_ident())
        return str(self)


async def test_a_search_in_many_lets_others_run_meanwhile() -> None:
    every = [ListedResource(Noted(f"doc://{number}")) for number in range(2_000)]
    assert await shown("needle zzz", *every) == "Nothing matches."
    assert Noted.readers and threading.get_ident() not in Noted.readers
