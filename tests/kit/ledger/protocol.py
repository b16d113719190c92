"""MCP by hand, in both eras: the handshake (up to 2025-11-25) and the stateless one (2026-07-28)."""

import queue
import threading
from collections.abc import Callable
from itertools import count

from tests.kit.ledger.journal import Journal
from tests.kit.ledger.library import Library
from tests.kit.ledger.running import Call, Cancelled, InputNeeded, Json, RpcError
from tests.kit.ledger.toolbox import Toolbox

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
SERVER = {"name": "ledger", "version": "1.0.0"}
CAPABILITIES = {"tools": {"listChanged": True}}

Send = Callable[[Json], None]


class Protocol:
    """`receive` takes each message as it comes; calls run in threads, so that they overlap."""

    def __init__(
        self,
        stateless: bool,
        version: str | None,
        toolbox: Toolbox,
        journal: Journal,
        gate: str | None = None,
        library: Library | None = None,
    ) -> None:
        self.stateless = stateless
        self._gate = gate
        self._version, self._toolbox, self._journal = version, toolbox, journal
        self._library = library or Library(None)
        self._calls: dict[object, Call] = {}
        self._taken_back: set[object] = set()  # by a cancel that overtook the start of its request's thread
        self._questions: dict[str, queue.Queue[Json]] = {}
        self._numbers = count(1)
        self._listeners: dict[object, Send] = {}
        self._order = threading.RLock()  # who is acknowledged is registered, and is notified only after that
        self.standing: set[Send] = set()

    def receive(self, message: Json, send: Send) -> None:
        match message:
            case {"method": "tools/call" | "subscriptions/listen", "id": _}:
                threading.Thread(target=self.answer, args=(message, send), daemon=True).start()
            case {"method": _, "id": _}:
                self.answer(message, send)
            case {"method": "notifications/cancelled", "params": {"requestId": request_id}}:
                self.cancel(request_id)
            case {"id": question} if question in self._questions:
                self._questions[question].put(message.get("result") or {"action": "cancel"})

    def answer(self, request: Json, send: Send) -> None:
        """Send the response to one request, and whatever belongs to it before."""
        try:
            result = self._result(request, send)
        except RpcError as error:
            problem = {"code": error.code, "message": str(error)} | ({"data": error.data} if error.data else {})
            send({"jsonrpc": "2.0", "id": request["id"], "error": problem})
        except Cancelled:
            return
        else:
            self._tell_changes()  # before the answer, so that who has the answer has been told
            send({"jsonrpc": "2.0", "id": request["id"], "result": result})

    def cancel(self, request_id: object) -> None:
        with self._order:
            listener, call = self._listeners.pop(request_id, None), self._calls.get(request_id)
            if call:
                call.cancelled.set()
            elif listener is None:
                self._taken_back.add(request_id)

    def disconnected(self, request_id: object) -> None:
        """Over HTTP the stateless era has no cancel message: hanging up is one. In the handshake era it is not."""
        if self.stateless:
            self.cancel(request_id)

    def _result(self, request: Json, send: Send) -> Json:
        method, params = request["method"], request.get("params") or {}
        result = self._stateless(method, params, request, send) if self.stateless else None
        if result is None:
            result = self._common(method, params, request, send)
        if self.stateless:
            result = {"resultType": "complete", "_meta": {META + "serverInfo": SERVER}, **result}
        return result

    def _common(self, method: str, params: Json, request: Json, send: Send) -> Json:
        match method:
            case "tools/list":
                return self._toolbox.list(params.get("cursor"))
            case "tools/call":
                return self._call(params, request["id"], send)
            case "ping":
                return {}
            case "initialize" if not self.stateless:
                return {"protocolVersion": self._agreed(params), "serverInfo": SERVER, **self._introduction}
        if (answer := self._library.answer(method, params)) is not None:
            return answer
        raise RpcError(-32601, f"Method not found: {method}")

    @property
    def _introduction(self) -> Json:
        return {"capabilities": CAPABILITIES | self._library.capabilities, **self._library.instructions}

    def _stateless(self, method: str, params: Json, request: Json, send: Send) -> Json | None:
        supported = {"supported": [STATELESS_VERSION], "requested": params.get("protocolVersion", "")}
        if method == "initialize":
            raise RpcError(-32022, "this server is stateless; there is no handshake", supported)
        if (params.get("_meta") or {}).get(META + "protocolVersion") != STATELESS_VERSION:
            raise RpcError(-32022, "every request must name protocol version " + STATELESS_VERSION, supported)
        match method:
            case "server/discover":
                return {"supportedVersions": [STATELESS_VERSION], **self._introduction, **UNCACHED}
            case "resources/list" | "resources/templates/list" | "prompts/list" | "resources/read":
                found = self._library.answer(method, params)
                return {**found, **UNCACHED} if found is not None else None
            case "tools/list":
                return {**self._toolbox.list(params.get("cursor")), **UNCACHED}
            case "subscriptions/listen":
                self._listen(params, request["id"], send)
                raise Cancelled
        return None

    def _call(self, params: Json, request_id: object, send: Send) -> Json:
        def notify(method: str, about: Json) -> None:
            send({"jsonrpc": "2.0", "method": method, "params": about})

        def ask(question: Json) -> Json:
            return self._answer_given(params, question) if self.stateless else self._ask(question, call, send)

        call = Call(params, self._journal, notify, ask, self._gate)
        with self._order:
            self._calls[request_id] = call
            if self._was_taken_back(request_id):
                call.cancelled.set()
        try:
            return self._toolbox.run(call)
        except InputNeeded as needed:
            return {"resultType": "input_required", "inputRequests": needed.requests, "requestState": "asked-once"}
        finally:
            self._calls.pop(request_id, None)

    def _answer_given(self, params: Json, question: Json) -> Json:
        answers: Json = params.get("inputResponses") or {}
        if "details" not in answers:
            raise InputNeeded({"details": {"method": "elicitation/create", "params": question}})
        if params.get("requestState") != "asked-once":
            raise RpcError(-32602, "the answer came without the state it belongs to")
        answer: Json = answers["details"]
        return answer

    def _ask(self, question: Json, call: Call, send: Send) -> Json:
        question_id = f"ask-{next(self._numbers)}"
        answers = self._questions[question_id] = queue.Queue()
        send({"jsonrpc": "2.0", "id": question_id, "method": "elicitation/create", "params": question})
        while True:
            try:
                return answers.get(timeout=0.02)
            except queue.Empty:
                if call.cancelled.is_set():
                    call.note("cancelled")
                    raise Cancelled from None

    def _listen(self, params: Json, request_id: object, send: Send) -> None:
        about = {"_meta": {META + "subscriptionId": request_id}, "notifications": params.get("notifications") or {}}
        with self._order:
            if self._was_taken_back(request_id):
                return
            self._listeners[request_id] = send
            send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": about})

    def _was_taken_back(self, request_id: object) -> bool:
        """Asked once: another client may use the same number for a request of its own."""
        found = request_id in self._taken_back
        self._taken_back.discard(request_id)
        return found

    def _tell_changes(self) -> None:
        with self._order:
            times, self._toolbox.changes = self._toolbox.changes, 0
            for _ in range(times):
                self._tell_change("tools")
            for kind in self._library.changed():
                self._tell_change(kind)

    def _tell_change(self, kind: str) -> None:
        changed = {"jsonrpc": "2.0", "method": f"notifications/{kind}/list_changed"}
        for request_id, send in list(self._listeners.items()):
            send({**changed, "params": {"_meta": {META + "subscriptionId": request_id}}})
        if not self.stateless:
            for send in list(self.standing):
                send(changed)

    def _agreed(self, params: Json) -> str:
        asked: str = params.get("protocolVersion", "")
        return self._version or (asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1])


UNCACHED: Json = {"ttlMs": 0, "cacheScope": "private"}
