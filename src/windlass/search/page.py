"""Text from a fetched page. One pass, never back: a page that is made to be slow to read is read as fast as any other.

The standard library's HTML parser takes quadratic time on unclosed tags in many Python releases, so this is a scanner
of our own; every search that finds nothing ends it.
"""

import html
import re
from collections.abc import Iterator

from windlass.core.values import value_object

_OPENING = re.compile(r"<(?:!--|[!?]|/?[a-zA-Z])")
_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9]{0,20}")
_TAG_END = re.compile(r"""[>"']""")
_ENDINGS = {
    name: re.compile(rf"</{name}[\s/>]", re.IGNORECASE)
    for name in ("script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp")
}
_LEFT_OUT = {"nav", "footer", "aside", "noscript", "template", "svg", "select", "button", "dialog"}
_BLOCKS = {
    *("address", "article", "blockquote", "br", "caption", "dd", "div", "dl", "dt", "fieldset", "figcaption", "figure"),
    *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table"),
    *("tbody", "tfoot", "thead", "tr", "ul", "body", "head", "html"),
}
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_TEXT_CODEC = re.compile(
    r"utf-?8|utf-?16(?:le|be)?|us-ascii|iso-?8859-\d{1,2}|latin-?1|windows-\d{3,4}|cp\d{3,4}|gb2312|gbk|gb18030|big5"
    r"|euc-?(?:jp|kr)|shift[-_]jis|iso-2022-jp|koi8-[ru]|tis-620"
)
_META_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}["']?\s{0,5}([a-zA-Z0-9_-]{2,40})""")


@value_object
class Page:
    url: str
    title: str
    text: str


def page_from(url: str, kind: str, charset: str, body: bytes) -> Page:
    """`kind` is the media type, `charset` the one the server names ("" for none)."""
    is_html = kind == "text/html"
    text = decoded(body, charset or (_declared_charset(body) if is_html else ""))
    if not is_html:
        return Page(url, "", tidy(text))
    title, visible = html_text(text)
    return Page(url, title, visible)


def html_text(source: str) -> tuple[str, str]:
    """Title and text. Menus and footers are left out, unless nothing else is there."""
    title, kept, everything = "", [], []
    depth = 0
    for name, piece in _pieces(source):
        if name == "title":
            title = title or one_line(_unescaped(piece))
        elif name == "":
            everything.append(piece)
            if not depth:
                kept.append(piece)
        elif name.removeprefix("/") in _LEFT_OUT:
            depth = max(0, depth + (-1 if name.startswith("/") else 1))
        elif name.removeprefix("/") in _BLOCKS:
            kept.append("\n")
            everything.append("\n")
    return title, _joined(kept) or _joined(everything)


def plain(fragment: str) -> str:
    """A snippet as one line of plain text; search services mark the words they found with tags."""
    return one_line(html_text(fragment)[1])


def one_line(text: str) -> str:
    return " ".join(_INVISIBLE.sub("", text).split())


def tidy(text: str) -> str:
    """No invisible characters, no runs of blanks, at most one empty line."""
    lines = [" ".join(line.split()) for line in _INVISIBLE.sub("", text).splitlines()]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def decoded(body: bytes, charset: str) -> str:
    codec = charset.strip().lower()
    # Python also knows codecs that are no text encodings, some of them slow on purpose-made input.
    return body.decode(codec if _TEXT_CODEC.fullmatch(codec) else "utf-8", "replace").removeprefix("\ufeff")


def _declared_charset(body: bytes) -> str:
    found = _META_CHARSET.search(body[:2048].lower())
    return found[1].decode("ascii") if found else ""


def _joined(pieces: list[str]) -> str:
    return tidy(_unescaped("".join(pieces)))


def _unescaped(text: str) -> str:
    try:
        return html.unescape(text)
    except ValueError:  # a character reference of thousands of digits
        return text


def _pieces(source: str) -> Iterator[tuple[str, str]]:
    """("", text), (tag name, "") with a slash before closing ones, and ("title", its text)."""
    position = 0
    while opening := _OPENING.search(source, position):
        yield "", source[position : opening.start()]
        if source.startswith("<!--", opening.start()):
            end = source.find("-->", opening.start() + 2)
            position = end + 3
        else:
            end = _end_of_tag(source, opening.end())
            position = end + 1
        if end < 0:
            return
        name = _name(source, opening.start() + 1)
        if ending := _ENDINGS.get(name):
            closing = ending.search(source, position)
            if closing is None:
                return
            if name == "title":
                yield "title", source[position : closing.start()]
            position = closing.start()
        elif name:
            yield name, ""
    yield "", source[position:]


def _name(source: str, start: int) -> str:
    found = _NAME.match(source, start)
    return found[0].lower() if found else ""


def _end_of_tag(source: str, position: int) -> int:
    """Where the tag's `>` stands, quoted ones not counted; -1 when it has none."""
    while mark := _TAG_END.search(source, position):
        if mark[0] == ">":
            return mark.start()
        quote_end = source.find(mark[0], mark.end())
        if quote_end < 0:
            return source.find(">", mark.end())  # a lone apostrophe, as in <p it's>
        position = quote_end + 1
    return -1
