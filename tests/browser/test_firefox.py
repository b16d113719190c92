"""The main flow in the Firefox that people have: a tool turn allowed by key, its answer, and every page."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.browser.visit import ledger_table, write_settings
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, call, say

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(240)]
ANSWER = "It is kept: $a^2 + b^2$.\n\n| fruit | price |\n|---|---:|\n| quince | 3 |"
SCRIPT = Path(__file__).with_name("firefox.mjs")
HEADINGS = ["Permissions", "Servers", "Models", "Settings", "Account", "Activity"]


async def test_the_main_flow_works_in_firefox_with_an_empty_console(tmp_path: Path, ledger: Ledger) -> None:
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    assert firefox, "No Firefox here: run make test-tools."
    write_settings(tmp_path / "home", {"servers.ledger": {**ledger_table(ledger), "approval": "ask"}})
    async with (
        StrictLLM([call("record", effect_id="e1"), say(ANSWER)]) as llm,
        windlass(tmp_path / "home", env=model_settings(llm.base_url)) as server,
    ):
        await server.running("ledger")
        home = {**os.environ, "HOME": str(tmp_path)}
        program = await asyncio.create_subprocess_exec(
            *("node", SCRIPT, firefox, server.login_url, os.environ.get("FIREFOX_PICTURES", "")),
            stdout=asyncio.subprocess.PIPE,
            env=home,
        )
        printed, _ = await program.communicate()
    assert program.returncode == 0, printed.decode()
    seen = json.loads(printed)
    assert seen["console"] == [] and seen["outside"] == []
    assert list(seen["pages"].values()) == HEADINGS
    for look in (seen["answer"], seen["reloaded"]):
        assert "It is kept" in look["answer"] and look["formula"] > 20 and look["cells"] == ["quince", "3"]
        [[left, right], [box_left, box_right]] = look["edges"]
        assert abs(left - box_left) <= 0.5 and abs(right - box_right) <= 0.5
    assert ledger.counts() == {"e1": 1}
