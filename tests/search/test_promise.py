"""Announcements of a search against real answers, in several languages. A miss ends a turn as it always did; a false
alarm costs a request, so among the answers there is none."""

# ruff: noqa: E501, RUF001 - phrases in many alphabets

import pytest

from windlass.search.promise import LONGEST, promises_search

PROMISES = [
    "I'll search for that...",
    "I'll search for the weather in Nanaimo now.",
    "I will look that up for you.",
    "Let me search for more specific information about Nanaimo.",
    "Let me search for more...",
    "The results are not specific enough. Let me search again with other words.",
    "These results don't include today's forecast. Let me look for a better source.",
    "Let me do another search for the current conditions.",
    "I'm going to run a more specific search.",
    "I need to search for the current temperature.",
    "I should check the official forecast.",
    "Searching for current weather in Nanaimo...",
    "I'm searching the web for that now. One moment please.",
    "Let me check the Environment Canada page:",
    "I’ll now look up the 2026 forecast for Nanaimo.",
    "Okay, let me try another query.",
    "The search failed. Let me try a different search.",
    "I apologize for the confusion. I will search again.",
    "**Let me search for that.**",
    "Ich suche nach dem aktuellen Wetter in Nanaimo.",
    "Ich werde jetzt nach weiteren Informationen suchen.",
    "Die Ergebnisse reichen nicht aus. Lassen Sie mich noch einmal nachsehen.",
    "Einen Moment, ich schaue nach.",
    "Je vais rechercher la météo à Nanaimo.",
    "Laissez-moi vérifier les prévisions.",
    "Voy a buscar el tiempo en Nanaimo.",
    "Déjame buscar más información.",
    "Sto cercando le previsioni per Nanaimo.",
    "Fammi cercare altre informazioni.",
    "Vou pesquisar a previsão do tempo.",
    "Deixe-me procurar mais detalhes.",
    "Ik ga dat voor je opzoeken.",
    "Zaraz sprawdzę aktualną pogodę.",
    "Сейчас поищу прогноз погоды.",
    "Давайте проверю ещё один источник.",
    "Hava durumunu hemen araştırıyorum.",
    "سأبحث عن الطقس في نانايمو.",
    "मैं खोज रहा हूँ।",
    "让我再搜索一下纳奈莫的天气。",
    "我来为您查询一下最新的天气情况。",
    "正在搜索纳奈莫的天气……",
    "ナナイモの天気を検索します。",
    "もう少し調べてみます。少々お待ちください。",
    "나나이모 날씨를 검색해 보겠습니다.",
    "더 찾아볼게요.",
    "Let me try searching for something more specific.",
    "One moment while I search.",
    "Let me get the latest data.",
    "Let me see what I can find.",
    "Looking into it now...",
    "Je fais une recherche.",
    "Let me dig a bit deeper.",
    "I'll fetch the page now.",
    "好的，我来查一下。",
    "最新の情報を確認します。",
]
ANSWERS = [
    "",
    "It rains in Nanaimo, 7 degrees [1].",
    "7 °C and raining.",
    "The search failed, so I cannot tell.",
    "I could not find anything about that.",
    "I searched three sources and none of them gives a temperature.",
    "I searched the web, but found nothing. Let me know if I should search again.",
    "Let me know which city you mean and I'll look it up.",
    "Which Nanaimo do you mean? I'll search again then.",
    "If you tell me the date, I will search for the forecast.",
    "Would you like me to search for the weekend's forecast?",
    "I can search for more details if you like.",
    "I'd be happy to look that up once you tell me the city.",
    "I'll note that you should check the official site before you travel.",
    "You should check the forecast at the harbour office.",
    "I recommend searching the archive of the Nanaimo News.",
    "It is 7 degrees now. Let me check the forecast for tomorrow.",
    "Rain until 18:00, then dry. I'll look for the weekend as well.",
    "Let me summarise: it rains all day, and the wind comes from the south-east.",
    "I'll keep it short: rain.",
    "Let me explain how the search works: it asks an engine and reads the best pages.",
    "To search for it yourself, open https://weather.test/ and type Nanaimo.",
    "I will search, said the captain, and the story ends there; it is the last line of the third chapter of the book, and "
    "the reader never learns whether he found what he had been looking for in all those years at sea, which is the point "
    "of the whole novel and the reason why it is still read. Critics agree that the ending is open. I will search, he says "
    "once more in the film of the same name, and there the camera follows him.",
    "- I'll search\n- You'll wait",
    "`search()` raises. I will search for it in the code.",
    "Die Suche ist fehlgeschlagen, daher weiß ich es nicht.",
    "In Nanaimo regnet es bei 7 Grad.",
    "Wenn Sie mir das Datum nennen, suche ich nach der Vorhersage.",
    "La recherche n'a rien donné.",
    "No encontré nada sobre eso.",
    "Non ho trovato nulla.",
    "Não encontrei nada.",
    "Я ничего не нашёл.",
    "我查询到纳奈莫今天有雨。",
    "没有找到相关信息。",
    "如果您告诉我日期，我可以再搜索一下。",
    "検索しましたが、見つかりませんでした。",
    "검색했지만 찾지 못했습니다.",
    "The mayor said that he will look into the matter.",
    "Scientists are still searching for the cause.",
    "They found the boat after searching for three days.",
    "Ich prüfe keine Konten.",
    "Ich suche gern weiter, wenn du möchtest.",
    "I'm looking forward to your next question!",
    "I should mention that the museum is closed.",
    "I would check the tide table first.",
    "我可以帮您搜索其他内容。",
    "Puedo buscar más si quieres.",
    "L'incendio è sotto controllo.",
    "Il governo ha il controllo della città.",
    "Ich sehe dafür keine Belege.",
    'The song is "Let Me Look at You".',
    "Das Lied heißt \N{LEFT DOUBLE QUOTATION MARK}Let me look for it\N{RIGHT DOUBLE QUOTATION MARK}.",
    "La obra se llama Yo busco.",
]


@pytest.mark.parametrize("text", PROMISES)
def test_an_announcement_is_known(text: str) -> None:
    assert promises_search(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_is_not_taken_for_an_announcement(text: str) -> None:
    assert not promises_search(text)


def test_a_long_text_is_never_one() -> None:
    assert promises_search("Let me search. " * 10) and not promises_search("Let me search. " * LONGEST)
