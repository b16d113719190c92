"""Finding a tool among many by what it does: BM25 over names, descriptions and argument names, with a short list of
words that people and programs use for the same thing. Pure."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache

from windlass.core.messages import ToolSpec
from windlass.core.values import value_object
from windlass.toolbox.matching import properties_of

NAME_WEIGHT, FIRST_WEIGHT, TEXT_WEIGHT, ARGUMENT_WEIGHT = 4.0, 2.0, 0.5, 0.5
SERVER_WEIGHT = 5.0
RELATED_WEIGHT = 0.4  # of a word that means the same as one that was asked for
MOST_FIRST = 200  # characters of the first sentence
MOST_TEXT = 2_000  # characters of a description that are read: what a tool is for stands at the beginning
MOST_ARGUMENTS = 60
MOST_TERMS = 40  # of a query
_SATURATION, _LENGTH = 1.2, 0.6  # k1 and b of BM25
_SENTENCE = re.compile(r"(?<=[.!?:])\s|\n")
_CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ACCENTS = re.compile("[\u0300-\u036f]")
_NO_SPACES = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff"  # Thai, Lao, Japanese, Chinese
_PIECES = re.compile(f"([{_NO_SPACES}]+)|([^\\W_{_NO_SPACES}]+)")
_ENDINGS = (
    *(("mentation", ""), ("ments", ""), ("ment", ""), ("ings", ""), ("ing", ""), ("ies", "y"), ("ied", "y")),
    *(("ions", ""), ("ion", ""), ("ers", ""), ("er", ""), ("ed", ""), ("es", ""), ("s", ""), ("e", "")),
)
_SHORTEST_STEM = 3
_SHORTEST_START = 4
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
    first = _SENTENCE.split(spec.description[:MOST_FIRST].lstrip(), maxsplit=1)[0]
    for text, weight in (
        (spec.tool, NAME_WEIGHT),
        (first, FIRST_WEIGHT),
        (spec.description[len(first) : MOST_TEXT], TEXT_WEIGHT),
        (" ".join([*properties_of(spec.schema)][:MOST_ARGUMENTS]), ARGUMENT_WEIGHT),
    ):
        for term in stems(text):
            weights[term] = weights.get(term, 0.0) + weight
    return SearchTerms(weights, sum(weights.values()))


def ranked(query: str, entries: Sequence[SearchEntry]) -> list[tuple[str, float]]:
    """Names with their scores, best first; without those that have nothing of the query. A name that stands in the
    query as it is comes before all others."""
    named = {piece for piece in re.split(r"[\s,;\"'`()\[\]]+", query) if piece}
    wanted = _wanted(query, {term for entry in entries for term in entry.server})
    usual = (sum(entry.terms.length for entry in entries) / len(entries) if entries else 0) or 1
    holding = [
        (entry, (wanted.keys() & entry.terms.weights.keys()) | (wanted.keys() & entry.server)) for entry in entries
    ]
    counts = Counter(term for _, terms in holding for term in terms)
    rarity = {
        term: wanted[term] * math.log(1 + (len(entries) - count + 0.5) / (count + 0.5))
        for term, count in counts.items()
    }
    scores: dict[str, float] = {}
    for entry, terms in holding:
        if terms or entry.name in named:
            norm = _SATURATION * (1 - _LENGTH + _LENGTH * entry.terms.length / usual)
            weighed = ((rarity[term], entry.weight(term)) for term in terms)
            scores[entry.name] = sum(rare * weight * (_SATURATION + 1) / (weight + norm) for rare, weight in weighed)
    best = max(scores.values(), default=0.0)
    for name in named & scores.keys():
        scores[name] += best + 1
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))


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


def _wanted(query: str, servers: Collection[str]) -> dict[str, float]:
    """A server goes by the beginning of its name too: `mongo` is `mongodb`."""
    asked = list(dict.fromkeys(stems(query)))[:MOST_TERMS]
    related = {other: RELATED_WEIGHT for term in asked for other in _related().get(term, ())}
    begun = [name for name in servers for term in asked if len(term) >= _SHORTEST_START and name.startswith(term)]
    return {**related, **dict.fromkeys((*asked, *begun), 1.0)}


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
create add new insert write register open make build start set append put
delete remove erase drop destroy clear discard trash purge cancel throw rid forget kill
update edit modify change alter set rename replace adjust correct fix rewrite
list show enumerate overview browse which all catalog
get read fetch retrieve view look load describe info details show
search find query lookup locate grep discover where
send post publish submit deliver mail tell write
move transfer relocate drag
copy duplicate clone fork
run execute launch start invoke
stop kill terminate end abort halt shutdown unsubscribe unwatch
undo revert rollback restore reset back
resolve close finish complete done fix
assign assignee owner
picture image photo screenshot snapshot capture look
folder directory path subfolder
file document
page site website url web link address
ticket issue bug task card story problem defect
person user people member contact employee colleague who account profile
team group
room channel chat conversation space
meeting event appointment calendar schedule
money payment invoice charge price billing
customer client buyer company
table spreadsheet sheet row column workbook grid
record row entry item object document
field property attribute column
database sql query collection
code repository repo source project
branch merge pull commit
request proposal review
click press tap push
hover pointer mouse cursor
type fill enter input
popup dialog alert prompt
email mail message inbox
translate convert transform turn
time date hour clock timezone late
weather forecast
place location address map directions route coordinates geocode
high height elevation altitude
error exception failure crash problem
log history activity audit output print
test check verify validate
download save export
upload import attach load attachment
label tag category
comment reply note remark
summary abstract short
paragraph sentence passage text
heading chapter section title outline
paper article publication preprint
documentation docs manual guide reference
password secret credential token key
machine server instance host cluster
container pod docker
deployment deploy release rollout version
song track music playlist
chart graph plot diagram
number count total sum aggregate
status state progress pass
related similar cite citation
cell range
bold font format style colour color
bigger smaller compress zip gzip
sprint cycle iteration
board kanban scrum
notification watch monitor alert follow subscription
"""
