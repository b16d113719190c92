"""Addresses that a person wrote or our own search found, and what counts as text from outside."""

import pytest

from windlass.core.events import CallJudged, Event, ModelReplied, ToolFinished, TurnStarted
from windlass.core.messages import ChatMessage, SourceLink, ToolCall, ToolOutput
from windlass.toolbox.addresses import AMONG_HITS, IN_MESSAGE, NamedAddresses, named_in, outside_text, stands_in

PAGE = "https://docs.example.org/start"


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        (PAGE, True),
        (f"Read {PAGE}.", True),
        (f"Read ({PAGE}), please", True),
        (f"[the page]({PAGE})", True),
        (f"<{PAGE}>", True),
        (f'"{PAGE}"', True),
        (f"看{PAGE}。谢谢", True),
        (f"{PAGE}\nand another", True),
        (f"{PAGE}/more", False),
        (f"{PAGE}?x=1", False),
        (f"{PAGE}s", False),
        (f"{PAGE}s and {PAGE}", True),
        (PAGE.upper(), False),
        ("docs.example.org/start", False),
        ("", False),
    ],
)
def test_c2_an_address_stands_letter_for_letter_in_a_message(text: str, stands: bool) -> None:
    assert stands_in(PAGE, text) == stands
    assert (NamedAddresses((text,)).why_known([PAGE]) == IN_MESSAGE) == stands


def test_c2_a_host_and_its_root_are_one_address() -> None:
    assert stands_in("https://example.org/", "see https://example.org for more")
    assert not stands_in("https://example.org/a/", "see https://example.org/a for more")
    assert not stands_in("https://example.or", "see https://example.org")


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://localhost/",
        "http://printer.local/",
        "http://169.254.169.254/latest",
        "http://2130706433/",
        "file:///etc/passwd",
        "ftp://example.org/",
        "https://user:password@example.org/",
    ],
)
def test_c2_only_public_web_addresses_count(address: str) -> None:
    assert NamedAddresses((f"get {address} now",)).why_known([address]) == ""


def test_c2_each_of_several_addresses_must_be_known() -> None:
    other = "https://other.example.org/"
    known = NamedAddresses((f"read {PAGE}",), frozenset({other}))
    assert known.why_known([PAGE, other]) == AMONG_HITS
    assert known.why_known([PAGE, "https://evil.example.org/"]) == ""
    assert known.why_known([]) == ""


def test_c2_hits_of_our_own_search_are_known_and_links_of_other_tools_are_not() -> None:
    found = ToolOutput("", sources=(SourceLink("t", PAGE),), untrusted=True)
    log: list[Event] = [
        TurnStarted((ChatMessage("user", "search"),)),
        CallJudged("c1", "auto", server="windlass"),
        CallJudged("c2", "auto", server="srv-1"),
        ToolFinished("c2", "ok", found),
    ]
    assert named_in(log).why_known([PAGE]) == ""
    assert named_in([*log, ToolFinished("c1", "ok", found)]).why_known([PAGE]) == AMONG_HITS
    by_provider = ModelReplied("", sources=(SourceLink("t", PAGE),))
    assert named_in([by_provider]).why_known([PAGE]) == AMONG_HITS


def test_c2_what_was_imported_names_no_address() -> None:
    written = (ChatMessage("user", f"read {PAGE}"),)
    assert named_in([TurnStarted(written)]).why_known([PAGE]) == IN_MESSAGE
    assert named_in([TurnStarted(written, origin="added")]).why_known([PAGE]) == ""
    assert named_in([TurnStarted((ChatMessage("assistant", f"read {PAGE}"),))]).why_known([PAGE]) == ""


@pytest.mark.parametrize(
    ("event", "outside"),
    [
        (TurnStarted((ChatMessage("user", "hi"),)), False),
        (TurnStarted((ChatMessage("tool", "text", call_id="c0"),), origin="v1"), True),
        (ToolFinished("c1", "ok", ToolOutput("text")), False),
        (ToolFinished("c1", "ok", ToolOutput("text", untrusted=True)), True),
        (CallJudged("c1", "auto", server="srv-1", step=6), False),
        (CallJudged("c1", "auto", server="srv-1"), True),  # of the first edition
        (CallJudged("c1", "auto", server="windlass"), False),
        (ModelReplied("text"), False),
        (ModelReplied("text", sources=(SourceLink("t", PAGE),)), True),  # the provider searched
    ],
)
def test_c1_text_from_outside_is_found_in_the_log(event: Event, outside: bool) -> None:
    assert bool(outside_text([event], lambda server: "")) == outside


def test_the_tool_that_brought_text_from_outside_is_named_with_its_server() -> None:
    slugs = {"srv-1": "web", "srv-2": "mail"}
    calls = (ToolCall("c1", "list_mail"), ToolCall("c2", "web__fetch"))
    log: list[Event] = [
        ModelReplied("", calls),
        CallJudged("c1", "auto", server="srv-2", step=6),
        CallJudged("c2", "auto", server="srv-1", step=6),
        ToolFinished("c1", "ok", ToolOutput("own text")),
        ToolFinished("c2", "ok", ToolOutput("a page", untrusted=True)),
    ]
    assert outside_text(log, slugs.__getitem__) == "fetch on web"
