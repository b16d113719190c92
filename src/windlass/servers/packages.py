"""The package and the version that a command runs, read from the package's own files: a `package.json` above a script,
the `.dist-info` of a Python program, or what `npx` and `uvx` keep in their caches."""

import json
import os
import re
from collections.abc import Iterable, Sequence
from glob import escape, glob

_UP = 4  # how far above a script its package.json lies
_SITE = ("lib/python*/site-packages", "lib/python*/dist-packages", "lib/python3/dist-packages")
_VERSION = re.compile(r"(?<=.)[@=<>~!\[].*$")  # of `pkg@1.2` and `pkg==1.2`; a scope's own @ comes first


def package_of(argv: Sequence[str], program: str, scripts: Iterable[str], caches: Sequence[str]) -> str:
    """Its name and version; "" where nobody can tell. Reads a few small files. `scripts` are the files of code in the
    command, `caches` where package managers keep what they fetched."""
    name = os.path.basename(program)
    if name in ("npx", "bunx"):
        return _fetched_by_npx(_spec(argv, "-p", "--package"), caches)
    if name == "uvx":
        return _fetched_by_uvx(_spec(argv, "--from"), caches)
    if re.fullmatch(r"python[\d.]*", name) and "-m" in argv[:-1]:
        return _installed(program, argv[argv.index("-m") + 1])
    found = (_above(file) or _with_entry_point(file) for file in scripts)
    return next((package for package in found if package), "")


def _spec(argv: Sequence[str], *options: str) -> str:
    """The package without its version."""
    rest = list(argv[1:])
    for index, argument in enumerate(rest):
        option, _, value = argument.partition("=")
        if option in options:
            return _VERSION.sub("", value or next(iter(rest[index + 1 :]), ""))
    return _VERSION.sub("", next((argument for argument in rest if not argument.startswith("-")), ""))


def _fetched_by_npx(name: str, caches: Sequence[str]) -> str:
    if not re.fullmatch(r"(@[\w.-]+/)?[\w.-]+", name):
        return ""
    folders = [f"{escape(cache)}/{below}" for cache in caches for below in ("npm/_npx", "_npx")]
    return _version_in(_newest(f"{folder}/*/node_modules/{name}/package.json" for folder in folders))


def _fetched_by_uvx(name: str, caches: Sequence[str]) -> str:
    folder = f"{_normal(name)}-*.dist-info"
    return _named_by(_newest(f"{escape(cache)}/uv/archive-v0/*/{folder}" for cache in caches)) if name else ""


def _installed(python: str, module: str) -> str:
    root = escape(os.path.dirname(os.path.dirname(python)))
    return _named_by(_newest(f"{root}/{site}/{_normal(module.partition('.')[0])}-*.dist-info" for site in _SITE))


def _above(file: str) -> str:
    folder = os.path.dirname(file)
    for _ in range(_UP):
        if found := _version_in(f"{folder}/package.json"):
            return found
        folder = os.path.dirname(folder)
    return ""


def _with_entry_point(file: str) -> str:
    """A program that pip wrote names its package nowhere; its package names it."""
    name = os.path.basename(file)
    root = escape(os.path.dirname(os.path.dirname(file)))
    for path in (path for site in _SITE for path in glob(f"{root}/{site}/*.dist-info/entry_points.txt")):
        if re.search(rf"^{re.escape(name)}\s*=", _text(path), re.MULTILINE):
            return _named_by(os.path.dirname(path))
    return ""


def _newest(patterns: Iterable[str]) -> str:
    found = [path for pattern in patterns for path in glob(pattern)]
    return max(found, key=_modified, default="")


def _modified(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0


def _version_in(path: str) -> str:
    try:
        found = json.loads(_text(path) or "{}")
    except ValueError:
        return ""
    if not isinstance(found, dict) or "version" not in found:
        return ""
    return f"{found.get('name', '')} {found['version']}"[:200].strip()


def _named_by(folder: str) -> str:
    """`mcp_server_time-1.2.dist-info`"""
    return " ".join(os.path.basename(folder).removesuffix(".dist-info").rsplit("-", 1))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _text(path: str) -> str:
    try:
        with open(path, errors="replace") as file:
            return file.read(1 << 20)
    except OSError:
        return ""
