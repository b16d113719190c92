"""What a model is given: its times, and its key."""

from pathlib import Path

from tests.kit.recorder import recorder
from tests.web.kit import Site, open_site
from windlass.config import LimitSettings
from windlass.services.providers import patience_of

KEY = "key-canary-of-the-test"


def test_models_get_the_seeds_times_unless_the_operator_says_otherwise() -> None:
    usual = patience_of(LimitSettings())
    assert (usual.connect_s, usual.first_byte_s, usual.silence_s) == (60, 240, 240)
    assert patience_of(LimitSettings(first_byte_s=5)).first_byte_s == 5


async def test_f2_a_key_does_not_follow_its_provider_to_another_address(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site, recorder() as old, recorder() as new:
        made = {"name": "Mine", "base_url": f"{old.url}/v1", "api_key": KEY, "model": "m"}
        path = f"/providers/{(await site.post('/providers', made))['provider']['id']}"
        same = (await site.call("PATCH", path, {"base_url": f"{old.url}/v2/"})).body
        assert same["provider"]["has_key"] and same["message"] == "Provider changed"
        await site.post(f"{path}/test")
        assert KEY in str(old.heads)

        moved = (await site.call("PATCH", path, {"base_url": f"{new.url}/v1"})).body
        assert not moved["provider"]["has_key"] and "key" in moved["message"] and KEY not in site.app.vault.values()
        await site.post(f"{path}/test")
        await site.call("PATCH", path, {"name": "Renamed"})
        await site.call("GET", f"{path}/models")
        assert new.heads and KEY not in str(new.heads)

        back = (await site.call("PATCH", path, {"base_url": old.url})).body
        assert not back["provider"]["has_key"] and back["message"] == "Provider changed"


async def test_f2_a_key_that_is_given_again_goes_to_the_new_address(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site, recorder() as new:
        made = {"name": "Mine", "base_url": "http://127.0.0.1:9/v1", "api_key": "old-key", "model": "m"}
        path = f"/providers/{(await site.post('/providers', made))['provider']['id']}"
        moved = (await site.call("PATCH", path, {"base_url": f"{new.url}/v1", "api_key": KEY})).body
        assert moved["provider"]["has_key"] and moved["message"] == "Provider changed"
        await site.post(f"{path}/test")
        assert KEY in str(new.heads) and "old-key" not in str(new.heads)


async def test_the_demos_tools_leave_new_chats_when_a_real_model_is_connected(tmp_path: Path) -> None:
    async with open_site(tmp_path / "home") as site, recorder() as real:
        before = await site.conversation()
        assert await enabled_in(site, before) >= {"calculate", "read_file"}
        named = await site.conversation()
        await site.enable(named, "calculate", server="demo")
        new = {"name": "Mine", "base_url": f"{real.url}/v1", "model": "m", "default": True}
        made = (await site.post("/providers", new))["provider"]
        assert await enabled_in(site, await site.conversation()) == set()
        assert await enabled_in(site, named) == {"calculate"}
        assert (await site.call("DELETE", f"/providers/{made['id']}")).status == 200
        assert await enabled_in(site, await site.conversation()) >= {"calculate", "read_file"}


async def enabled_in(site: Site, conversation: str) -> set[str]:
    found = await site.get(f"/conversations/{conversation}/tools/available")
    return {tool["tool_name"] for tool in found["available_tools"] if tool["enabled"]}
