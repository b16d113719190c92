"""Which folders a server may write to because its confirmed command names them. A folder counts as itself, a file as
the folder it lies in (databases keep journals beside them), also one that is still to be made. Programs, scripts,
system folders, the home itself and what is hidden make nothing writable."""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from windlass.core.values import value_object
from windlass.servers.isolation.hidden_paths import is_under

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/boot", "/dev", "/proc", "/sys", "/run", "/opt"),
    *("/nix", "/snap", "/var/lib", "/var/run"),
)
PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108 - a server has its own
_CODE = (
    *(".js", ".mjs", ".cjs", ".ts", ".py", ".pyz", ".rb", ".pl", ".sh", ".jar", ".php", ".lua", ".exe", ".dll"),
    *(".so", ".wasm"),
)
_INTERPRETER = re.compile(r"(node|deno|bun|python[\d.]*|ruby|perl|php|java|(ba|z|da)?sh)$")
_SCHEME = re.compile(r"^(file|sqlite)(\+\w+)?://(?=/)")


@value_object
class NamedPath:
    path: str  # as it is written, made absolute
    opens: str  # the real folder or file that it makes accessible


@value_object
class Borders:
    """What a named path never opens."""

    home: str
    data: str
    hidden: tuple[str, ...]


def named_paths(
    argv: Sequence[str], env: Mapping[str, str], cwd: str, borders: Borders
) -> tuple[list[NamedPath], list[str]]:
    """What becomes writable, and what is named in vain."""
    write: list[NamedPath] = []
    kept_out: list[str] = []
    for path, is_argument in _paths(argv, env, cwd, borders.home):
        folder = _folder(os.path.realpath(path), is_argument)
        if not folder or any(is_under(folder, system) for system in SYSTEM):
            continue
        if may_open(folder, borders) and not _may_be_planted(path, borders):
            write.append(NamedPath(path, folder))
        else:
            kept_out.append(path)
    return write, kept_out


def may_open(folder: str, borders: Borders) -> bool:
    if folder in PRIVATE or is_under(borders.home, folder) or is_under(borders.data, folder):
        return False
    return not any(is_under(folder, hidden) for hidden in borders.hidden)


def misplaced_script(argv: Sequence[str], cwd: str) -> str:
    """A script that is only there from where Windlass itself was started; "" where there is none."""
    rest = [argument for argument in argv[1:] if not argument.startswith("-")]
    script = rest[0] if rest and _INTERPRETER.match(os.path.basename(argv[0])) else ""
    is_relative = script.lower().endswith(_CODE) and not os.path.isabs(script)
    return script if is_relative and os.path.exists(script) and not os.path.exists(f"{cwd}/{script}") else ""


def code_folders(argv: Sequence[str], home: str) -> list[str]:
    """A program, or a script among its arguments, may lie in a folder that is private inside, such as /tmp. It then
    needs what lies beside it: the uppermost folder below the private one."""
    named = [argument for argument in argv[1:] if argument.startswith("/") and argument.lower().endswith(_CODE)]
    found = set()
    for path in (path for one in (argv[0], *named) for path in (one, os.path.realpath(one))):
        for private in PRIVATE:
            if is_under(path, private) and not is_under(path, home):
                found.add("/".join(path.split("/")[: private.count("/") + 2]))
    return sorted(found)


def _paths(argv: Sequence[str], env: Mapping[str, str], cwd: str, home: str) -> Iterator[tuple[str, bool]]:
    for argument in _arguments(argv):
        value = _SCHEME.sub("", argument.partition("=")[2] if "=/" in argument or "=~/" in argument else argument)
        if value.startswith(("/", "~/", "./", "../")):
            yield _absolute(value, cwd, home), True
    for value in env.values():
        value = _SCHEME.sub("", value)
        if value.startswith(("/", "~/")):
            yield _absolute(value, cwd, home), False


def _arguments(argv: Sequence[str]) -> Iterable[str]:
    """Without the program and the script of an interpreter."""
    rest = list(argv[1:])
    if _INTERPRETER.match(os.path.basename(argv[0])):
        script = next((index for index, argument in enumerate(rest) if not argument.startswith("-")), len(rest))
        del rest[script : script + 1]
    return rest


def _absolute(value: str, cwd: str, home: str) -> str:
    value = home + value[1:] if value.startswith("~/") else value
    return os.path.normpath(os.path.join(cwd, re.sub(r"^/+", "/", value).partition("?")[0]))


def _may_be_planted(path: str, borders: Borders) -> bool:
    """A link that was a file at an earlier start made the folder around it writable: the server may have made the link
    itself."""
    return os.path.islink(path) and may_open(os.path.realpath(os.path.dirname(path)), borders)


def _folder(path: str, is_argument: bool) -> str:
    """What a path would make writable; "" for code, for what is no file, and for folders in the environment, which
    name programs and libraries as often as data."""
    if os.path.isdir(path):
        return path if is_argument else ""
    if path.lower().endswith(_CODE) or (os.path.exists(path) and not _is_data(os.stat(path).st_mode)):
        return ""
    folder = os.path.dirname(path)
    return folder if os.path.isdir(folder) else ""


def _is_data(mode: int) -> bool:
    return stat.S_ISREG(mode) and not mode & stat.S_IXUSR
