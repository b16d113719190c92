"""How this Windlass isolates the servers it runs: from a configuration to the command that really starts, and the words
that say how far the isolation goes."""

import json
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

if sys.platform != "win32":
    import resource

from windlass.core.errors import Unavailable
from windlass.core.values import value_object
from windlass.servers.environment import environment
from windlass.servers.isolation import landlock
from windlass.servers.isolation.bounds import BoundsWatch, Watched, inode_of
from windlass.servers.isolation.bubblewrap import MountPlan, wrapped
from windlass.servers.isolation.hidden_paths import hidden_paths, is_socket, is_under
from windlass.servers.isolation.named_paths import Borders, code_folders, misplaced_script
from windlass.servers.isolation.openings import Openings, lines_alone, openings
from windlass.servers.isolation.private_folder import PrivateFolder
from windlass.servers.isolation.refusals import Allowance, Refusal
from windlass.servers.isolation.strict import HOME, sandboxed
from windlass.servers.isolation.trial import IsolationLevel, IsolationTrial, launched, trial
from windlass.servers.values import SandboxLevel, SandboxRules, ServerConfig

FILE_BYTES, OPEN_FILES = 4 << 30, 4096
LIMITS = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": FILE_BYTES, "RLIMIT_NOFILE": OPEN_FILES}
_DOCKER = ("docker", "podman", "nerdctl", "docker-compose")
OFF = "switched off for this server: it can reach everything that you can, Windlass's own keys included"
DOCKER = "none (Docker): whoever commands Docker's daemon can reach everything on this machine"
SOCKETS = "every socket in the file system can be reached, because"
STRICT = "a private home, only the folders named under `inside`"


