"""Which arguments of a command say what runs: code, a module, a script, a package. No part of these is hidden from the
person who confirms the command. Told by their place, since any program may take anything: a word that follows an
interpreter or a runner of packages, and whatever follows an option that is known to take code."""

import re
from collections.abc import Iterable, Iterator

_SHELLS = {"sh", "bash", "zsh", "dash", "cmd", "powershell", "pwsh"}
_LANGUAGE = re.compile(
    r"(?:python|pypy|node|nodejs|deno|bun|tsx|ts-node|ruby|perl|php|lua|osascript|powershell|pwsh|cmd|[a-z]{0,2}sh)"
    r"[\d.]*(?:\.exe|\.cmd)?"
)
_RUNNER = re.compile(
    r"(?:npx|bunx|pnpx|pnpm|npm|yarn|uv|uvx|pipx|docker|podman|env|sudo|nice|nohup|timeout|xargs|busybox"
    r"|run|exec|dlx|x|tool)(?:\.exe|\.cmd)?"
)
_TAKES_CODE = re.compile(
    r"-[a-zA-Z]{0,2}[ceE]|--(?:eval|print|exec|command|call|require|import|loader|experimental-loader|preload|package"
    r"|from|with|with-editable|registry|index-url|extra-index-url|entrypoint)"
)
_VARIABLE = re.compile(r"([A-Za-z_]\w*)=")


def is_shell(command: str) -> bool:
    """It fills in its own variables, so that nothing is filled into its arguments."""
    return _name_of(command).removesuffix(".exe") in _SHELLS


def code_arguments(parts: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Where they stand, of texts with where each stands."""
    program, before = "", ""  # the last word that is no option, and the last one of all
    for where, text in parts:
        if where.startswith("argument "):
            if _is_code(program, before, text):
                yield where
            is_word = not (text.startswith("-") or _VARIABLE.match(text))
        else:
            is_word = where == "command"
        if is_word:
            program = _name_of(text).lower()
        before = text


def _name_of(program: str) -> str:
    return program.replace("\\", "/").rpartition("/")[2]


def _is_code(program: str, before: str, text: str) -> bool:
    is_language = _LANGUAGE.fullmatch(program) is not None
    if _VARIABLE.match(text) and not is_language and (before in ("-e", "--env") or program == "env"):
        return False  # `docker run -e TOKEN=...`
    if _TAKES_CODE.fullmatch(before) or _TAKES_CODE.fullmatch(text.partition("=")[0]):
        return True
    if is_language and text.startswith("-"):
        return not text.startswith("--")  # `-e...` and its like, in one word
    runs_next = is_language or _RUNNER.fullmatch(program) is not None
    return runs_next and not (before.startswith("--") and text.startswith("-"))
