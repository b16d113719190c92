"""A provider that refuses: twenty conversations wait for it, each says why, and they are answered in their order."""

import asyncio
from collections import defaultdict
from pathlib import Path

from tests.kit.loop_clock import LoopClock
from tests.kit.waiting import turns_of_the_loop, until
from windlass.api import schemas
from windlass.app import App, open_app
from windlass.config import Config, LimitSettings, ProviderSettings
from windlass.core.ports import Waiting
from windlass.providers.limiter import AFTER_PAUSE
from windlass.testing import StrictLLM, error, say
from windlass.testing.recording import RecordedRequest
from windlass.testing.replies import Scripted

COUNT = 20
WINDOW_S = 30.0
STEP_S = 0.05


class Turnstile:
    """A provider that takes so many requests in each window of time."""

    def __init__(self, room: int) -> None:
        self._room = self._left = room
        self.open_at = 0.0
        self.accepted: list[int] = []

    def __call__(self, request: RecordedRequest) -> Scripted:
        now = asyncio.get_running_loop().time()
        if now >= self.open_at:
            self._left, self.open_at = self._room, now + WINDOW_S
        if not self._left:
            wait = {"Retry-After": f"{self.open_at - now + 1:.0f}"}
            return error(429, "1302", "Too many requests", wait)
        self._left -= 1
        self.accepted.append(int(request.messages[-1]["content"].removeprefix("Number ")))
        return say("Yes.")


async def begin(app: App, number: int) -> str:
    made = (await app.services.conversations.create(schemas.NewConversation())).conversation.id
    stream = await app.services.turns.chat_watched(made, schemas.ChatRequest(f"Number {number}"))
    stream.close()
    return app.store.conversations.turns(made)[0].id


async def test_a_storm_of_refusals_drains_in_order_and_each_turn_says_why_it_waits(
    tmp_path: Path, clock: LoopClock
) -> None:
    provider = Turnstile(room=5)
    waits: defaultdict[str, set[str]] = defaultdict(set)
    async with StrictLLM(provider, dialect="zai") as llm:
        settings = ProviderSettings(llm.base_url, "glm-4.7", "key-of-the-tests", name="zai")
        config = Config(home=tmp_path, providers=[settings], limits=LimitSettings(at_once=64))
        async with open_app(config, grace_s=0) as app:
            app.bus.listen(Waiting, lambda turn_id, waiting: waits[turn_id].add(f"{waiting.for_} {waiting.model}"))
            turns = [await begin(app, number) for number in range(COUNT)]

            def stands_still() -> bool:
                unfinished = [one for one in turns if app.store.conversations.turn(one).state != "finished"]
                return all(
                    (found := app.bus.waiting(one)) and found.for_ in ("rate_limit", "slot") for one in unfinished
                )

            while app.runner.running:
                await turns_of_the_loop(3)
                await until(stands_still, "every turn to be answered or to wait")
                left_s = provider.open_at - asyncio.get_running_loop().time()
                clock.jump(left_s if left_s > 0 else STEP_S)
            outcomes = {app.store.conversations.turn(one).outcome for one in turns}
    assert outcomes == {"answered"}
    # Those that are let in together arrive as their connections happen to; nobody falls back further than that.
    assert all(abs(place - number) <= AFTER_PAUSE for place, number in enumerate(provider.accepted))
    assert sorted(provider.accepted) == list(range(COUNT))
    assert len(llm.requests) <= 2 * COUNT
    assert all("rate_limit glm-4.7" in waits[turns[number]] for number in provider.accepted[5:])
    assert not any(waits[turns[number]] for number in provider.accepted[:5])
