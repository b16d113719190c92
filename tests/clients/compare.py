"""A client's driver run twice: straight at a strict model server that heeds every parameter, then through Windlass."""

import asyncio
import json
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.peers.environments import Spec, environment, python_of
from tests.web.kit import TOKEN, open_site
from windlass.testing import StrictLLM, heed

ROOT = Path(__file__).parents[2]
LONGEST_S = 120


@dataclass(frozen=True, slots=True)
class Client:
    package: str
    driver: str
    dialect: Literal["openai", "zai"] = "openai"

    @property
    def is_node(self) -> bool:
        return self.driver.endswith(".mjs")

    @property
    def version(self) -> str:
        if self.is_node:
            pins = json.loads((ROOT / "tests/clients/package.json").read_text())["dependencies"]
            return str(pins[self.package])
        found = re.search(rf"^{self.package}==(\S+)", (ROOT / "requirements/clients.txt").read_text(), re.MULTILINE)
        return found[1] if found else "?"

    def argv(self, python: Path) -> list[str]:
        if self.is_node:
            return [shutil.which("node") or "node", f"tests/clients/{self.driver}"]
        return [str(python), "-W", "ignore", "-m", f"tests.clients.{self.driver}"]


OPENAI, ZAI, OPENAI_NPM = (
    Client("openai", "openai_python"),
    Client("zai-sdk", "zai_sdk", "zai"),
    Client("openai", "openai_npm.mjs"),
)
CLIENTS = (
    OPENAI,
    OPENAI_NPM,
    Client("ai", "vercel_ai.mjs"),
    Client("langchain-openai", "langchain_client"),
    Client("pydantic-ai-slim", "pydantic_ai_client"),
    Client("instructor", "instructor_client"),
    Client("litellm", "litellm_client"),
    Client("llm", "llm_client"),
    ZAI,
)


def environment_of_clients() -> Path:
    """The interpreter of their own environment, which is made where it is not there."""
    return python_of(Spec("clients", ""), ROOT / "requirements", ROOT / ".cache")


async def both_ways(client: Client, home: Path, python: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    async with (
        StrictLLM(heed, models=["strict-model"], dialect=client.dialect) as llm,
        open_site(home, llm, durability="normal") as site,
    ):
        straight = await _driven(client, llm.base_url, "any-key", python)
        through = await _driven(client, f"{site.url}/v1", TOKEN, python)
    return straight, through


async def _driven(client: Client, url: str, key: str, python: Path) -> dict[str, Any]:
    env = {**environment(), "CLIENT_URL": url, "CLIENT_KEY": key, "OPENAI_API_KEY": key}
    process = await asyncio.create_subprocess_exec(
        *client.argv(python), cwd=ROOT, env=env, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            out, problems = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode == 0, problems.decode()[-2000:]
    found: dict[str, Any] = json.loads(out.decode().strip().splitlines()[-1])
    return found


def failures(report: dict[str, Any]) -> dict[str, Any]:
    """Scenarios that ended in an error."""
    return {
        name: found
        for name, found in report.items()
        if isinstance(found, str) and re.match(r"\w+(Error|Exception)\w*:", found)
    }


HERE = Path(sys.executable)
