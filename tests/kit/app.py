"""A real server process in demo mode, as a person would start it, on a port and in a folder of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from tests.kit.waiting import PATIENCE_S, wait_for

HIDDEN = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "LLM_MODEL", "ZAI_API_KEY")
STOP_S = 60


@dataclass(frozen=True, slots=True)
class RunningApp:
    home: Path
    login: str  # the URL it printed
    process: "subprocess.Popen[str]"

    @property
    def url(self) -> str:
        parts = urlsplit(self.login)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def port(self) -> int:
        return urlsplit(self.login).port or 0

    @property
    def token(self) -> str:
        return (self.home / "token").read_text().strip()


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    """The machine's own, less every setting of ours."""
    kept = {
        name: value for name, value in os.environ.items() if name not in HIDDEN and not name.startswith("WINDLASS_")
    }
    return {**kept, "WINDLASS_HOME": str(home), **more}


@contextmanager
def running_app(home: Path, *options: str, verb: str = "demo", **env: str) -> Iterator[RunningApp]:
    argv = [sys.executable, "-m", "windlass", verb, "--port", "0", *options]
    with (home.parent / f"{home.name}.log").open("w") as log:
        process = subprocess.Popen(
            argv, env=clean_environment(home, **env), stdout=subprocess.PIPE, stderr=log, text=True
        )
    assert process.stdout
    try:
        said = process.stdout.readline()
        assert "http://" in said, f"the server said {said!r}: {Path(log.name).read_text()}"
        app = RunningApp(home, said.split()[-1], process)
        wait_for(lambda: "starting" not in _states(app), "its tools")
        yield app
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def _states(app: RunningApp) -> set[str]:
    """Of its tool servers: whoever asks before they run finds no tools."""
    request = Request(f"{app.url}/servers", headers={"Authorization": f"Bearer {app.token}"})
    with urlopen(request, timeout=PATIENCE_S) as answer:
        return {server["status"] for server in json.load(answer)["servers"]}
