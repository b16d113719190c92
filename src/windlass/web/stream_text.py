"""What is missing of a reply's final text after it was streamed: thoughts may have been taken out of it since, and its
sources numbered anew."""

import re

_NUMBERS = re.compile(r"\[\d{1,3}(?:, \d{1,3})*\]")
_MARK = "\ue000"  # stands for the numbers of a citation
_ANCHOR = 16


def missing_text(sent: str, text: str) -> str:
    """The shortest text which, after what was sent, ends with the whole of `text`; "" where that was sent already,
    under whichever numbers."""
    if text.startswith(sent):
        return text[len(sent) :]
    before, after = _NUMBERS.sub(_MARK, sent), _NUMBERS.sub(_MARK, text)
    if _one_line(after) in _one_line(before):
        return ""
    rest = after[len(before) - _overlap_from(before, after) :]
    if rest == after:
        return f"\n\n{text}"
    numbers = _NUMBERS.findall(text)
    unsent = iter(numbers[len(numbers) - rest.count(_MARK) :])
    return re.sub(_MARK, lambda _: next(unsent, _MARK), rest)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _overlap_from(sent: str, text: str) -> int:
    """From which position on `sent` is the beginning of `text`; its end where it is not."""
    at = sent.find(text[:_ANCHOR])
    while at >= 0:
        if text.startswith(sent[at:]):
            return at
        at = sent.find(text[:_ANCHOR], at + 1)
    near_the_end = range(max(0, len(sent) - _ANCHOR), len(sent))
    return next((at for at in near_the_end if text.startswith(sent[at:])), len(sent))
