"""A client that others wrote, unchanged: that of the TypeScript SDK, on which most desktop programs are built."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.test_stdio import settings
from tests.kit.ledger_file import Ledger
from tests.kit.waiting import PATIENCE_S
from tests.kit.windlass_process import windlass
from tests.servers.test_conformance import ROOT, node

SDK = ROOT / "tests" / "conformance" / "node_modules" / "@modelcontextprotocol" / "sdk"
DRIVER = Path(__file__).with_name("npm_client.mjs")


@pytest.mark.npm
async def test_the_npm_client_gets_the_same_over_http_and_over_the_bridge(tmp_path: Path, ledger: Ledger) -> None:
    home = tmp_path / "home"
    rule = ['[[policy]]\nserver = "ledger"\ntool = "destroy"\napproval = "ask"', '[gateway]\napprove = "client"']
    settings(home, ledger, *rule)
    async with windlass(home) as running:
        await running.running("ledger")
        env = {**os.environ, "CLIENT_TOKEN": running.token, "WINDLASS_HOME": str(home)}
        over_http = await driven(env, f"{running.url}/mcp/ledger")
        bridged = await driven(env, sys.executable, "-m", "windlass", "mcp", "--server", "ledger")
    # Over pipes this client drops progress that arrives in one piece with the answer: it handles notifications later.
    assert bridged.pop("steps")[0] == over_http["steps"][0]
    assert over_http.pop("steps") == ["1 step 1 of 2", "2 step 2 of 2"]
    assert over_http == bridged
    assert {"record", "progress"} <= set(over_http["tools"])
    assert over_http["kinds"] == ["image", "text", "resource_link"]
    assert over_http["allowed"] == "recorded a"
    assert "May npm client call destroy on ledger?" in over_http["asked"][0]


async def driven(env: dict[str, str], *target: str) -> dict[str, Any]:
    argv = [node(), str(DRIVER), str(SDK), *target]
    process = await asyncio.create_subprocess_exec(*argv, env=env, stdout=-1, stderr=-1)
    async with asyncio.timeout(PATIENCE_S):
        output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return json.loads(output)  # type: ignore[no-any-return]
