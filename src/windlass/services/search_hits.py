"""Where in a turn a search found its words: the message, and an excerpt of it as a person reads it."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from windlass.api import schemas

BEFORE, LONGEST = 40, 160  # characters of an excerpt: ahead of the first word found, and in all
MOST_READ = 200_000  # characters of a message that are looked through: this is done between other requests
# The signs of Markdown, which say nothing in one line, and what its links lead to.
_SIGNS = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}|>|[-*+])[ \t]+|^[ \t]{0,8}(?:```|~~~).*$"
    r"|`|\*\*|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])"
    r"|\[(?=[^\[\]]{0,500}\]\()|\]\([^()\s]{0,2000}\)",
    re.M,
)


def search_hit(messages: Iterable[schemas.Message], query: str) -> schemas.MessageHit | None:
    """The message with most of the words, and what a person or the model wrote before what a tool gave. None where no
    message has any: it was deleted since, or only a folded form of the words is in it."""
    terms = [_pattern(term) for term in query.split()]
    best: tuple[tuple[int, bool], schemas.Message] | None = None
    for message in messages:
        text = _folded(_plain(message.content or ""))
        score = sum(1 for term in terms if term.search(text)), message.role != "tool"
        if score[0] and (best is None or score > best[0]):
            best = score, message
    return _hit(best[1], terms) if best else None


def _hit(message: schemas.Message, terms: Sequence[re.Pattern[str]]) -> schemas.MessageHit:
    text = _plain(message.content or "")
    found = sorted(span for term in terms for span in (match.span() for match in term.finditer(_folded(text))))
    start, end = _window(text, found[0][0])
    pieces = _pieces(text, [(max(a, start), min(b, end)) for a, b in found if a < end and b > start], start, end)
    pieces[0] = ("…" if start else "") + pieces[0]
    pieces[-1] += "…" if end < len(text) else ""
    return schemas.MessageHit(message.turn_id or "", message.id, message.role, message.timestamp, pieces)


def _plain(markdown: str) -> str:
    return " ".join(_SIGNS.sub("", markdown[:MOST_READ]).split())


def _folded(text: str) -> str:
    """As the index compares letters, without case and accents, each in its own position."""
    return text.lower() if text.isascii() else "".join(map(_folded_letter, text))


def _folded_letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0].lower()
    return base if len(base) == 1 else letter


def _pattern(term: str) -> re.Pattern[str]:
    """The beginning of a word; one with signs in it (`retry-after`) is several in a row, as the index has it."""
    parts = [re.escape(part) for part in re.findall(r"\w+", _folded(term))]
    return re.compile(r"(?<!\w)" + r"\W+".join(parts)) if parts else re.compile(r"(?!)")


def _window(text: str, at: int) -> tuple[int, int]:
    """From a little ahead of the first word found, cut between words where there are any."""
    start = max(0, at - BEFORE)
    if start:
        start = text.find(" ", start, at) + 1 or start
    end = start + LONGEST
    if end >= len(text):
        return start, len(text)
    return start, text.rfind(" ", at, end) if " " in text[at:end] else end


def _pieces(text: str, found: Iterable[tuple[int, int]], start: int, end: int) -> list[str]:
    """Text and found words by turns, beginning and ending with text."""
    pieces, done = [], start
    for a, b in found:
        if b <= done:
            continue
        pieces += [text[done : max(a, done)], text[max(a, done) : b]]
        done = b
    return [*pieces, text[done:end]]
