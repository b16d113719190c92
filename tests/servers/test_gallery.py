"""The gallery is data: each entry is whole, pinned and valid as a draft, and found by the words people use."""

import re

import pytest

from windlass.servers import check, floating_package, with_values
from windlass.servers.gallery import KnownServer, known_server, known_servers, search_gallery

VALUES = {"address": "https://a.example", "folder": "/docs", "file": "/docs/x", "repository": "/code"}


@pytest.mark.parametrize("known", known_servers(), ids=lambda known: known.id)
def test_an_entry_is_a_pinned_and_valid_draft_once_it_is_filled_in(known: KnownServer) -> None:
    entry = known_server(known.id)
    draft = entry.config(entry.id)
    assert {one.name for one in draft.missing} == {ask.name for ask in entry.asks}, "asks for just what it uses"
    assert bool(entry.url) != bool(entry.version), "a package has a version, and an address has none"
    assert floating_package(draft) == "" and not (draft.confirmed or draft.trusted or draft.tools)
    assert {one.name for one in draft.missing if one.secret} >= {ask.name for ask in entry.asks if ask.secret}
    filled = with_values(draft, {name: VALUES.get(name, "a-value") for name in (one.name for one in draft.missing)})
    check(filled)
    assert (
        not filled.missing and not re.search(r"\$\{", "".join(filled.argv) + filled.url) and entry.gives.endswith(".")
    )


def test_ids_are_told_apart_and_there_are_some_thirty() -> None:
    ids = [known.id for known in known_servers()]
    assert len(ids) == len(set(ids)) and 30 <= len(ids) <= 40


@pytest.mark.parametrize(
    ("query", "first"),
    [
        *(("files", "files"), ("postgres", "database"), ("jira", "atlassian"), ("smart home", "home-assistant")),
        *(
            ("SCREENSHOT", "playwright"),
            ("wéb séarch keyless", "duckduckgo"),
            ("time zone", "time"),
            ("k8s", "kubernetes"),
        ),
    ],
)
def test_the_words_of_people_find_it(query: str, first: str) -> None:
    assert search_gallery(query)[0].id == first


def test_nothing_and_nonsense_are_searched_for_too() -> None:
    assert len(search_gallery("  ")) == len(known_servers())
    assert search_gallery("files zzz") == [] and search_gallery("'\"%\0") == search_gallery("")
