"""What a provider's own search cites as `[ref_2]` becomes the number of that source in the turn, as in `[2]`."""

import re
from collections.abc import Callable

_ONE = r"ref_\d{1,3}"
_MARK = re.compile(rf"[\[\u3010]\s?({_ONE}(?:\s?[,;\u3001]\s?{_ONE}){{0,20}})\s?[\]\u3011]", re.IGNORECASE)
_BEGUN = re.compile(r"[\[\u3010][ref_\d\s,;\u3001]{0,80}$", re.IGNORECASE)


class References:
    """`cited` are the addresses that have a number in the turn already. Results may come after the text that cites
    them: until then, a reference counts from the first number that is free."""

    def __init__(self, cited: tuple[str, ...]) -> None:
        self._numbers = {url: number for number, url in enumerate(cited, 1)}
        self._free = len(self._numbers)
        self._by_name: dict[str, int] = {}

    def learn(self, name: object, url: str) -> None:
        number = self._numbers.setdefault(url, len(self._numbers) + 1)
        if isinstance(name, str):
            self._by_name[name.lower()] = number

    def numbered(self, text: str) -> str:
        return _MARK.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        names = re.findall(_ONE, found[1].lower())
        numbers = [self._number(name) for name in names]
        return f"[{', '.join(map(str, numbers))}]" if None not in numbers else found[0]

    def _number(self, name: str) -> int | None:
        return self._by_name.get(name) if self._by_name else self._free + int(name.removeprefix("ref_"))


class ReferenceFilter:
    """Passes text on with its references numbered, and holds back what may be the beginning of one."""

    __slots__ = ("_held", "_references", "_text")

    def __init__(self, text: Callable[[str], None], references: References) -> None:
        self._text = text
        self._references = references
        self._held = ""

    def feed(self, text: str) -> None:
        grown = self._held + text
        begun = _BEGUN.search(grown)
        self._held = begun[0] if begun else ""
        if shown := self._references.numbered(grown[: len(grown) - len(self._held)]):
            self._text(shown)
