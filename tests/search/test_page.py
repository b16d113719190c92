import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kit.cpu import linear
from windlass.search.page import decoded, html_text, page_from, plain, tidy


@pytest.mark.parametrize(
    ("source", "title", "text"),
    [
        ("plain words", "", "plain words"),
        ("<title>A &amp; B</title><p>One<p>Two", "A & B", "One\nTwo"),
        ("<h1>Head</h1><ul><li>a</li><li>b</li></ul>", "", "Head\n\na\n\nb"),
        ("a<br>b<b>c</b>d", "", "a\nbcd"),
        ("<script>if (a < b) '</p>'</script>seen<style>p{}</style>", "", "seen"),
        ("<SCRIPT type='x'>no</Script >yes", "", "yes"),
        ("<nav>menu <a>x</a></nav><main>words</main><footer>small</footer>", "", "words"),
        ("<nav>only a menu</nav>", "", "only a menu"),
        ("<nav>never closed <p>words", "", "never closed\nwords"),
        ("a<!-- hidden -->b<!-->c", "", "abc"),
        ("1 < 2 and 3 > 2 <3", "", "1 < 2 and 3 > 2 <3"),
        ('<a title="a > b">link</a>', "", "link"),
        ("<p it's>one</p>", "", "one"),
        ("<p class='x>not lost", "", "not lost"),
        ("&#x41;&#66;&nbsp;&unknown;", "", "AB &unknown;"),
        ("<title>One</title><title>Two</title>x", "One", "x"),
        ("<title>no\nend  here</title>", "no end here", ""),
        ("zero\u200bwidth \u202eright\U000e0041", "", "zerowidth right"),
    ],
)
def test_html_becomes_its_title_and_its_words(source: str, title: str, text: str) -> None:
    assert html_text(source) == (title, text)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "<",
            "<a",
            "<a ",
            "<a '",
            '<a "',
            "<a x='",
            "<!--",
            "<!-",
            "<!",
            "<?",
            "</",
            "</a",
            "<script>",
            "&#9",
            "&",
            "&lt",
        ),
        *(
            "<script></script",
            "<title>",
            "<nav>",
            "</nav>",
            "<p>",
            "<a x=1 ",
            "-->",
            "<!--->",
            "\n",
            " \n",
            "<![CDATA[",
        ),
    ],
)
def test_a_page_made_to_be_slow_is_read_in_no_time(unit: str) -> None:
    with linear():
        text = html_text(unit * (1_000_000 // len(unit)))
    assert len(text) <= 1_000_000


def test_a_huge_character_reference_is_left_as_it_is() -> None:
    assert html_text(f"&#{'9' * 5000};")[1].startswith("&#999")


@given(st.text(alphabet="<>/!-ap '\"&#;x1\nstyle"))
@example("<!--" * 3 + "-->" + "<a")
def test_any_text_is_read_without_a_crash_and_without_tags(source: str) -> None:
    title, text = html_text(source)
    assert "<script" not in title
    assert text == tidy(text)


@given(st.text())
def test_text_without_markup_keeps_its_words(source: str) -> None:
    words = source.replace("<", "").replace("&", "")
    assert html_text(words)[1] == tidy(words)


@pytest.mark.parametrize(
    ("body", "charset", "text"),
    [
        ("grün".encode(), "", "grün"),
        ("grün".encode("latin-1"), "ISO-8859-1", "grün"),
        ("天气".encode("gbk"), "gbk", "天气"),
        ("天雨".encode("shift_jis"), "Shift_JIS", "天雨"),
        (b"\xef\xbb\xbfx", "utf-8", "x"),
        (b"x", "no-such-codec", "x"),
        (b"abc", "rot13", "abc"),
        (b"a-b", "punycode", "a-b"),
        (b"\xff", "utf-8", "\ufffd"),
    ],
)
def test_bytes_are_decoded_as_declared_where_that_is_a_text_encoding(body: bytes, charset: str, text: str) -> None:
    assert decoded(body, charset) == text


def test_a_page_may_declare_its_own_charset() -> None:
    body = '<html><meta charset="windows-1251"><title>Погода</title>дождь'.encode("cp1251")
    page = page_from("http://a.test/", "text/html", "", body)
    assert (page.title, page.text) == ("Погода", "дождь")


def test_plain_text_and_json_stay_as_they_are() -> None:
    assert page_from("u", "text/plain", "", b"a  <b>\n\n\n\nc").text == "a <b>\n\nc"
    assert page_from("u", "application/json", "", b'{"a": "<p>"}').text == '{"a": "<p>"}'


def test_a_snippet_is_one_line() -> None:
    assert (
        plain("The <strong>weather</strong> in\nNanaimo &mdash; today<br>rain") == "The weather in Nanaimo — today rain"
    )
