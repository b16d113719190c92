"""Pictures and sounds of tools through the whole server, up to the very bytes that a strict model server is sent."""

import asyncio
import base64
import json
import struct
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from tests.e2e.test_prompt_growth import begins_with
from tests.kit import real_servers
from tests.kit.ledger.pictures import png
from tests.kit.ledger_file import Ledger
from tests.kit.windlass_process import WindlassProcess, windlass
from tests.search.kit import site
from windlass.testing import Gate, StrictLLM, call, say, wait_for
from windlass.testing.strict_history import OPENAI

MESSAGES: TypeAdapter[list[ChatCompletionMessageParam]] = TypeAdapter(list[ChatCompletionMessageParam])


def picture(data: bytes, mime: str = "image/png", kind: str = "image") -> dict[str, str]:
    return {"type": kind, "mimeType": mime, "data": base64.b64encode(data).decode()}


def shows(*content: object, tool: str = "echo") -> Any:
    """A call whose result is this content."""
    return call(tool, result={"content": list(content)})


def data_url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def urls(parts: list[dict[str, Any]]) -> list[str]:
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]


def settings(home: Path, llm: StrictLLM, ledger: Ledger, *lines: str, model: str = "seer", **others: list[str]) -> None:
    """`lines` stand in the provider's table, and may begin others; `others` are further servers."""
    home.mkdir(parents=True, exist_ok=True)
    servers = {"ledger": ledger.argv(), **others}
    tables = [
        f'[servers.{name}]\ncommand = "{command}"\nargs = {json.dumps(args)}\ntools = "*"\napproval = "auto"'
        for name, (command, *args) in servers.items()
    ]
    provider = ["[provider]", f'base_url = "{llm.base_url}"', f'model = "{model}"', 'api_key = "key"', *lines]
    (home / "windlass.toml").write_text("\n".join([*tables, *provider]))


class Chat:
    def __init__(self, server: WindlassProcess, llm: StrictLLM, conversation: str) -> None:
        self.server, self.llm, self.id = server, llm, conversation
        self.moved: list[list[str]] = []

    async def ask(self, content: str, *replies: Any) -> dict[str, Any]:
        self.llm.then(*replies)
        answer = await self.server.post(f"/conversations/{self.id}/chat", {"content": content})
        assert answer["success"] and not self.llm.unused, answer
        log = (await self.server.get(f"/turns/{answer['turn_id']}/log"))["events"]
        self.moved += [event["moved"] for event in log if event["event"] == "model_replied"]
        return dict(answer)


async def begun(server: WindlassProcess, llm: StrictLLM, *servers: str) -> Chat:
    await server.running("ledger", *servers)
    return Chat(server, llm, (await server.post("/conversations", {}))["conversation"]["id"])


