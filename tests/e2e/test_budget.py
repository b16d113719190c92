"""Token budgets: one for a turn, one for a day."""

from pathlib import Path

from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, say
from windlass.testing.replies import ScriptedUsage


async def test_a_spent_day_refuses_new_turns_in_clear_words(tmp_path: Path, strict_llm: StrictLLM) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "windlass.toml").write_text("[limits]\nday_tokens = 100\n")
    strict_llm.then(say("one").using(ScriptedUsage(60, 39)), say("two").using(ScriptedUsage(1, 1)))
    async with windlass(home, env=model_settings(strict_llm.base_url)) as server:
        conversation = (await server.post("/conversations", {}))["conversation"]["id"]
        await server.post(f"/conversations/{conversation}/chat", {"content": "a"})
        await server.post(f"/conversations/{conversation}/chat", {"content": "b"})
        refused = await server.call("POST", f"/conversations/{conversation}/chat", {"content": "c"})
        assert (refused.status, refused.body["error"]["code"]) == (503, "budget_spent")
        assert "101 of 100" in refused.body["error"]["message"]
        messages = (await server.get(f"/conversations/{conversation}/messages"))["messages"]
        assert "c" not in [message["content"] for message in messages]
