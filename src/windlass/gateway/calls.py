"""One call of a program, followed from its turn's beginning to its end: progress is passed on, what is asked is asked
where it can be answered, and a program that takes its call back stops the turn."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from typing import Any, Literal

from windlass.api import schemas
from windlass.bus import Frame
from windlass.bus.streams import Stream
from windlass.core.errors import WindlassError
from windlass.core.ports import InputNeeded, ToolProgress
from windlass.core.values import value_object
from windlass.gateway import questions
from windlass.gateway.results import call_result
from windlass.gateway.sdk import MCPError, ServerSession, anyio, types
from windlass.services.gateway import Caller, Gateway

HEARTBEAT_S = 10.0  # programs give up on a call that says nothing for a minute
STEP = 1e-6  # of progress that is none: its numbers must grow
Answer = types.CallToolResult | types.InputRequiredResult


@value_object
class Peer:
    """The other end of one request. `by_return`: its protocol takes no requests from a server; what is asked is the
    answer, and the call is sent again with what was said."""

    caller: Caller
    session: ServerSession
    request_id: types.RequestId
    modes: questions.Modes
    by_return: bool
    page: str = ""  # where people decide, if anywhere

    def takes(self, kind: str, approve: Literal["page", "client"], question: InputNeeded | None) -> bool:
        """Whether this is asked of the program's own person."""
        if kind == "approval":
            return approve == "client" and self.caller.may_approve and self.modes.form
        if kind != "input" or question is None:
            return False
        return self.modes.url and _is_web(question.url) if question.url else self.modes.form