@value_object
class Launch:
    """A start, ready to be made. `wrappers` are the processes of ours around the server's own."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str = ""
    level: IsolationLevel = "none"
    why: str = ""
    wrappers: int = 0
    limits: Allowance = Allowance()
    covers: tuple[str, ...] = ()


@value_object
class IsolationStatus:
    """What holds for one server now, or will hold at its next start."""

    wanted: SandboxLevel
    level: IsolationLevel
    why: str
    refused: tuple[Refusal, ...] = ()


class Isolation:
    """`data` is Windlass's own folder, which no server sees; without one the servers' private folders are temporary.
    `hidden` are further files that Windlass read its settings from."""

    def __init__(
        self,
        data: Path | None = None,
        *,
        hidden: Sequence[Path] = (),
        home: Path | None = None,
        tried: Callable[[], IsolationTrial] = trial,
    ) -> None:
        self._given = data
        self._making = threading.Lock()
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._home = os.path.realpath(home or os.path.expanduser("~"))
        self._more = [str(path) for path in hidden]
        self._tried = tried
        self._watch = BoundsWatch()

    def launch(self, config: ServerConfig, declared: Mapping[str, str]) -> Launch:
        """Blocks: it looks at files, and at the first time tries what works. Raises `Unavailable` for a program or a
        folder that is not there."""
        env = environment(declared, operator=config.operator)
        program = _program(config, env)
        if config.wanted_sandbox == "off" or os.path.basename(config.command) in _DOCKER:
            return self._unconfined(config, env, program, OFF if config.wanted_sandbox == "off" else DOCKER)
        tried = self._tried()
        if config.wanted_sandbox == "strict":
            return self._strict(config, env, tried)
        if tried.level == "none":
            return self._unconfined(config, env, program, tried.why)
        return self._default(config, declared, env, program, tried)

    def find_out(self) -> None:
        """Try what works, once per process. Blocks."""
        self._tried()

    def about(self, config: ServerConfig) -> tuple[IsolationLevel, str]:
        """The level a start would have, and why, without starting."""
        if config.transport != "stdio":
            return "none", "it runs elsewhere"
        if config.wanted_sandbox == "off":
            return "none", OFF
        if os.path.basename(config.command) in _DOCKER:
            return "none", DOCKER
        tried = self._tried()
        return tried.level, STRICT if config.wanted_sandbox == "strict" else tried.why

    def caches_of(self, config: ServerConfig) -> tuple[str, ...]:
        """Where package managers keep what they fetch for this server."""
        if config.wanted_sandbox == "default":
            return (self._private(config.id).cache,)
        return (f"{self._home}/.cache", f"{self._home}/.npm") if config.wanted_sandbox == "off" else ()

    def watch(self, pid: int, launch: Launch, rules: SandboxRules, over: Callable[[str], None]) -> None:
        if launch.level != "none":
            covers = {path: inode_of(path) for path in launch.covers}
            self._watch.add(Watched(pid, rules.memory_mib << 20, rules.processes, covers, over))

    def unwatch(self, pid: int) -> None:
        self._watch.drop(pid)

    def forget(self, server_id: str) -> None:
        """Delete what a removed server kept. Blocks."""
        if self._given or self._temporary:
            self._private(server_id).remove()

    def close(self) -> None:
        if self._temporary:
            self._temporary.cleanup()

    def _unconfined(self, config: ServerConfig, env: Mapping[str, str], program: str, why: str) -> Launch:
        argv = (program, *config.args)
        if os.path.isdir("/proc/self/task"):  # Linux: what detaches itself ends with the server all the same
            return Launch(launched({"reap": True, "parent": os.getpid()}, argv), env, config.cwd, "none", why, 1)
        return Launch(argv, env, config.cwd, "none", why)

    def _strict(self, config: ServerConfig, env: Mapping[str, str], tried: IsolationTrial) -> Launch:
        if tried.level != "bwrap":
            raise Unavailable(
                f"It must run in a strict sandbox: {tried.why}.",
                hint="Install bubblewrap (bwrap), or set sandbox to default for this server.",
            )
        found = hidden_paths(self._home, self._data, self._more)
        opened = lines_alone(config, Borders("", self._data, tuple(found)))
        rules = replace(config.sandbox_rules, read=opened.read, write=opened.write)
        argv = sandboxed(config.argv, rules, config.cwd, hidden=found)
        limits = Allowance(HOME, (), rules.read, rules.write, never=(self._data,))
        return Launch(tried.wrapped(argv), env, level="bwrap", why=STRICT, wrappers=2, limits=limits)

    def _default(
        self,
        config: ServerConfig,
        declared: Mapping[str, str],
        env: Mapping[str, str],
        program: str,
        tried: IsolationTrial,
    ) -> Launch:
        private = self._private(config.id)
        found = hidden_paths(self._home, self._data, self._more)
        cwd = os.path.realpath(config.cwd) if config.cwd else private.work
        if script := misplaced_script(config.argv, cwd):
            raise Unavailable(
                f"{script} is not a full path, and the server starts in a folder of its own.",
                hint=f"Write {os.path.abspath(script)}, or set cwd.",
                code="command_missing",
            )
        opened = openings(config, declared, cwd, Borders(self._home, self._data, tuple(found)))
        hidden = tuple(path for path in found if path not in (*opened.read, *opened.write))
        private.make(self._home, hidden)
        limits = Allowance(
            self._home,
            hidden,
            opened.read,
            opened.write,
            opened.kept_out,
            (self._data,),
            _own_code(config, opened),
        )
        variables = {**env, **self._variables(private, hidden, tried), **declared}
        made = Launch((program, *config.args), variables, cwd, tried.level, tried.why, limits=limits)
        if tried.level == "landlock":
            return self._by_landlock(made, opened, private, tried)
        return self._by_bubblewrap(made, opened, private, tried, config.sandbox_rules)

    def _by_bubblewrap(
        self, made: Launch, opened: Openings, private: PrivateFolder, tried: IsolationTrial, rules: SandboxRules
    ) -> Launch:
        plan = MountPlan(
            self._home,
            made.limits.hidden,
            tuple(path for path in map(os.path.realpath, self._more) if path in made.limits.hidden),
            opened.read,
            opened.write,
            tuple(code_folders(made.argv, self._home)),
            made.limits.protected,
            private.path,
            private.writable,
            private.empty,
            made.cwd,
        )
        found = wrapped(tried.bwrap, plan, _limited(made.argv, rules.processes if tried.counts_processes else 0))
        argv = tried.wrapped(found.argv)
        crowd = "the home has too many entries to be built again: hidden ones are covered instead, and a credential "
        why = "; ".join(filter(None, (made.why, f"{crowd}that is made while it runs can be read" * found.crowded)))
        return replace(made, argv=argv, cwd="", why=why, wrappers=2, covers=found.covers)

    def _by_landlock(self, made: Launch, opened: Openings, private: PrivateFolder, tried: IsolationTrial) -> Launch:
        hidden = [path for path in made.limits.hidden if not is_socket(path)]  # those the filter closes, or nothing
        home = [] if any(is_under(self._home, path) for path in hidden) else [self._home]
        read = [*opened.read, *code_folders(made.argv, self._home), *home, private.path]
        rules = landlock.allowed(hidden, read, [*opened.write, *private.writable], made.limits.protected)
        Path(private.rules).write_text(json.dumps(rules))
        order = {"reap": True, "parent": os.getpid(), "rules": private.rules, "limits": LIMITS}
        named = [path for path in (*opened.read, *opened.write) if path == "/run" or is_socket(path)]
        if tried.filters:
            order["filter"] = "shared" if named else "sockets"
        why = "; ".join(filter(None, (made.why, f"{SOCKETS} {named[0]} is opened" if named else "")))
        limits = replace(made.limits, by_landlock=True)
        return replace(made, argv=launched(order, made.argv), why=why, wrappers=1, limits=limits)

    def _variables(self, private: PrivateFolder, hidden: Sequence[str], tried: IsolationTrial) -> dict[str, str]:
        is_gone = any(is_under(self._home, path) for path in hidden)
        temporary = "/tmp" if tried.level == "bwrap" else private.tmp  # noqa: S108
        return {
            **private.environment(self._home),
            "HOME": private.work if is_gone else self._home,
            "TMPDIR": temporary,
        }

    @property
    def _data(self) -> str:
        with self._making:  # servers start in parallel, each in a thread
            if self._given is None and self._temporary is None:
                # A start that was given up may still be making its folder when all of them are deleted.
                self._temporary = tempfile.TemporaryDirectory(prefix="windlass-", ignore_cleanup_errors=True)
        return os.path.realpath(self._given or str(self._temporary and self._temporary.name))

    def _private(self, server_id: str) -> PrivateFolder:
        return PrivateFolder(Path(self._data, "servers", server_id))


def _own_code(config: ServerConfig, opened: Openings) -> tuple[str, ...]:
    """Windlass's program where it lies in a folder that the server may write to: changed there, it would run without
    any isolation. Only a line of its own opens it."""
    lines = [os.path.realpath(os.path.expanduser(path)) for path in config.sandbox_rules.write]
    code = {os.path.realpath(path) for path in (sys.prefix, sys.base_prefix, Path(__file__).parents[2])}
    inside = {path for path in code if any(is_under(path, folder) and path != folder for folder in opened.write)}
    return tuple(sorted(inside.difference(lines)))


def _limited(argv: Sequence[str], processes: int) -> Sequence[str]:
    prlimit = shutil.which("prlimit")
    if prlimit is None:
        return argv
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    options = ["--core=0", f"--fsize={FILE_BYTES}", f"--nofile={most}"]
    return [prlimit, *options, *([f"--nproc={processes}"] if processes else []), "--", *argv]


def _program(config: ServerConfig, env: Mapping[str, str]) -> str:
    if config.cwd and not os.path.isdir(config.cwd):
        raise Unavailable(
            f"Its folder {config.cwd!r} does not exist.",
            hint="Create it, or set another folder.",
            code="command_missing",
        )
    program = shutil.which(config.command, path=env.get("PATH"))
    if program is None:
        raise Unavailable(
            f"{config.command!r} was not found.", hint="Install it, or give the full path.", code="command_missing"
        )
    return os.path.abspath(program)
