"""Whether a message asks for the web, and with which backend: the `//` prefix, the request's own setting, and a gate
for small talk, which is never sent to a search engine. Pure; a turn that does not search uses no other file of this
folder."""

# ruff: noqa: RUF001 - letters of other alphabets are what the table of small talk is made of

import re
from itertools import islice
from typing import Literal

from windlass.core.errors import BadInput
from windlass.core.events import Search
from windlass.core.values import value_object
from windlass.search.builtin import BUILTIN, searches_itself

Mode = Literal["auto", "on", "off"]
_PREFIX = re.compile(r"\s*(?:/|\N{FULLWIDTH SOLIDUS}){2,}\s*")
_LONGEST_QUERY = 300
# Scripts without spaces are read letter by letter.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}][^\W_]+)*")
_LONGEST_TALK = 16


@value_object
class Intent:
    """`text` is the message without its prefix, `query` what to search for should the model not choose itself, `unmet`
    a wish for the web that the operator's settings forbid: the answer has to say so."""

    text: str
    search: Search
    small_talk: bool = False
    query: str = ""
    unmet: bool = False


def asked(text: str, mode: Mode = "auto", prefix_enabled: bool = True, backend: str = "auto") -> Intent:
    """`mode` is the request's setting, or its persona's where the request has none."""
    prefix = _PREFIX.match(text) if prefix_enabled else None
    plain = text[prefix.end() :].rstrip() if prefix else text
    if prefix and not plain:
        raise BadInput("There is nothing after `//` to search for.", hint="Write the question after the slashes.")
    wanted = mode == "on" or (mode == "auto" and prefix is not None)
    if not wanted:
        return Intent(plain, "off")
    if is_small_talk(plain):
        return Intent(plain, "off", small_talk=True)
    if backend == "off":
        return Intent(plain, "off", query=_query(plain), unmet=True)
    return Intent(plain, "offered" if backend == BUILTIN else "due", query=_query(plain))


def backend_at(setting: str, base_url: str) -> str:
    """The backend to use with this provider: `builtin` becomes `auto` where the provider has no search of its own."""
    return "auto" if setting == BUILTIN and not searches_itself(base_url) else setting


def is_small_talk(text: str) -> bool:
    """Made of nothing but such phrases, at least one of them more than a filler: "hello there!" is small talk, "hello
    world program" is not."""
    tokens = _tokens(text)
    if not tokens or len(tokens) > _LONGEST_TALK:
        return not tokens
    reached = {(0, False)}  # how many tokens are accounted for, and whether a phrase was among them
    for start in range(len(tokens)):
        for greeted in (False, True):
            if (start, greeted) in reached:
                for size in range(1, _LONGEST_PHRASE + 1):
                    phrase = tokens[start : start + size]
                    if phrase in _TALK or phrase in _FILLERS:
                        reached.add((start + len(phrase), greeted or phrase in _TALK))
    return (len(tokens), True) in reached


def _query(text: str) -> str:
    flat = " ".join(text.split())
    if len(flat) <= _LONGEST_QUERY:
        return flat
    return flat[:_LONGEST_QUERY].rpartition(" ")[0] or flat[:_LONGEST_QUERY]


def _tokens(text: str) -> tuple[str, ...]:
    """No more of them than it takes to see that a message is too long to be small talk."""
    found = islice(_TOKEN.finditer(text.casefold()), _LONGEST_TALK + 1)
    return tuple(token[0].replace("\N{RIGHT SINGLE QUOTATION MARK}", "'") for token in found)


def _phrases(table: str) -> frozenset[tuple[str, ...]]:
    return frozenset(_tokens(phrase) for phrase in re.split(r"[|\n]", table) if phrase.strip())


_FILLERS = _phrases("""
there | all | everyone | everybody | again | friend | my friend | mate | so much | very much | a lot
a bunch | today | you | to you | and you | for your help | for the help | for that | dear | sir | team
folks | guys | buddy | and | then | sehr | dir | euch | beaucoup | mucho | muchas | tanto | mille | à tous
a todos
""")
_TALK = _phrases("""
hello | hi | hey | heya | hiya | howdy | yo | greetings | good morning | good afternoon | good evening
good night | good day | morning | evening | how are you | how are you doing | how're you | how do you do
how is it going | how's it going | how's life | how have you been | what's up | whats up | sup
nice to meet you | pleased to meet you | thanks | thank you | thx | ty | cheers | much appreciated
appreciate it | many thanks | thanks a million | you're welcome | welcome | no problem | bye | goodbye
bye bye | see you | see you later | see ya | take care | have a nice day | have a good day | good | great
cool | nice | awesome | perfect | excellent | wonderful | lovely | well done | good job | nice work | ok
okay | alright | yes | yeah | yep | no | nope | sure | sorry | please | lol | haha | who are you
what are you | what's your name | what is your name | what can you do | can you help me | help | i'm fine
are you there | ping | i'm good | happy birthday | merry christmas | happy new year | hallo | guten morgen
guten tag | guten abend | gute nacht | servus | moin | grüß gott | grüezi | wie geht's | wie gehts
wie geht es dir | wie geht es ihnen | danke | danke schön | dankeschön | vielen dank | besten dank | bitte
tschüss | tschüß | auf wiedersehen | bis bald | alles klar | bonjour | bonsoir | salut | coucou | bonne nuit
ça va | comment ça va | comment allez vous | merci | merci bien | de rien | au revoir | à bientôt | d'accord
hola | buenos días | buenos dias | buenas tardes | buenas noches | buenas | qué tal | que tal | cómo estás
como estas | gracias | muchas gracias | de nada | adiós | adios | hasta luego | ciao | buongiorno
buonasera | buonanotte | salve | come stai | come va | grazie | grazie mille | prego | arrivederci | olá
oi | bom dia | boa tarde | boa noite | tudo bem | como vai | obrigado | obrigada | tchau | até logo | hoi
goedemorgen | goedemiddag | goedenavond | dag | hoe gaat het | dank je | dank je wel | bedankt | doei | hej
hejsan | god morgon | tack | tack så mycket | tak | takk | hei | moi | kiitos | cześć | dzień dobry
dobry wieczór | jak się masz | dziękuję | dzięki | do widzenia | ahoj | dobrý den | děkuji | díky
na shledanou | привет | здравствуйте | здравствуй | доброе утро | добрый день | добрый вечер | как дела
спасибо | большое спасибо | пока | до свидания | привіт | дякую | merhaba | selam | günaydın | iyi akşamlar
nasılsın | teşekkürler | teşekkür ederim | sağol | hoşça kal | مرحبا | السلام عليكم | صباح الخير
مساء الخير | كيف حالك | شكرا | שלום | תודה | سلام | ممنون | नमस्ते | धन्यवाद | kumusta | salamat | halo
apa kabar | terima kasih | xin chào | cảm ơn | สวัสดี | ขอบคุณ | 你好 | 您好 | 你好吗 | 早上好 | 下午好
晚上好 | 晚安 | 谢谢 | 謝謝 | 多谢 | 谢谢你 | 再见 | 嗨 | 哈喽 | こんにちは | おはよう | おはようございます
こんばんは | ありがとう | ありがとうございます | さようなら | 元気ですか | やあ | 안녕 | 안녕하세요
감사합니다 | 고마워 | 고맙습니다 | 잘 지내요
""")
_LONGEST_PHRASE = max(map(len, _TALK | _FILLERS))