class FollowedCall:
    def __init__(self, gateway: Gateway, peer: Peer, turn_id: str) -> None:
        self._gateway = gateway
        self._peer = peer
        self._turn_id = turn_id
        self._progress = 0.0
        self._asking: asyncio.Task[None] | None = None
        self._asked: tuple[str, str] | None = None  # kind and question of what is asked now

    async def answer(self) -> Answer:
        try:
            if (asked := await self._follow()) is not None:
                return asked
        except asyncio.CancelledError:  # the program took its call back, or is gone
            with anyio.CancelScope(shield=True):
                await self._gateway.stop(self._turn_id)
            raise
        finally:
            self._stop_asking()
        return await call_result(self._gateway, self._gateway.record(self._turn_id))

    async def respond(self, mark: str, responses: types.InputResponses) -> None:
        """What the program's person said to the question that the call was given back with. If something else is asked
        by now, it is no answer to that."""
        pending = self._gateway.pending(self._turn_id)
        if pending is None or mark != _mark(pending):
            return
        answer = responses.get(self._key(pending))
        if isinstance(answer, types.ElicitResult):
            await self._settle(pending, answer)

    async def _follow(self) -> types.InputRequiredResult | None:
        stream = self._gateway.watch(self._turn_id)
        try:
            while not stream.ended:
                if (asked := await self._ask_anew()) is not None:
                    return asked
                for frame in await self._frames(stream):
                    stream.passed(frame)
                    await self._pass_on(frame)
        finally:
            stream.close()
        return None

    async def _frames(self, stream: Stream) -> list[Frame]:
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                return await stream.frames()
        except TimeoutError:
            await self._report_wait()
            return []

    async def _pass_on(self, frame: Frame) -> None:
        match frame.what:
            case ToolProgress(progress=progress, total=total, message=message):
                self._progress = max(progress, self._progress + STEP)
                await self._peer.session.report_progress(self._progress, total, message or None)
            case InputNeeded() if self._asking is None or self._asking.done():
                self._asked = None  # the same question may be asked again

    async def _ask_anew(self) -> types.InputRequiredResult | None:
        """Put what is asked now where it can be answered, unless that is done already."""
        pending = self._gateway.pending(self._turn_id)
        key = (pending.kind, str(pending.question)) if pending else None
        if key == self._asked:
            return None
        self._stop_asking()
        self._asked = key
        if pending is None:
            return None
        question = self._gateway.record(self._turn_id).questions.get(pending.call_id)
        if not self._peer.takes(pending.kind, self._gateway.approve, question):
            await self._report_wait()
        elif self._peer.by_return:
            return self._to_be_answered(pending, question)
        else:
            self._asking = asyncio.create_task(self._ask(pending, question))
        return None

    def _stop_asking(self) -> None:
        if self._asking:
            self._asking.cancel()
            self._asking = None

    def _to_be_answered(self, pending: schemas.PendingCall, question: InputNeeded | None) -> types.InputRequiredResult:
        request = types.ElicitRequest(params=self._params(pending, question))
        state = f"{self._turn_id}.{_mark(pending)}"
        return types.InputRequiredResult(input_requests={self._key(pending): request}, request_state=state)

    def _key(self, pending: schemas.PendingCall) -> str:
        return self._gateway.question_key(pending.call_id) or pending.kind

    async def _ask(self, pending: schemas.PendingCall, question: InputNeeded | None) -> None:
        params = self._params(pending, question)
        session, id = self._peer.session, self._peer.request_id
        try:
            if isinstance(params, types.ElicitRequestURLParams):
                answer = await session.elicit_url(params.message, params.url, params.elicitation_id or "", id)
            else:
                answer = await session.elicit_form(params.message, params.requested_schema, id)
            await self._settle(pending, answer)
        except (MCPError, ValueError, WindlassError):  # it cannot ask after all, or what it answered does not fit
            await self._unanswered(pending)

    def _params(self, pending: schemas.PendingCall, question: InputNeeded | None) -> questions.Params:
        if question:
            return questions.forwarded(question, pending.server_slug)
        return questions.approval(pending, self._peer.caller.name)

    async def _settle(self, pending: schemas.PendingCall, answer: types.ElicitResult) -> None:
        caller = self._peer.caller
        if pending.kind == "input":
            await self._gateway.answer(caller, self._turn_id, pending.call_id, questions.answered(answer))
        elif decision := questions.decision(answer):
            await self._gateway.decide(caller, self._turn_id, pending, allow=decision == "allow")
        else:
            await self._unanswered(pending)

    async def _unanswered(self, pending: schemas.PendingCall) -> None:
        """It stays on the page; where there is none, nobody else could ever decide."""
        if self._peer.page:
            return await self._report_wait()
        if pending.kind == "input":
            cancel = schemas.InputAnswer("cancel")
            await self._gateway.answer(self._peer.caller, self._turn_id, pending.call_id, cancel)
        else:
            await self._gateway.decide(self._peer.caller, self._turn_id, pending, allow=False)

    async def _report_wait(self) -> None:
        pending = self._gateway.pending(self._turn_id)
        self._progress += STEP
        await self._peer.session.report_progress(self._progress, None, self._wait_text(pending))

    def _wait_text(self, pending: schemas.PendingCall | None) -> str | None:
        if pending is None:
            return None
        where = f" on {pending.server_slug}" if pending.server_slug else ""
        what = "has a question" if pending.kind == "input" else "needs approval"
        return f"{pending.name}{where} {what}. {f'Decide at {self._peer.page}' if self._peer.page else ''}".rstrip()


class LeftCalls:
    """Calls that were given back with a question. One that is not sent again is stopped: nobody waits for it."""

    def __init__(self, stop: Callable[[str], Any], patience_s: float) -> None:
        self._stop = stop
        self._patience_s = patience_s
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._stopping: set[asyncio.Task[Any]] = set()

    def leave(self, turn_id: str) -> None:
        self.take(turn_id)
        self._timers[turn_id] = asyncio.get_running_loop().call_later(self._patience_s, self._over, turn_id)

    def take(self, turn_id: str) -> None:
        if timer := self._timers.pop(turn_id, None):
            timer.cancel()

    def close(self) -> None:
        for turn_id in list(self._timers):
            self.take(turn_id)

    def _over(self, turn_id: str) -> None:
        self._timers.pop(turn_id, None)
        task = asyncio.ensure_future(self._stop(turn_id))
        self._stopping.add(task)
        task.add_done_callback(self._stopping.discard)


def _mark(pending: schemas.PendingCall) -> str:
    """Of one question."""
    asked = json.dumps([pending.kind, pending.call_id, str(pending.question), str(pending.question_schema)])
    return hashlib.blake2b(asked.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _is_web(url: str) -> bool:
    return url.startswith(("https://", "http://"))
