"""Nine unchanged clients, each first straight at the strict model server, then through Windlass, with equal results.
Run in full it writes the table in docs/openai-clients.md."""

import os
import re
from pathlib import Path

import pytest

from benchmarks.peers.environments import NotInstalled
from tests.clients.compare import CLIENTS, ROOT, Client, both_ways, environment_of_clients, failures

PAGE = ROOT / "docs" / "openai-clients.md"
FULL = os.environ.get("SCALE") == "full"


@pytest.mark.skipif(not FULL, reason="only in the proof: the clients are installed into an environment of their own")
@pytest.mark.timeout(900)
async def test_every_client_gets_through_windlass_what_it_gets_straight(tmp_path: Path) -> None:
    try:
        python = environment_of_clients()
    except NotInstalled as why:
        pytest.skip(str(why))
    rows: list[str] = []
    unequal: dict[str, object] = {}
    for client in CLIENTS:
        straight, through = await both_ways(client, tmp_path / client.driver, python)
        assert failures(straight) == {}, f"{client.driver} straight"
        differing = [name for name in straight if through.get(name) != straight[name]]
        rows.append(_row(client, list(straight), differing))
        unequal |= {f"{client.driver} {name}": (straight[name], through.get(name)) for name in differing}
    _write(rows)
    assert unequal == {}


def test_the_page_lists_every_client_in_its_pinned_version() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \((\w+)\) \| (\S+) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(client.package, _kind(client), client.version) for client in CLIENTS]


def _kind(client: Client) -> str:
    return "npm" if client.is_node else "Python"


def _row(client: Client, scenarios: list[str], differing: list[str]) -> str:
    compared = ", ".join(name.replace("_", " ") for name in scenarios)
    equal = "all" if not differing else f"all but {', '.join(differing)}"
    return f"| `{client.package}` ({_kind(client)}) | {client.version} | {compared} | {equal} |"


def _write(rows: list[str]) -> None:
    table = "\n".join(["| client | version | compared | equal |", "|---|---|---|---|", *rows])
    text = PAGE.read_text()
    head, _, rest = text.partition("<!-- clients -->\n")
    tail = rest.partition("<!-- /clients -->")[2]
    PAGE.write_text(f"{head}<!-- clients -->\n{table}\n<!-- /clients -->{tail}")
