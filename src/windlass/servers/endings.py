"""Why a program ended or is no MCP server, in the words that tell most: the last line of stderr often does not."""

import re

from windlass.sentences import whole_sentences

LONGEST = 300
ITS_INPUT = "back what it was sent"
_NAMED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception)\b(?:\s*\[\w+\])?:\s*\S")  # as Python and Node print them
_WORDS = re.compile(r"\b(cannot|can't|could not|not found|no such|unable to|denied|missing|required|unknown)\b", re.I)
_WEAK = re.compile(r"\b(error|fatal|failed|invalid)\b", re.I)


def telling_line(stderr: str) -> str:
    """An error by its name, the last of them; else the first line with a word for it; else the last line."""
    lines = [line.strip() for line in stderr.strip().splitlines() if line.strip()]
    named = [line for line in lines if _NAMED.match(line)]
    if named:
        return whole_sentences(named[-1], LONGEST)
    for words in (_WORDS, _WEAK):
        if found := next((line for line in lines if words.search(line)), ""):
            return whole_sentences(found, LONGEST)
    return whole_sentences(lines[-1], LONGEST) if lines else ""


def how_it_ended(code: int | None, stderr: str, spoke: bool, stray: str) -> str:
    """`spoke`: it sent at least one message of MCP; `stray`: the first other thing it wrote."""
    line = telling_line(stderr)
    if not spoke and (stray == ITS_INPUT or (not code and not line)):
        wrote = f"it wrote {stray}" if stray else "it ended without an answer"
        return f"This program does not speak MCP: {wrote}."
    ended = "It closed its output" if code is None else f"It ended with code {code}"
    return f"{ended}: {line}" if line else f"{ended}."


def no_answer(connect_s: float, spoke: bool, stray: str) -> str:
    waited = f"It did not answer within {connect_s:g} s."
    return waited if spoke or not stray else f"{waited} Does this program speak MCP? It wrote {stray}."


def stray_output(line: bytes) -> str:
    """In quotes, and short: the line is whatever a program wrote."""
    return ascii(whole_sentences(line.decode("utf-8", "replace"), 80))
