"""The commands of the Makefile name things that exist."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_npm_script_that_make_runs_exists() -> None:
    scripts = json.loads((ROOT / "ui" / "package.json").read_text())["scripts"]
    named = set(re.findall(r"npm --prefix ui run (\w+)", (ROOT / "Makefile").read_text()))
    assert named and named <= set(scripts), f"not in ui/package.json: {named - set(scripts)}"