@pytest.fixture
async def chat(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> AsyncIterator[Chat]:
    """With a model of which nobody says whether it sees."""
    settings(tmp_path / "home", strict_llm, ledger)
    async with windlass(tmp_path / "home") as server:
        yield await begun(server, strict_llm)


async def test_pictures_of_two_servers_in_one_round_stand_behind_all_results_of_it(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """Both have a tool `echo`."""
    mine = png(1)
    settings(tmp_path / "home", strict_llm, ledger, everything=real_servers.everything())
    both = shows(picture(mine), {"type": "text", "text": "mine"}, tool="ledger__echo") + call("get-tiny-image")
    async with windlass(tmp_path / "home") as server:
        await (await begun(server, strict_llm, "everything")).ask("Look", both, say("A dot and a logo."))
    request = strict_llm.requests[-1]
    assert [message["role"] for message in request.messages[-4:]] == ["assistant", "tool", "tool", "user"]
    [parts] = request.pictures
    logo = real_logo()
    assert urls(parts) == [data_url(mine), f"data:image/png;base64,{logo}"]
    MESSAGES.validate_python(request.messages)
    results = request.messages[-3:-1]
    for result, at in zip(results, (0, 4), strict=True):
        assert f"call {result['tool_call_id']}:" in parts[at]["text"]
        opening, closing = result["content"].splitlines()[0], result["content"].splitlines()[-1]
        assert (parts[at + 1]["text"], parts[at + 3]["text"]) == (opening, closing)  # the same fence, of untrusted text
        assert 'trust="untrusted"' in opening
    assert "[image, image/png, " in results[0]["content"] and "shown to the person" not in results[0]["content"]


async def test_a_picture_in_the_past_stays_where_it_is_byte_for_byte(chat: Chat) -> None:
    await chat.ask("Look", shows(picture(png(1))), say("A dot."))
    await chat.ask("And now?", shows({"type": "text", "text": "nothing"}), shows(picture(png(2))), say("Another."))
    await chat.ask("Thanks", say("You are welcome."))
    assert chat.moved == [[]] * 6
    requests = chat.llm.requests
    assert all(begins_with(later, before) for before, later in pairwise(requests))
    assert [urls(parts) for parts in requests[-1].pictures] == [[data_url(png(1))], [data_url(png(2))]]


async def test_a_model_without_sight_is_told_in_words(tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger) -> None:
    settings(tmp_path / "home", strict_llm, ledger, '[provider.models."blind*"]', "images = false", model="blind-1")
    async with windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm)
        await chat.ask("Look", shows(picture(png(1)), picture(png(2))), say("I cannot see."))
        await chat.ask("Sure?", say("Yes."))
        assert chat.moved == [[], [], []]
    request = strict_llm.requests[-1]
    [result] = [message["content"] for message in request.messages if message["role"] == "tool"]
    assert result.splitlines()[-2:] == [
        f"[image {n}, image/png, {len(png(1))} B: blind-1 does not take pictures; it is shown to the person]"
        for n in (1, 2)
    ]
    assert request.pictures == [] and "base64" not in json.dumps(request.messages)


async def test_a_model_whose_maker_says_that_it_is_blind_is_not_tried(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    settings(tmp_path / "home", strict_llm, ledger, model="glm-4.7")
    async with windlass(tmp_path / "home") as server:
        await (await begun(server, strict_llm)).ask("Look", shows(picture(png(1))), say("I cannot see."))
    assert "glm-4.7 does not take pictures" in strict_llm.requests[-1].results[0]
    assert len(strict_llm.requests) == 2


async def test_a_provider_that_refuses_a_picture_is_asked_once_more_without(tmp_path: Path, ledger: Ledger) -> None:
    rules = replace(OPENAI, images=False)
    async with StrictLLM(rules=rules) as llm:
        settings(tmp_path / "home", llm, ledger)
        async with windlass(tmp_path / "home") as server:
            chat = await begun(server, llm)
            await chat.ask("Look", shows(picture(png(1))), say("I cannot see."))
            await chat.ask("Look again", shows(picture(png(2))), say("I cannot see."))
            assert chat.moved == [[]] * 4
    assert len(llm.refused) == 1 and len(llm.requests) == 5
    assert llm.requests[1].pictures and not llm.requests[2].pictures
    assert "seer does not take pictures" in llm.requests[2].results[0]


async def test_one_broken_picture_does_not_blind_a_model_that_took_another(chat: Chat) -> None:
    broken = bytearray(png(2))
    broken[45] ^= 1  # in the checksum of its pixels
    await chat.ask("Look", shows(picture(png(1))), say("A dot."))
    await chat.ask("And this?", shows(picture(bytes(broken))), say("I cannot see it."))
    await chat.ask("And this?", shows(picture(png(3))), say("Another dot."))
    assert len(chat.llm.refused) == 1 and chat.moved == [[]] * 6
    request = chat.llm.requests[-1]
    assert [urls(parts) for parts in request.pictures] == [[data_url(png(1))], [data_url(png(3))]]
    assert "the provider of seer refused it" in json.dumps(request.messages)
    chat.llm.refused.clear()


async def test_what_is_no_such_picture_is_named_in_words(chat: Chat) -> None:
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    liar = picture(b"GIF87a or not, it says it is a PNG", mime="image/png\r\nX: y")
    others = picture(drawing, "image/svg+xml"), picture(b"no picture"), picture(png(1)[:40]), liar
    await chat.ask("Look", shows(*others, picture(png(1), "image/webp")), say("One dot."))
    request = chat.llm.requests[-1]
    [parts] = request.pictures
    MESSAGES.validate_python(request.messages)
    assert [url.partition(",")[0] for url in urls(parts)] == ["data:image/gif;base64", "data:image/png;base64"]
    lines = request.messages[-2]["content"].splitlines()
    assert lines[1] == "[image, image/svg+xml, 41 B: models do not take image/svg+xml; it is shown to the person]"
    assert all("it is not image/png, whatever the tool says" in line for line in lines[2:4])
    assert lines[4:6] == ["[image 1, image/gif, 34 B]", f"[image 2, image/png, {len(png(1))} B]"]


async def test_a_picture_of_6_mib_is_named_in_words_and_kept_for_the_person(chat: Chat) -> None:
    answer = await chat.ask("Look", call("big", kind="image", megabytes=6), say("Too large."))
    [result] = chat.llm.requests[-1].results
    assert "A large picture." in result and "too large for a request; it is shown to the person" in result
    assert len(result) < 2000 and not chat.llm.requests[-1].pictures
    [call_] = (await chat.server.get(f"/turns/{answer['turn_id']}"))["turn"]["calls"]
    kept = await chat.server.get(f"/results/{call_['result_id']}?length=1000000")
    assert kept["size"] > 8_000_000 and base64.b64encode(png(padding=3000)[:900]).decode()[:60] in kept["text"]


async def test_older_pictures_beyond_the_budget_become_words_and_the_log_says_so(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    settings(tmp_path / "home", strict_llm, ledger, "[limits]", "pictures = 4")
    async with windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm)
        for number in range(8):
            await chat.ask("Look", shows(picture(png(number))), say("A dot."))
    requests = strict_llm.requests
    for number, (before, later) in enumerate(pairwise(requests), 1):
        assert begins_with(later, before) == (not chat.moved[number]), number
    assert [number for number, moved in enumerate(chat.moved) if moved] == [9, 15]  # not with every picture
    assert chat.moved[9] == ["pictures"]
    shown = [urls(parts) for parts in requests[9].pictures]
    assert shown == [[data_url(png(3))], [data_url(png(4))]]
    assert "left out in favour of newer ones" in json.dumps(requests[9].messages)


async def test_sounds_go_to_models_that_are_known_to_hear(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    wav = b"RIFF\x24\0\0\0WAVEfmt " + bytes(28)
    settings(tmp_path / "home", strict_llm, ledger, "[provider.models.ears]", "audio = true")
    async with windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm)
        await chat.ask("Listen", shows(picture(wav, "audio/wav", "audio")), say("I cannot hear."))
        await server.call("PATCH", f"/conversations/{chat.id}", {"model": "provider-1/ears"})
        await chat.ask("Listen again", say("A hum."))
    deaf, hears = strict_llm.requests[-2:]
    assert "[audio, audio/wav, 44 B: seer does not take sound; it is shown to the person]" in deaf.results[0]
    [[_, _, sound, _]] = hears.pictures
    assert sound == {
        "type": "input_audio",
        "input_audio": {"data": base64.b64encode(wav).decode(), "format": "wav"},
    }
    MESSAGES.validate_python(hears.messages)
    assert chat.moved == [[], [], ["model"]]


async def test_a_turn_that_was_interrupted_goes_on_with_the_same_pictures(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    settings(tmp_path / "home", strict_llm, ledger)
    strict_llm.then(shows(picture(png(1))), wait_for(Gate()) + say("Never said."))
    async with windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm)
        starting = asyncio.create_task(server.call("POST", f"/conversations/{chat.id}/chat", {"content": "Look"}))
        await strict_llm.arrived(2)
        await server.kill()
        with pytest.raises(aiohttp.ClientError):
            await starting
        strict_llm.then(say("A dot."))
        await server.start()
        again = await strict_llm.arrived(3)
        turns = (await server.get(f"/conversations/{chat.id}/turns"))["turns"]
        assert (await server.settled(turns[0]["id"]))["answer"] == "A dot."
    assert again.messages == strict_llm.requests[1].messages and len(again.pictures) == 1


async def test_the_inspector_shows_where_a_picture_stood_without_its_bytes(chat: Chat) -> None:
    answer = await chat.ask("Look", call("big", kind="image", megabytes=1), say("A dot."))
    path = f"/turns/{answer['turn_id']}/prompt?request=2"
    shown = (await chat.server.get(path))["body"]
    assert len(json.dumps(shown)) < 50_000
    [parts] = [message["content"] for message in shown["messages"] if isinstance(message["content"], list)]
    [call_] = (await chat.server.get(f"/turns/{answer['turn_id']}"))["turn"]["calls"]
    assert urls(parts) == [f"data:image/png;base64,(1,049 kB, part 1 of {call_['result_id']})"]
    sent = chat.llm.requests[-1].messages
    sent[-1]["content"][2]["image_url"]["url"] = urls(parts)[0]
    assert shown["messages"] == sent


async def test_a_picture_whose_message_was_deleted_is_gone_and_the_log_says_so(chat: Chat) -> None:
    await chat.ask("Look", shows(picture(png(1))), say("A dot."))
    messages = (await chat.server.get(f"/conversations/{chat.id}/messages"))["messages"]
    [result] = [message["id"] for message in messages if message["role"] == "tool"]
    await chat.server.call("DELETE", f"/conversations/{chat.id}/messages/{result}")
    await chat.ask("And now?", say("Nothing."))
    assert not chat.llm.requests[-1].pictures and chat.moved[-1] == ["deleted"]


async def test_a_picture_whose_file_was_lost_is_named_in_words(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    settings(tmp_path / "home", strict_llm, ledger)
    async with windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm)
        await chat.ask("Look", call("big", kind="image", megabytes=1), say("A dot."))
        await server.stop()
        [kept] = (tmp_path / "home" / "blobs" / chat.id).iterdir()
        kept.unlink()
        await server.start()
        await chat.ask("And now?", say("Nothing."))
    assert "image/png, 1,049 kB: it is no longer kept]" in json.dumps(strict_llm.requests[-1].messages)
    assert chat.moved[-1] == ["pictures"]


async def test_at_the_limit_of_rounds_pictures_stay_beside_the_results_in_plain_words(chat: Chat) -> None:
    """The request after that offers no tools, and its history holds no calls."""
    late = shows(picture(png(9))).anyway()
    chat.llm.then(shows(picture(png(1))), shows(picture(png(2))), late, say("Two dots."))
    answer = await chat.server.post(f"/conversations/{chat.id}/chat", {"content": "Look", "max_rounds": 2})
    assert answer["outcome"] == "limit" and answer["assistant_message"]["content"] == "Two dots."
    request = chat.llm.requests[-1]
    assert not request.tools and {message["role"] for message in request.messages} == {"system", "user", "assistant"}
    mixed = [message["content"] for message in request.messages if isinstance(message["content"], list)]
    assert [urls(parts) for parts in mixed] == [[data_url(png(1))], [data_url(png(2))]]
    MESSAGES.validate_python(request.messages)


async def test_a_tool_that_is_called_by_hand_gives_its_files(chat: Chat) -> None:
    content = [picture(png(1), "image/jpeg"), {"type": "resource", "resource": {"uri": "file:///é.txt", "text": "é"}}]
    asked = {"name": "echo", "arguments": {"result": {"content": content}}}
    listed = (await chat.server.post("/servers/ledger/tools/call", asked))["result"]["files"]
    assert [(file["kind"], file["mime"], file["size"]) for file in listed] == [
        ("image", "image/png", len(png(1))),
        ("file", "", 2),
    ]
    assert all("data" not in file for file in listed)
    whole = (await chat.server.post("/servers/ledger/tools/call", {**asked, "file_data": True}))["result"]["files"]
    assert [base64.b64decode(file["data"]) for file in whole] == [png(1), "é".encode()]


async def test_an_export_says_which_pictures_it_leaves_out_also_after_an_import(chat: Chat) -> None:
    answer = await chat.ask("Look", shows(picture(png(1)), {"type": "text", "text": "a dot"}), say("A dot."))
    exported = await chat.server.get(f"/conversations/{chat.id}/export")
    [result] = [message for message in exported["messages"] if message["role"] == "tool"]
    left_out = f"[Left out of the export: image image/png, {len(png(1))} bytes]"
    assert result["content"].endswith(left_out) and [file["index"] for file in result["files"]] == [0]
    [call_] = (await chat.server.get(f"/turns/{answer['turn_id']}"))["turn"]["calls"]
    assert call_["files"] == result["files"] and result["files"][0]["result_id"] == call_["result_id"]
    taken = await chat.server.post("/conversations/import", exported)
    copy = Chat(chat.server, chat.llm, taken["conversation"]["id"])
    await copy.ask("What was it?", say("I no longer see it."))
    request = chat.llm.requests[-1]
    assert left_out in json.dumps(request.messages) and not request.pictures


async def test_openai_clients_get_answers_from_models_that_saw_the_pictures(chat: Chat) -> None:
    """A round that was handed over and comes back holds the pictures of the server's own calls."""
    own = {"type": "function", "function": {"name": "mine", "parameters": {"type": "object", "properties": {}}}}
    asked = {"model": "seer", "tools": [own], "messages": [{"role": "user", "content": "Look"}]}
    headers = {"x-windlass-tools": "ledger.echo"}
    chat.llm.then(shows(picture(png(1))) + call("mine"))
    first = (await chat.server.call("POST", "/v1/chat/completions", asked, **headers)).body
    [handed] = first["choices"][0]["message"]["tool_calls"]
    result = {"role": "tool", "tool_call_id": handed["id"], "content": "mine too"}
    asked["messages"] = [*asked["messages"], first["choices"][0]["message"], result]
    chat.llm.then(say("A dot."))
    second = (await chat.server.call("POST", "/v1/chat/completions", asked, **headers)).body
    assert second["choices"][0]["message"]["content"] == "A dot."
    [parts] = chat.llm.requests[-1].pictures
    assert urls(parts) == [data_url(png(1))]
    MESSAGES.validate_python(chat.llm.requests[-1].messages)


def real_logo() -> str:
    script = Path(real_servers.everything()[1]).parent / "tools" / "get-tiny-image.js"
    return script.read_text().partition('MCP_TINY_IMAGE = "')[2].partition('"')[0]


@pytest.mark.npm
async def test_a_screenshot_of_a_real_browser_reaches_the_model(
    tmp_path: Path, strict_llm: StrictLLM, ledger: Ledger
) -> None:
    """Through the server that most people use for it, isolated as by default."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<body style='background: teal'><h1>High tide at noon</h1>", content_type="text/html")

    settings(tmp_path / "home", strict_llm, ledger, browser=real_servers.playwright())
    async with site(page) as pages, windlass(tmp_path / "home") as server:
        chat = await begun(server, strict_llm, "browser")
        looked = (
            call("browser_navigate", url=pages.url(path="/tides")),
            call("browser_take_screenshot", type="png", scale="css"),
        )
        await chat.ask("What does the page look like?", *looked, say("Teal."))
        [parts] = strict_llm.requests[-1].pictures
        [shown] = urls(parts)
        kept = (await server.get(f"/conversations/{chat.id}/messages"))["messages"]
    sent = base64.b64decode(shown.removeprefix("data:image/png;base64,"), validate=True)
    assert sent.startswith(b"\x89PNG") and min(struct.unpack(">II", sent[16:24])) > 200
    [file] = [file for message in kept for file in message.get("files", []) if file["kind"] == "image"]
    assert file["size"] == len(sent)
