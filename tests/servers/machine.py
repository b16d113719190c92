"""A machine with secrets, for tests of what a server reaches on it."""

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests.kit.isolation_probes import landlock_trial
from windlass.servers import Isolation, SandboxRules
from windlass.servers.isolation import IsolationTrial, Launch, trial
from windlass.servers.isolation.landlock import landlock_version
from windlass.servers.values import ServerConfig

SECRET = "canary-of-an-attack"
HERE = trial()
LEVELS = [
    pytest.param(trial, id="bwrap", marks=pytest.mark.skipif(HERE.level != "bwrap", reason=HERE.why)),
    pytest.param(
        landlock_trial,
        id="landlock",
        marks=pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock"),
    ),
]
every_level = pytest.mark.parametrize("tried", LEVELS)
Trial = Callable[[], IsolationTrial]


class Machine:
    """A home with a key, a project, and Windlass's data; `run` starts a shell script as a server."""

    def __init__(self, folder: Path, tried: Trial) -> None:
        self.folder = Path(os.path.realpath(folder))
        self.home = self.folder / "home"
        self.data = self.home / "data"
        self.project = self.home / "project"
        self.key = self.home / ".ssh" / "id"
        for path in (self.key, self.data / "token", self.home / ".config" / "gh" / "hosts"):
            path.parent.mkdir(parents=True)
            path.write_text(SECRET)
        self.project.mkdir()
        (self.project / ".env").write_text(SECRET)
        self.level = tried().level
        self.isolation = Isolation(self.data, hidden=[self.project / ".env"], home=self.home, tried=tried)

    def launch(self, script: str, *named: object, rules: SandboxRules | None = None, **more: object) -> Launch:
        config = ServerConfig("srv-1", "x", command="/bin/sh", args=("-c", script, "sh", *map(str, named)))
        config = replace(config, confirmed=True, sandbox_rules=rules or SandboxRules(), **more)  # type: ignore[arg-type]
        return self.isolation.launch(config, {})

    def run(self, script: str, *named: object, rules: SandboxRules | None = None, **more: object) -> str:
        return output(self.launch(script, *named, rules=rules, **more))


def output(launch: Launch, env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        launch.argv,
        env={**launch.env, **(env or {})},
        cwd=launch.cwd or None,
        capture_output=True,
        text=True,
        timeout=100,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        check=False,
    )
    return done.stdout + done.stderr
