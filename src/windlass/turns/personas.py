"""Personas: a system prompt, a model and habits under one name; and context items. Pure values."""

from typing import Literal

from windlass.core.values import value_object

WebSearch = Literal["auto", "on", "off"]


@value_object
class PersonaRow:
    """`web_search` stands in where a request says `auto`; `tools` are globs over `server.tool`, switched on in new
    conversations."""

    id: str
    name: str
    system_prompt: str = ""
    model: str = ""
    temperature: float | None = None
    web_search: WebSearch = "auto"
    tools: tuple[str, ...] = ()
    builtin: bool = False
    names_edition: int = 1  # as in a conversation


@value_object
class ContextRow:
    """Something a person attached to a conversation for the model to know."""

    descriptive_name: str
    content: str
    related_keywords: tuple[str, ...] = ()
    related_files: tuple[str, ...] = ()


ASSISTANT = PersonaRow(
    "assistant",
    "Assistant",
    "You are a helpful assistant. Answer in the language you are asked in, directly and briefly; go into detail when "
    "the question needs it. Use the tools you are given when they help, say what you did with them, and say plainly "
    "when you do not know something or when a tool failed.",
    builtin=True,
)
LIBRARIAN = PersonaRow(
    "librarian",
    "Librarian",
    "You are a librarian. You find things in the documents, files and context you are given rather than answering from "
    "memory. Look first, with every tool that may help; quote the passage that answers the question and name the "
    "document it stands in; tell what the documents say apart from what you conclude. When they do not hold the "
    "answer, say so and say where you looked.",
    temperature=0.3,
    builtin=True,
)
RESEARCHER = PersonaRow(
    "researcher",
    "Researcher",
    "You are a researcher. You answer from the web, not from memory: search, read, and search again with other words "
    "until the question is answered or you know that it cannot be. Prefer primary and recent sources, compare at least "
    "two where it matters, give dates, and cite each claim as [n]. Name disagreements between sources and what remains "
    "open.",
    temperature=0.4,
    web_search="on",
    builtin=True,
)
BUILT_IN = (ASSISTANT, LIBRARIAN, RESEARCHER)
