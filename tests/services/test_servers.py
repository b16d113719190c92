"""The secrets of a tool server: where they go."""

from pathlib import Path

import pytest

from tests.kit.recorder import recorder
from tests.web.kit import open_site

OLD = "header-canary-of-the-test"
NEW = "another-canary-of-the-test"


@pytest.mark.parametrize("given", ["nothing", "one of two", "a reference"])
async def test_f2_headers_do_not_follow_a_server_to_another_address(tmp_path: Path, given: str) -> None:
    async with open_site(tmp_path / "home") as site, recorder() as old, recorder() as new:
        headers = {"Authorization": OLD, "Authorization-Too": OLD}
        added = await site.post("/servers", {"name": "Far", "slug": "far", "url": f"{old.url}/mcp", "headers": headers})
        id = added["server"]["id"]
        await site.post("/servers/far/start")
        same = (await site.call("PATCH", "/servers/far", {"url": f"{old.url}/mcp/"})).body
        assert len(same["server"]["header_names"]) == 2 and same["message"] == "Server changed"
        assert OLD in str(old.heads)

        again = {"one of two": {"Authorization": NEW}, "a reference": _references(id)}.get(given)
        body = {"url": f"{new.url}/mcp"} | ({"headers": again} if again else {})
        moved = (await site.call("PATCH", "/servers/far", body)).body
        await site.post("/servers/far/start")

        assert "headers" in moved["message"] and OLD not in site.app.vault.values()
        assert moved["server"]["header_names"] == (["Authorization"] if given == "one of two" else [])
        assert new.heads and OLD not in str(new.heads) and (NEW in str(new.heads)) is (given == "one of two")


async def test_f2_a_refused_change_drops_no_header(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site:
        for slug in ("far", "near"):
            await site.post(
                "/servers", {"name": slug, "slug": slug, "url": "http://127.0.0.1:9", "headers": {"X": OLD}}
            )
        refused = await site.call("PATCH", "/servers/far", {"url": "http://127.0.0.1:10", "slug": "near"})
        assert refused.status == 409
        assert (await site.get("/servers/far"))["server"]["header_names"] == ["X"]
        assert site.app.vault.values() == [OLD, OLD]


def _references(id: str) -> dict[str, str]:
    return {name: f"secret:{id}/headers/{name}" for name in ("Authorization", "Authorization-Too")}
