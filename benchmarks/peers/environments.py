"""Who the peers are, and a virtual environment for each under .cache/peers, filled from its own hashed pins."""

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.processes import ROOT

PINS = ROOT / "requirements" / "peers"
HOME = ROOT / ".cache" / "peers"
MAKE_VENV = ROOT / "scripts" / "make-venv"
OURS = ("WINDLASS", "OPENAI", "ZAI", "LANG", "LITELLM", "LLM_", "PYTHON", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Spec:
    """`leaves_out` is what Windlass does in the same row and this peer does not."""

    name: str
    leaves_out: str
    drivers: str = "benchmarks.peers"

    @property
    def module(self) -> str:
        return f"{self.drivers}.{self.name.replace('-', '_')}"


LIBRARY = "library: no store, server or approval"
PEERS = (
    Spec("mcp-open-client", "server: no stream, token or approval"),
    Spec("openai-agents", LIBRARY),
    Spec("pydantic-ai", LIBRARY),
    Spec("langgraph", LIBRARY),
    Spec("litellm", "library: no store, server, approval, loop"),
)


class NotInstalled(Exception):
    """Why an environment could not be made, in one line."""


def python_of(spec: Spec, pins: Path = PINS, home: Path = HOME) -> Path:
    """The interpreter of the peer's environment, which is made if it is not there or its pins have changed."""
    folder, wanted = home / spec.name, pins / f"{spec.name}.txt"
    marker, python = folder / "installed", folder / "bin" / "python"
    if not wanted.exists():
        raise NotInstalled(f"no pins at {wanted.name}")
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not marker.exists() or marker.read_text() != digest:
        print(f"installing {spec.name} into {folder}", file=sys.stderr, flush=True)
        _run([MAKE_VENV, sys.executable, folder])
        _run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "-r", wanted])
        marker.write_text(digest)
    return python


def environment() -> dict[str, str]:
    """Nothing of the caller's that a peer might read, and nothing fetched at start. litellm ships the vocabulary that
    mcp-open-client would fetch."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    kept["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    for vocabulary in HOME.glob("litellm/lib/*/site-packages/litellm/litellm_core_utils/tokenizers"):
        kept.setdefault("TIKTOKEN_CACHE_DIR", str(vocabulary))
    return kept


def _run(command: Sequence[Path | str]) -> None:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise NotInstalled(_last_error(done.stderr) or f"{Path(command[0]).name} ended with {done.returncode}")


def _last_error(told: str) -> str:
    lines = [line.strip() for line in told.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines
    return re.sub(r"\w+://\S+", "(address)", errors[-1])[:200] if errors else ""
