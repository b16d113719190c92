"""Texts of programs, cut only where a sentence or at least a word ends."""

import re

_END = re.compile(r"[.!?…][)\"']?(?=\s|$)")
_ABBREVIATED = re.compile(r"(^|[\s(])(e\.g|i\.e|etc|vs|cf|approx|no)\.$", re.IGNORECASE)


def whole_sentences(text: str, most: int) -> str:
    """On one line. Where not even the first sentence fits, it ends after a word with an ellipsis."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    ends = [end.end() for end in _END.finditer(line[: most + 1]) if end.end() <= most]
    whole = [end for end in ends if not _ABBREVIATED.search(line[:end])]
    if whole:
        return line[: whole[-1]]
    cut = line[:most]
    words = cut.rpartition(" ")[0].rstrip(",;:")
    return f"{words if len(words) > most // 2 else cut}…"
