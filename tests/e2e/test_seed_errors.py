"""The error scenarios of the seed, each in the second request, after a tool has run: the person reads what happened in
the seed's words, never an answer, and the conversation goes on."""

from pathlib import Path

import pytest

from tests.kit.windlass_process import model_settings, windlass
from windlass.testing import StrictLLM, call, error, hang, headers, raw_chunks, say
from windlass.testing.replies import Scripted

SETTINGS = "[limits]\nattempts = 1\nsilence_s = 0.3\n"
JSON = "application/json"


@pytest.mark.parametrize(
    ("second", "status", "code", "words"),
    [
        (headers() + hang(), 504, "timeout", ["timeout"]),
        (raw_chunks(b"Good morning", content_type="text/plain"), 502, "invalid_reply", ["invalid format"]),
        (raw_chunks(b"{not json", content_type=JSON), 502, "invalid_reply", ["invalid format"]),
        (say(""), 502, "empty_reply", ["returned empty content"]),
        (error(500, "1234", "boom"), 502, "server_error", ["HTTP 500", "boom"]),
        (error(401, "1001", "no"), 502, "auth", ["HTTP 401", "1001"]),
        (
            raw_chunks(b'{"weather": "fine", "id": 7}', content_type=JSON),
            502,
            "invalid_reply",
            ["unexpected response format", "unexpected keys", "id", "weather"],
        ),
    ],
    ids=["timeout", "no reply", "broken JSON", "empty content", "HTTP error", "refused key", "unexpected keys"],
)
async def test_a_failure_after_the_tool_is_told_in_the_seeds_words(
    tmp_path: Path, second: Scripted, status: int, code: str, words: list[str]
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "windlass.toml").write_text(SETTINGS)
    search = [{"title": "Nanaimo", "link": "http://10.0.0.7/", "content": "Rain."}]
    script: list[Scripted] = [call("web_search", query="weather"), second, say("Better now.")]
    async with StrictLLM(script, dialect="zai", coding_plan=True, search=search) as llm:
        async with windlass(home, env=model_settings(llm.base_url)) as server:
            conversation = (await server.post("/conversations", {}))["conversation"]["id"]
            path = f"/conversations/{conversation}/chat"
            failed = await server.call("POST", path, {"content": "// weather in Nanaimo"})
            after = await server.post(path, {"content": "And now?"})

    assert (failed.status, failed.body["success"], failed.body["outcome"]) == (status, False, "failed")
    assert failed.body["assistant_message"] is None
    told = failed.body["error"]
    assert told["code"] == code and told["hint"]
    assert all(word.casefold() in told["message"].casefold() for word in words), told["message"]
    assert after["assistant_message"]["content"] == "Better now."
    assert f"Model call failed: {code} (" in server.log
    assert llm.refused == []
