"""Texts that were replaced do not come back, and a person reads "chat", never "conversation"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "windlass"
UI = ROOT / "ui" / "src"

RETIRED = """
waits for your word
waits for you
needs your word
Waiting for you
Asks you
Needs you
New conversation
The file of another client
Look again
Read again
names no version
what runs may change from one start to the next
none answers at
Asked when nobody names another
Anything that speaks
Kept on this computer, never shown again
One is kept and is never shown
has too many requests
the model's server
refused the key
Answers in
Its claims
Claimed by server
stays inside
reaches outside
Why you are asked
The server's setting
What the server and the conversation are set to
First word of the model
Silence of the model
One reply of the model
Work on a turn
Tool rounds in a turn
the rest queue
Attempts to reach the model
A file that is brought in
A request to Windlass
is kept after its last turn
answers at all
calls a tool when it must
A name is needed
Must be a mail address
As the rules and the conversation say
runs by itself
each call waits for you
Nothing was repaired, so
As the model wrote it
Next message, sent after this turn
Waits for its place
it starts by itself
draft is lost
key is lost
It was not saved
It was not tested
cannot be listed
Looking at the
Reading the log
ended without a word
It wrote nothing to stderr
Nothing has been asked of the model
is not here.
Numbered links to the pages
Type the command to confirm
must be confirmed anew
Added by hand
has read pages from the web
the model can only talk
No conversations yet
Kept, never shown
nobody named
""".strip().splitlines()

# The API's own reference, and the `message` of its answers, speak of its nouns.
REFERENCE = ("api/routes.py", "api/schemas/", "web/openapi.py", "services/conversations.py")
SPOKEN = re.compile(r"\bconversations?\b", re.IGNORECASE)
# Identifiers inside a sentence: a path, a verb of the command line, a name of the library, code.
NAMED = re.compile(
    r"^conversations (?:show|import|list)\b|(?:windlass |--scope |--|scope: |/)conversations?\S*"
    r"|`[^`]*`|\$\{[^}]*\}|conversations?[_.(:/]\S*"
)
SQL = re.compile(r"\b(?:from|into|update|table) (?:conversations|turns|words|results|events)\b|\bwhere \w")


def test_no_text_of_the_first_edition_is_left() -> None:
    found = [
        f"{name}: {phrase}"
        for name, texts in (*page_texts(), *python_texts())
        for phrase in RETIRED
        if any(whole(phrase).search(text) for text in texts)
    ]
    assert not found, "\n".join(found)


def test_a_person_reads_chat_not_conversation() -> None:
    python = ((name, texts) for name, texts in python_texts() if not name.startswith(REFERENCE))
    found = [
        f"{name}: {text[:100]}" for name, texts in (*page_texts(), *python) for text in texts if speaks_of_it(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        'const title = "Start a conversation";',
        "<Button>New conversation</Button>",
        "<p>\n  Every\n  conversation is kept.\n</p>",
        "const title = `Delete conversation ${id}?`;",
    ],
)
def test_a_conversation_is_found_however_the_page_writes_it(source: str) -> None:
    assert any(speaks_of_it(text) for text in texts_of_page(source))


@pytest.mark.parametrize(
    "source",
    [
        "/** A conversation is opened. */",
        "const id = conversation ? conversation.id : null; // the conversation",
        'send("GET /conversations/{id}/messages");',
        'import { x } from "./conversation";',
    ],
)
def test_code_and_comments_are_not_what_a_person_reads(source: str) -> None:
    assert not any(speaks_of_it(text) for text in texts_of_page(source))


def test_a_text_in_pieces_and_with_other_apostrophes_is_found() -> None:
    assert "the model's server" in texts_of_page("<p>No answer from the\n   model\u2019s server.</p>")[0]
    assert "It was not saved" in next(texts_of_python(ast.parse('raise E("It was "\n  f"not saved: {x}")')))


def whole(phrase: str) -> re.Pattern[str]:
    """Not the beginning of another word: "Waiting for your decision" is no "Waiting for you"."""
    return re.compile(re.escape(phrase) + (r"\b" if phrase[-1].isalnum() else ""))


def speaks_of_it(text: str) -> bool:
    return " " in text and not SQL.search(text) and bool(SPOKEN.search(NAMED.sub("", text)))


def page_texts() -> Iterator[tuple[str, list[str]]]:
    for path in sorted(UI.rglob("*.ts*")):
        if not re.search(r"\.test\.tsx?$|\.generated\.ts$|/testing/", str(path)):
            yield str(path.relative_to(UI)), texts_of_page(path.read_text())


def texts_of_page(source: str) -> list[str]:
    """String literals and the text between tags, comments left out."""
    source = re.sub(r"/\*.*?\*/|(?<![:\"'`])//[^\n]*", "", source, flags=re.DOTALL)
    literals = [found[2] for found in re.finditer(r"""(["`])((?:(?!\1)[^\\]|\\.)*)\1""", source)]
    between = re.findall(r">([^<>{}=;]*[a-z][^<>{}=;]*)<", source)
    return [plain(text) for text in (*literals, *between)]


def python_texts() -> Iterator[tuple[str, list[str]]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield str(path.relative_to(PACKAGE)), list(texts_of_python(ast.parse(path.read_text())))


def texts_of_python(tree: ast.AST) -> Iterator[str]:
    """String constants, those of an f-string joined; docstrings left out, but not those of commands, which are help."""
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=values):
                yield plain("".join(str(v.value) if isinstance(v, ast.Constant) else "…" for v in values))
            case ast.Constant(value=str(text)) if id(node) not in parts | docs:
                yield plain(text)


def plain(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split())
