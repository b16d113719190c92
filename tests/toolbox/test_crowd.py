"""More tools than most providers take are offered all the same, and said to be too many; a strict model refuses."""

from pathlib import Path

import pytest

from tests.kit.ledger_file import Ledger
from tests.web.kit import open_site
from windlass.config import ServerSettings
from windlass.testing import StrictLLM, say


@pytest.mark.parametrize(("extra", "crowded"), [(120, False), (140, True)])
async def test_too_many_tools_are_warned_of(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger, caplog: pytest.LogCaptureFixture, extra: int, crowded: bool
) -> None:
    command, *args = ledger.argv("--only", "echo", "--extra", str(extra))
    servers = {"ledger": ServerSettings(command=command, args=args, tools="*")}
    async with open_site(tmp_path / "home", strict_llm, durability="normal", servers=servers) as site:
        await site.app.servers.wait_ready("ledger", 20)
        conversation = await site.conversation()
        found = await site.get(f"/conversations/{conversation}/tools/available")
        strict_llm.then(say("Hello."))
        await site.call("POST", f"/conversations/{conversation}/chat", {"content": "Hi"})
    assert bool(strict_llm.refused) == crowded
    strict_llm.refused.clear()
    words = f"{extra + 3} tools are offered; many models take 128 at most."
    assert found.get("warning", "") == (words if crowded else "")
    assert (words in caplog.text) == crowded
