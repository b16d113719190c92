"""What an authorization server is asked for, in words a person can agree to."""

import re

LONGEST = 300
_KNOWN = {
    "openid": "know which account you use",
    "profile": "see your name and picture",
    "email": "see your email address",
    "offline_access": "stay signed in while you are away",
}
_LEVELS = {
    "read": "read",
    "readonly": "read",
    "write": "read and change",
    "readwrite": "read and change",
    "admin": "manage",
    "manage": "manage",
    "delete": "delete",
}
_PARTS = re.compile(r"[:./_-]+")


def scope_text(scope: str) -> str:
    """ "" where nothing better than its name is known: a wrong word would be worse."""
    if known := _KNOWN.get(scope):
        return known
    parts = [part for part in _PARTS.split(scope.rpartition("/auth/")[2].lower()) if part]
    levels = [part for part in parts if part in _LEVELS]
    things = [part for part in parts if part not in _LEVELS]
    if len(levels) != 1 or not things or "//" in scope.rpartition("/auth/")[2]:
        return ""
    return f"{_LEVELS[levels[0]]} {' '.join(things)}"


def clean_line(text: str) -> str:
    """Words of another site, as one line without anything that moves a cursor."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:LONGEST]
