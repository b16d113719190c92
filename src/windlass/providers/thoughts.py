"""Thoughts that a model writes into its text, between tags or before a lone end tag. They belong to the reasoning, in
every form that servers let through; text that only mentions the tags stays text."""

import re
import string
from bisect import bisect_right
from collections.abc import Iterator

from windlass.core.values import value_object

OPENING = re.compile(r"<\s*think(?:ing)?\s*>", re.IGNORECASE)
CLOSING = re.compile(r"<\s*/\s*think(?:ing)?\s*>", re.IGNORECASE)
_TAG = re.compile(r"<\s*(/?)\s*think(?:ing)?\s*>", re.IGNORECASE)
_CODE_FENCE = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_QUOTES = ("`", "'", '"', "\N{LEFT DOUBLE QUOTATION MARK}", "\N{RIGHT DOUBLE QUOTATION MARK}")
_ENDS_A_SENTENCE = ".!?:;)]}*\N{HORIZONTAL ELLIPSIS}\N{IDEOGRAPHIC FULL STOP}"
IN_THE_TEXT = "thoughts stood in the text"
STRAY = "a stray </think> stood in the text"


@value_object
class _Tag:
    start: int
    end: int
    closes: bool


def split_thoughts(text: str) -> tuple[str, str, str]:
    """The answer, the thoughts, and the repair made ("" where there was nothing to repair)."""
    answer: list[str] = []
    thoughts: list[str] = []
    at, opened = 0, -1  # `opened`: where the thought that is being read began
    tags = list(_tags(text))
    last = _end_of_words(text, tags)
    for tag in tags:
        if opened >= 0 and tag.closes:
            thoughts.append(text[opened : tag.start])
            at, opened = tag.end, -1
        elif opened < 0 and not tag.closes:
            answer.append(text[at : tag.start])
            opened = tag.end
        elif opened < 0:  # a lone end: whatever came before it was thought, unless nothing follows
            (thoughts if tag.end < last else answer).append(text[at : tag.start])
            at = tag.end
    (thoughts if opened >= 0 else answer).append(text[opened if opened >= 0 else at :])
    if not tags:
        return text, "", ""
    found = "\n\n".join(filter(None, (thought.strip() for thought in thoughts)))
    return "".join(answer).strip(), found, IN_THE_TEXT if found else STRAY


def _end_of_words(text: str, tags: list[_Tag]) -> int:
    """Behind the last of the text, tags and blanks at its end not counted."""
    end = _skip_back(text, len(text), blanks=string.whitespace)
    for tag in reversed(tags):
        if tag.end != end:
            break
        end = _skip_back(text, tag.start, blanks=string.whitespace)
    return end


def _skip_back(text: str, at: int, blanks: str = " \t") -> int:
    while at > 0 and text[at - 1] in blanks:
        at -= 1
    return at


def _tags(text: str) -> Iterator[_Tag]:
    """Those that are markup, not talk about markup: a pair within a line is talk, and so is what is quoted."""
    if "<" not in text:
        return
    code = [found.start() for found in _CODE_FENCE.finditer(text)]
    mentioned = False  # an opening tag within a line; its end is one too
    follows = 0
    for found in _TAG.finditer(text):
        start, end, closes = found.start(), found.end(), bool(found[1])
        quoted = bisect_right(code, start) % 2 == 1 or text[end : end + 1] in _QUOTES
        if quoted or (mentioned and closes):
            mentioned = False
        elif closes and _ends_a_thought(text, start, end, follows):
            yield _Tag(start, end, True)
            follows = end
        elif not closes and not text[_line_start(text, start, follows) : start].strip():
            yield _Tag(start, end, False)
        else:
            mentioned = not closes


def _line_start(text: str, at: int, follows: int) -> int:
    return max(text.rfind("\n", follows, at) + 1, follows)


def _ends_a_thought(text: str, start: int, end: int, follows: int) -> bool:
    """Not in the middle of a sentence: glued to a word, behind a sentence, or alone at an end of its line."""
    at = _skip_back(text, start)
    if at <= follows or text[at - 1] == "\n" or text[end : end + 1] in ("", "\n", "\r"):
        return True
    return (at == start and text[at - 1] not in _QUOTES) or text[at - 1] in _ENDS_A_SENTENCE
