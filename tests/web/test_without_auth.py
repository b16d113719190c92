"""`--no-auth` beside servers that could use it: any local program can approve calls, and the words say so."""

from pathlib import Path

import pytest

from tests.cli.conftest import Commands
from tests.web.kit import open_site
from windlass.config import SandboxSettings, ServerSettings
from windlass.core.errors import BadInput

STRICT = {"name": "far", "command": "true", "sandbox": "strict", "inside": {"network": True}}


async def test_f6_strict_isolation_with_network_is_refused_where_nobody_is_asked_for_a_token(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home", auth=False) as site:
        refused = await site.call("POST", "/servers", STRICT)
        assert (refused.status, refused.code) == (422, "open_to_all")
        assert "could approve its own calls" in refused.text and "add the server without network" in refused.text
        assert (await site.get("/servers"))["count"] == 1  # the demo's alone
        for kept in ({**STRICT, "inside": {}}, {**STRICT, "sandbox": "default"}):
            assert (await site.call("POST", "/servers", kept)).status == 201
        changed = await site.call("PATCH", "/servers/far", {"inside": {"network": True}})
        assert (changed.status, changed.code) == (422, "open_to_all")
    async with open_site(tmp_path / "other", auth=True) as site:
        assert (await site.call("POST", "/servers", STRICT)).status == 201


@pytest.mark.parametrize("from_file", [True, False], ids=["of the file", "added over the API"])
async def test_f6_a_start_without_a_token_is_refused_beside_such_a_server_until_its_advice_is_followed(
    tmp_path: Path, from_file: bool
) -> None:
    of_file = {"far": ServerSettings(command="true", sandbox="strict", inside=SandboxSettings(network=True))}
    if not from_file:
        async with open_site(tmp_path / "home") as site:
            await site.post("/servers", STRICT)
    with pytest.raises(BadInput, match="far: strict isolation with network") as refused:
        async with open_site(tmp_path / "home", auth=False, servers=of_file if from_file else {}):
            pass
    assert "without --no-auth" in refused.value.hint
    async with open_site(tmp_path / "home", servers=of_file if from_file else {}):
        pass  # with a token it starts
    if not from_file:
        assert "`windlass servers remove far`" in refused.value.hint
        assert Commands(tmp_path / "home")("servers", "remove", "far").code == 0
    without = {"far": ServerSettings(command="true", sandbox="strict")}
    assert not from_file or "`network = false` under `[servers.far.inside]`" in refused.value.hint
    async with open_site(tmp_path / "home", auth=False, servers=without if from_file else {}) as site:
        assert (await site.get("/servers"))["count"] == 1 + from_file
