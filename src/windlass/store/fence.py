"""The fence around foreign text in a prompt: core's `Fence` port. Its tag carries a code that follows from the call and
this installation's key: nobody who writes a result can know it, and the same log gives the same prompt."""

import hmac
import html
import re
import unicodedata
from urllib.parse import unquote

from windlass.core.values import value_object

CODE_LETTERS = 16
_WINDOW = 120  # how much of a text is looked at for one tag; each of its letters may be spelled in several
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\U000e0000-\U000e0fff"
)
_HIDDEN = re.compile(f"[{_INVISIBLE}\x00-\x08\x0e-\x1f\x7f-\x9f]+")
_ODD = r"&%\\\x80-\U0010ffff"  # may stand for any letter
# A bracket in any spelling, and behind it what may begin one of the tags: few of a page's brackets are looked at twice.
# Case is spelled out: where it is ignored, `s` and `k` are found among the odd letters.
_OPENS = re.compile(
    r"(?:[<\uff1c\ufe64\u2039\u3008\u27e8]|&(?:[lL][tT]|#0*60|#[xX]0*3[cC])\b;?|\\u003[cC]|\\x3[cC]|%3[cC])"
    r"(?=[\s\x00-\x1f/]{0,9}"
    rf"(?:[|{_ODD}]|[rR][eE{_ODD}]|[tT][oO{_ODD}]|[fF][uU{_ODD}]|[sS](?:[tT][aA]|[tT]?[{_ODD}])|[eE][nN{_ODD}]))"
)
_NAMES = ("result", "response", "_of_turn")
_SPELLED = ("<|", "&l", "&L", "&#", "\\u00", "\\x", "%3")
_MOST_LOOKS = 300
_ESCAPE = re.compile(r"\\(?:u00|x)([2-7][0-9a-f])", re.IGNORECASE)
_BRACKETS = str.maketrans("\u2039\u3008\u27e8\u2044\u2215\u29f8", "<<<///")
# Our own tag, those in which model servers wrap results, and the marks that begin a message in their templates.
_TAG = re.compile(
    r"<(?:\|[^|<>\n]{1,40}\||\s*/?\s*(?:(?:tool|function)[_-]?(?:results?|responses?)|result|(?:start|end)_of_turn)(?![a-z0-9]))"
)


@value_object
class KeyedFence:
    key: bytes

    def around(self, call_id: str, tool: str, text: str) -> str:
        opening, closing = self.tags(call_id, tool)
        return f"{opening}\n{without_tags(text)}\n{closing}"

    def tags(self, call_id: str, tool: str) -> tuple[str, str]:
        tag = f"result-{self._code(call_id)}"
        return f'<{tag} tool="{tool}" trust="untrusted">', f"</{tag}>"

    def _code(self, call_id: str) -> str:
        return hmac.digest(self.key, call_id.encode(), "sha256").hex()[:CODE_LETTERS]


def without_tags(text: str) -> str:
    """The text with a backslash in whatever a model might read as the end of a result, or as the start of a message."""
    if text.isascii() and not _may_hold_tags(text):
        return text
    looks = iter(range(_MOST_LOOKS))
    # One that has so many brackets is up to something, and gets a backslash in each of the rest without a look.
    return _OPENS.sub(
        lambda found: f"{found[0]}\\" if next(looks, None) is None or _is_tag(text, found) else found[0], text
    )


def _may_hold_tags(text: str) -> bool:
    """A quick look at plain letters: most results need no other."""
    if any(spelled in text for spelled in _SPELLED):
        return True
    return "<" in text and ("%" in text or any(name in text.lower() for name in _NAMES))


def _is_tag(text: str, found: re.Match[str]) -> bool:
    window = text[found.start() : found.start() + _WINDOW]
    return _TAG.match(_folded(window)) is not None


def _folded(text: str) -> str:
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), html.unescape(unquote(text)))
    return unicodedata.normalize("NFKC", _HIDDEN.sub("", plain)).translate(_BRACKETS).casefold()
