"""Whether a reply only announces a search ("Let me look that up...") and holds no answer. Careful rather than complete:
an announcement that is missed ends the turn as before, an answer taken for one would cost a request. Pure."""

# ruff: noqa: E501, RUF001 - a table of phrases in many alphabets

import re
from functools import cache

LONGEST = 400
_SENTENCE = re.compile(r"(?<=[.!?…。！？:])\s+|(?<=[。！？])|\n+")
# A reply with one of these says more than what it is going to do: a citation, an address, a list, code, a question.
_ANSWERS = re.compile(r"\[\d|\bhttps?://|`|^\s*(?:[-*•|#>]+\s|\d+[.)])|[?？]", re.MULTILINE)
_QUOTED = re.compile(
    r"[\"\N{LEFT DOUBLE QUOTATION MARK}\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}][^\"]*[\"\N{RIGHT DOUBLE QUOTATION MARK}\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}]"
)
_FACT = re.compile(r"\d")
_CONDITION = re.compile(
    r"\b(?:if|once|when|unless|whether you|let me know|would you|do you want|wenn|falls|sobald|si|cuando|quando|se você|se vuoi"
    r"|als je|если|когда|eğer|jeśli|cannot|can't|won't|nicht|kein\w*|niet|не|nie)\b|如果|要是|若|もし|たら|よろしければ|ければ|원하시면|하시면|إذا|अगर",
    re.IGNORECASE,
)


def promises_search(text: str) -> bool:
    """Its last sentence announces a search, and no sentence of it answers anything."""
    if not text.strip() or len(text) > LONGEST or _ANSWERS.search(text):
        return False
    plain = text.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").replace("*", "").replace("_", "")
    sentences = [part.strip() for part in _SENTENCE.split(plain) if part and part.strip(" .…")]
    while len(sentences) > 1 and _waits().fullmatch(sentences[-1]):
        sentences.pop()
    *before, last = sentences or [""]
    last = _QUOTED.sub("", last)  # what somebody else says
    if any(_FACT.search(sentence) for sentence in before):
        return False
    return bool(_announces().search(last)) and not _CONDITION.search(last)


@cache
def _announces() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{' '.join(line.split())})" for line in _LANGUAGES), re.IGNORECASE)


@cache
def _waits() -> re.Pattern[str]:
    return re.compile(_WAITING, re.IGNORECASE)


