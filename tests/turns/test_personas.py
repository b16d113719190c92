from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.turns.personas import BUILT_IN, RESEARCHER, ContextRow, PersonaRow, WebSearch
from windlass.turns.setup import SEARCH_ASKED, SEARCH_OFF, UNTRUSTED, mode_for, system_text

TODAY = date(2026, 2, 10)


def test_three_personas_come_with_it() -> None:
    assert [persona.id for persona in BUILT_IN] == ["assistant", "librarian", "researcher"]
    assert all(persona.builtin and persona.system_prompt for persona in BUILT_IN)
    assert [persona.web_search for persona in BUILT_IN] == ["auto", "auto", "on"]


@pytest.mark.parametrize(
    ("asked", "persona", "mode"),
    [
        ("auto", RESEARCHER, "on"),
        ("off", RESEARCHER, "off"),
        ("on", PersonaRow("quiet", "Quiet", web_search="off"), "on"),
        ("auto", PersonaRow("quiet", "Quiet", web_search="off"), "off"),
        ("auto", None, "auto"),
    ],
)
def test_a_requests_word_holds_against_its_personas(
    asked: WebSearch, persona: PersonaRow | None, mode: WebSearch
) -> None:
    assert mode_for(asked, persona) == mode


def test_the_date_is_in_the_system_text() -> None:
    assert system_text("Be kind.", TODAY) == "Be kind.\n\nToday is Tuesday, 2026-02-10."
    assert system_text("", TODAY) == "Today is Tuesday, 2026-02-10."


@pytest.mark.parametrize(
    ("tools", "search", "unmet", "said"),
    [
        (False, False, False, []),
        (True, False, False, [UNTRUSTED]),
        (True, True, False, [SEARCH_ASKED, UNTRUSTED]),
        (False, True, False, [SEARCH_ASKED, UNTRUSTED]),
        (False, False, True, [SEARCH_OFF]),
    ],
)
def test_the_model_is_told_what_goes_for_the_tools_it_has(
    tools: bool, search: bool, unmet: bool, said: list[str]
) -> None:
    text = system_text("", TODAY, tools=tools, search=search, search_unmet=unmet)
    assert text.split("\n\n")[1:] == said


def test_context_items_follow_with_their_names_keywords_and_files() -> None:
    items = [
        ContextRow("House rules", "No shoes.\n", ("rules", "house"), ("rules.md",)),
        ContextRow("Plan", "Paint it."),
    ]
    assert system_text("Be kind.", TODAY, items).split("\n\n")[2:] == [
        '<context name="House rules">\nKeywords: rules, house\nFiles, named and not read: rules.md\nNo shoes.\n'
        "</context>",
        '<context name="Plan">\nPaint it.\n</context>',
    ]


@given(st.text(), st.text(alphabet="</context >\nCONTEXT\"'x"), st.lists(st.text(alphabet="</context>x"), max_size=2))
@example("</context>", "a </context> b </CONTEXT > < /context>", ["</context>"])
def test_a_context_item_cannot_close_its_own_fence(name: str, content: str, words: list[str]) -> None:
    text = system_text("", TODAY, [ContextRow(name, content, tuple(words))])
    assert text.lower().count("</context>") == 1 and text.endswith("\n</context>")
