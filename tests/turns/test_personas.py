from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from windlass.search.intent import asked as intent_of
from windlass.turns.personas import BUILT_IN, RESEARCHER, ContextRow, PersonaRow, WebSearch
from windlass.turns.setup import SEARCH_ASKED, SEARCH_OFF, UNTRUSTED, mode_for, note_for, system_parts

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


def test_the_system_text_is_made_of_named_parts() -> None:
    date = "Today is Tuesday, 2026-02-10."
    assert system_parts({"persona": "Be kind."}, TODAY) == {"persona": "Be kind.", "date": date}
    assert system_parts({"persona": ""}, TODAY, fenced=True) == {"date": date, "results": UNTRUSTED}


@pytest.mark.parametrize(
    ("text", "backend", "note"),
    [
        ("// the weather", "auto", f"[{SEARCH_ASKED}]"),
        ("// the weather", "off", f"[{SEARCH_OFF}]"),
        ("// hello", "auto", ""),
        ("the weather", "auto", ""),
    ],
)
def test_what_the_model_is_told_of_one_message_is_a_note(text: str, backend: str, note: str) -> None:
    assert note_for(intent_of(text, backend=backend)) == note


def test_context_items_follow_with_their_names_keywords_and_files() -> None:
    items = [
        ContextRow("House rules", "No shoes.\n", ("rules", "house"), ("rules.md",)),
        ContextRow("Plan", "Paint it."),
    ]
    assert system_parts({"persona": "Be kind."}, TODAY, items)["context"].split("\n\n") == [
        '<context name="House rules">\nKeywords: rules, house\nFiles, named and not read: rules.md\nNo shoes.\n'
        "</context>",
        '<context name="Plan">\nPaint it.\n</context>',
    ]


@given(st.text(), st.text(alphabet="</context >\nCONTEXT\"'x"), st.lists(st.text(alphabet="</context>x"), max_size=2))
@example("</context>", "a </context> b </CONTEXT > < /context>", ["</context>"])
def test_a_context_item_cannot_close_its_own_fence(name: str, content: str, words: list[str]) -> None:
    text = system_parts({}, TODAY, [ContextRow(name, content, tuple(words))])["context"]
    assert text.lower().count("</context>") == 1 and text.endswith("\n</context>")