_WAITING = (
    r"(?:(?:just )?(?:one|a) (?:moment|second|sec|minute)|please (?:wait|hold on|stand by)|hold on|stand by|bear with me"
    r"|(?:einen )?(?:moment|augenblick)|bitte warten(?: sie)?|un (?:instant|moment)|un momento|patientez|espera|attendi"
    r"|um momento|aguarde|een moment|момент|одну минуту|подождите|请稍[等候]|稍等(?:一下)?|少々お待ちください"
    r"|お待ちください|잠시만 기다려 ?주세요|잠시만요)(?:,? (?:please|bitte|por favor|s'il (?:vous|te) plaît|per favore))?[.!…。！]*"
)
_THEN = r"(?: (?:now|just|also|then|first|next|quickly|again|try|try to|have to|need to|go ahead and|go and|continue to|keep))*"
_LOOK = (
    r"(?:search(?:ing)?(?! my)|look(?:ing)? (?:up|into|for|at|that|this|it|further|online|again)|check(?:ing)?(?! in\b)"
    r"|find(?:ing)? (?:out|more|the|that|this|it|some|a|an|current|recent|better)|fetch|browse|google|query|dig|research|verify|pull up|gather|see what i can find|get (?:the latest|more|current)"
    r"|(?:do|run|perform|make|start|conduct|try) (?:a|an|another|one more|some|more|the|further)"
    r"(?: [a-z-]+){0,3} (?:search|searches|query|queries|look-?up|research))\b"
)
_LANGUAGES = (
    rf"\b(?:i'll|i will|i shall|let me|let's|let us|i'm going to|i am going to|i'm now|i am now|i need to|i should|i'm"
    rf"|i am|allow me to|time to){_THEN} {_LOOK}",
    r"\b(?:one|just a|a) (?:moment|second) while i (?:search|check|look)\b",
    r"^(?:okay,? |ok,? |sure,? |now )?(?:searching|looking (?:up|for|into)|checking)\b.{0,100}(?:\.\.|…|:| now\W*|again\W*)$",
    r"\bich (?:suche|recherchiere|prüfe|sehe|schaue|schau|google|frage)\b.*",
    r"\b(?:ich werde|lass(?:en sie)? mich|ich muss)\b.*\b(?:suchen?|nachsehen|nachschauen|nachschlagen|recherchieren|prüfen"
    r"|herausfinden|schauen)\b",
    r"\b(?:je vais|laisse(?:z)?-moi|je dois|permettez-moi de)\b.{0,30}\b(?:chercher|rechercher|vérifier|consulter|regarder"
    r"|recherche)\b|\bje (?:recherche|cherche|vérifie|consulte|fais une recherche)\b",
    r"\b(?:voy a|déjame|dejame|déjeme|permíteme|permítame|tengo que|vamos a)\b.{0,20}\b(?:buscar|consultar|investigar"
    r"|verificar|comprobar|revisar|búsqueda)|\b(?:buscaré|estoy buscando|consultaré)\b|^(?:ahora )?busco\b",
    r"\b(?:fammi|lasciami|mi lasci|vado a|devo|sto per)\b.{0,20}\b(?:cercare|controllare|verificare|ricerca)"
    r"|\b(?:cercherò|sto cercando|farò una ricerca)\b|^(?:ora |adesso )?(?:cerco|controllo|verifico)\b",
    r"\b(?:vou|deixe-me|deixa-me|preciso)\b.{0,20}\b(?:pesquisar|procurar|buscar|verificar|consultar|pesquisa|busca)"
    r"|\b(?:estou (?:pesquisando|procurando|buscando)|pesquisarei)\b",
    r"\b(?:ik ga|ik zal|laat me|laat mij|ik moet)\b.{0,40}\b(?:zoeken|opzoeken|nakijken|controleren)|\bik zoek\b",
    r"\b(?:poszukam|wyszukam|sprawdzę|szukam|wyszukuję|muszę (?:poszukać|sprawdzić))\b",
    r"\b(?:поищу|найду|проверю|посмотрю|ищу|выполню поиск|сделаю поиск)\b"
    r"|\b(?:давайте|позвольте|дайте|нужно|надо)\b.{0,20}\b(?:поищ\w+|поискать|найти|найд\w+|провер\w+|посмотр\w+)",
    r"\b(?:arayacağım|araştıracağım|arıyorum|araştırıyorum|arayayım|araştırayım|bakayım|kontrol edeyim|arama yapacağım)\b",
    r"(?:سأبحث|سوف أبحث|دعني أبحث|دعني أتحقق|سأتحقق|سأقوم بالبحث|أبحث الآن|جاري البحث)",
    r"(?:खोजता हूँ|खोजती हूँ|खोज करता हूँ|खोज करती हूँ|खोजूँगा|खोजूंगा|मैं खोज|पता लगाता हूँ|देखता हूँ)",
    r"(?:(?:让我|讓我|我来|我來|我将|我將|我会|我會|我先|我再|我去|我现在|我現在|我需要|我要|现在|接下来|继续|再)"
    r"[^。，,]{0,10}(?:搜索|搜寻|搜尋|搜一下|查一下|查找|查询|查詢|查看|检索|檢索|看一下|查))(?![到过過了])"
    r"|正在(?:为您|為您)?(?:搜索|查询|查詢|查找|检索)",
    r"(?:検索|確認|調査)(?:します|いたします|してみます|しています|させていただきます)|(?:調べ|お調べし)(?:ます|てみます|てみましょう|いたします)",
    r"(?:검색|조회|확인|조사)(?:하겠습니다|해 ?보겠습니다|해 ?볼게요|할게요|하고 있습니다|합니다|중입니다)|(?:찾아|알아) ?보(?:겠습니다|고 있습니다)"
    r"|(?:찾아|알아) ?볼게요",
)
