"""Finding a tool among many by what it does: BM25 over names, descriptions and argument names, with a short list of
words that people and programs use for the same thing. Pure."""

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from windlass.core.messages import ToolSpec
from windlass.core.values import value_object
from windlass.toolbox.matching import properties_of

NAME_WEIGHT, SERVER_WEIGHT, ARGUMENT_WEIGHT = 4.0, 2.0, 0.5
RELATED_WEIGHT = 0.4  # of a word that means the same as one that was asked for
MOST_TEXT = 2_000  # characters of a description that are read: what a tool is for stands at the beginning
MOST_ARGUMENTS = 60
MOST_TERMS = 40  # of a query
_SATURATION, _LENGTH = 1.2, 0.6  # k1 and b of BM25
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENTS = re.compile("[\u0300-\u036f]")
_NO_SPACES = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"  # Thai, Lao, Japanese, Chinese
_PIECES = re.compile(f"([{_NO_SPACES}]+)|([^\\W_{_NO_SPACES}]+)")
_ENDINGS = (
    *(("mentation", ""), ("ments", ""), ("ment", ""), ("ings", ""), ("ing", ""), ("ies", "y"), ("ied", "y")),
    *(("ions", ""), ("ion", ""), ("ers", ""), ("er", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")),
)
_SHORTEST_STEM = 3
_KEPT = ("ss", "us", "is")  # no plurals


@value_object
class SearchTerms:
    """The words of one tool with their weights, made once for each definition."""

    weights: Mapping[str, float] = field(default_factory=dict)
    length: float = 0.0


@value_object
class SearchEntry:
    name: str  # what the model calls it
    terms: SearchTerms
    server: frozenset[str] = frozenset()  # the words of its server's name

    def weight(self, term: str) -> float:
        return self.terms.weights.get(term, 0.0) + SERVER_WEIGHT * (term in self.server)


def terms_of(spec: ToolSpec) -> SearchTerms:
    weights: dict[str, float] = {}
    for text, weight in (
        (spec.tool, NAME_WEIGHT),
        (spec.description[:MOST_TEXT], 1.0),
        (" ".join([*properties_of(spec.schema)][:MOST_ARGUMENTS]), ARGUMENT_WEIGHT),
    ):
        for term in stems(text):
            weights[term] = weights.get(term, 0.0) + weight
    return SearchTerms(weights, sum(weights.values()))


def ranked(query: str, entries: Sequence[SearchEntry]) -> list[tuple[str, float]]:
    """Names with their scores, best first; without those that have nothing of the query. A name that stands in the
    query as it is comes before all others."""
    named = {piece for piece in re.split(r"[\s,;\"'`()\[\]]+", query) if piece}
    wanted = _wanted(query)
    usual = (sum(entry.terms.length for entry in entries) / len(entries) if entries else 0) or 1
    counts = {term: sum(entry.weight(term) > 0 for entry in entries) for term in wanted}
    rarity = {
        term: weight * math.log(1 + (len(entries) - counts[term] + 0.5) / (counts[term] + 0.5))
        for term, weight in wanted.items()
        if counts[term]
    }
    best = 0.0
    scored: list[tuple[str, float]] = []
    for entry in entries:
        norm = _SATURATION * (1 - _LENGTH + _LENGTH * entry.terms.length / usual)
        score = 0.0
        for term, rare in rarity.items():
            if weight := entry.weight(term):
                score += rare * weight * (_SATURATION + 1) / (weight + norm)
        if score or entry.name in named:
            scored.append((entry.name, score))
            best = max(best, score)
    return sorted(
        ((name, score + (best + 1) * (name in named)) for name, score in scored), key=lambda one: (-one[1], one[0])
    )


def stems(text: str) -> Iterator[str]:
    for piece in _words(text):
        if piece not in _COMMON:
            yield stem(piece)


@lru_cache(maxsize=8192)
def stem(term: str) -> str:
    """Light on purpose: `issues`, `creating` and `translation` meet `issue`, `create` and `translate`."""
    for ending, instead in _ENDINGS:
        left = term[: len(term) - len(ending)]
        if term.endswith(ending) and len(left) >= _SHORTEST_STEM and not term.endswith(_KEPT):
            doubled = ending in ("ing", "ed") and left[-1] == left[-2] and left[-1] not in "aeiousl"
            return left[:-1] if doubled else left + instead  # stopped, running
    return term


def _words(text: str) -> Iterator[str]:
    """Of camelCase, snake_case and prose; of scripts that write no spaces, each two letters that stand together."""
    plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))
    for unspaced, piece in _PIECES.findall(_CAMEL.sub(" ", plain)):
        if unspaced:
            yield from (unspaced[at : at + 2] for at in range(max(1, len(unspaced) - 1)))
        else:
            yield piece.casefold()


def _wanted(query: str) -> dict[str, float]:
    asked = list(dict.fromkeys(stems(query)))[:MOST_TERMS]
    related = {other: RELATED_WEIGHT for term in asked for other in _related().get(term, ())}
    return {**related, **dict.fromkeys(asked, 1.0)}


@lru_cache(maxsize=1)
def _related() -> Mapping[str, Collection[str]]:
    found: dict[str, set[str]] = {}
    for line in _SAME.strip().splitlines():
        group = {stem(term) for term in line.split()}
        for term in group:
            found.setdefault(term, set()).update(group - {term})
    return found


_COMMON = frozenset(
    "a about all also an and any are as at be been by can could do does each for from get had has have her his how i "
    "if some in into is it its let like make may me more my need no not of on once one only or our out please should "
    "so than that the their them then there these they this those to under up us use used using want was we what when "
    "where which who will with would you your".split()
)
_SAME = """
create add new insert write register open
delete remove erase drop destroy clear discard trash purge cancel
update edit modify change alter set rename replace adjust
list show enumerate overview browse
get read fetch retrieve view look load describe info details
search find query lookup locate grep discover
send post publish submit deliver mail
move transfer relocate rename
copy duplicate clone fork
run execute launch start invoke
stop kill terminate end abort halt shutdown
picture image photo screenshot snapshot capture
folder directory path
file document
page site website url web
ticket issue bug task card
person user people member contact
meeting event appointment calendar
money payment invoice charge price billing
customer client buyer
table spreadsheet sheet row column
database sql query
code repository repo source
branch merge pull commit
click press tap
type fill enter
email mail message inbox
chat channel conversation thread
translate convert transform
time date hour clock timezone
weather forecast
place location address map directions route
error exception failure crash
log history activity audit
test check verify validate
download save export
upload import attach
label tag category
comment reply note remark
password secret credential token
machine server instance host
container pod docker
song track music playlist
"""
