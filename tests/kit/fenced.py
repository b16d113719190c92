"""The fence around a result in a prompt, taken off again."""

import re

FENCED = re.compile(r'<(result-[0-9a-f]{16}) tool="[\w-]+" trust="untrusted">\n(.*)\n</\1>', re.DOTALL)


def unfenced(text: str) -> str:
    """What is inside; anything outside fails."""
    found = FENCED.fullmatch(text)
    assert found, f"not fenced as a whole: {text[:300]}"
    return found[2]
