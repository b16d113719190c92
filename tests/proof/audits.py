"""What those who keep lists of known-vulnerable packages say of ours, and what our linter says of our code. The lists
are on the network: whoever cannot be asked is named with the reason, and counts for nothing."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.proof.figures import add

ROOT = Path(__file__).parents[2]
NPM = ("ui", "tests/node", "tests/conformance", "tests/clients")
PINS = ("run", "dev", "servers", "node", "clients")
PATIENCE_S = 120


def audit(figures: Path) -> None:
    add(figures, "linters", count=len(_linted()))
    add(figures, "audit", who="npm", **_npm())
    add(figures, "audit", who="pip", **_pip())


def _linted() -> list[Any]:
    """The linter has bandit's rules; S603 flags every subprocess call, safe or not."""
    rules = ("--select", "S", "--ignore", "S603", "--output-format", "json")
    return list(json.loads(_said([sys.executable, "-m", "ruff", "check", *rules, "src"])))


def _npm() -> dict[str, object]:
    high = packages = 0
    for folder in NPM:
        told = _read(_said(["npm", "--prefix", folder, "audit", "--json"]))
        if "metadata" not in told:
            return {"why": f"not run: no registry answers ({told.get('statusCode') or 'nothing said'})"}
        counts = told["metadata"]
        high += counts["vulnerabilities"]["high"] + counts["vulnerabilities"]["critical"]
        packages += counts["dependencies"]["total"]
    return {"high": high, "packages": packages}


def _pip() -> dict[str, object]:
    """It knows no degrees, so every finding counts as a high one."""
    if not (program := shutil.which("pip-audit")):
        return {"why": "not run: pip-audit is not installed"}
    options = ("--disable-pip", "--require-hashes", "--progress-spinner", "off", "-f", "json")
    files = [word for name in PINS for word in ("-r", f"requirements/{name}.txt")]
    found = _read(_said([program, *options, *files])).get("dependencies", [])
    asked = [one for one in found if "skip_reason" not in one]
    if len(asked) < len(found) or not found:
        return {"why": f"not run: no registry answers ({len(asked)} of {len(found)} could be looked up)"}
    return {"high": sum(bool(one["vulns"]) for one in asked), "packages": len(asked)}


def _said(argv: Sequence[str]) -> str:
    """Findings make such programs end with 1, so the exit code says nothing."""
    try:
        done = subprocess.run(
            argv, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False, timeout=PATIENCE_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout


def _read(text: str) -> dict[str, Any]:
    """Nothing, if it is not the report that was asked for."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
