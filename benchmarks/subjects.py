"""Who is measured: the floors and Windlass, each in a process of its own, all asked the same way."""

import asyncio
import os
import shutil
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import msgspec

from benchmarks.floor import ECHO, Durability
from benchmarks.load import Sample, prior_messages, run_turns
from benchmarks.peers.environments import Spec
from benchmarks.peers.subject import Peer, open_all
from benchmarks.processes import ROOT, Child, Failed, start, start_module
from benchmarks.wire import Answer, Connection, OnBody, connect, request

TOKEN = "bench-token-of-no-secrecy-0123456789"
WINDLASS = str(Path(sys.executable).with_name("windlass"))
START_S = 60


class Subject(Protocol):
    name: str

    async def turns(self, order: str, count: int, at_once: int = 1, prior: int = 0) -> Sample:
        """So many turns, each in a fresh conversation that begins with so many messages."""


class Library:
    def __init__(self, name: str, child: Child) -> None:
        self.name = name
        self.child = child

    async def turns(self, order: str, count: int, at_once: int = 1, prior: int = 0) -> Sample:
        wanted = {"order": order, "turns": count, "at_once": at_once, "prior": prior}
        cpu = self.child.cpu_s
        line = await asyncio.to_thread(self.child.order, msgspec.json.encode(wanted))
        return replace(msgspec.json.decode(line, type=Sample), cpu_s=self.child.cpu_s - cpu)


class Server:
    """Anything that is asked over HTTP. Connections are kept."""

    def __init__(self, name: str, child: Child) -> None:
        self.name = name
        self.child = child
        self._idle: list[Connection] = []

    async def turns(self, order: str, count: int, at_once: int = 1, prior: int = 0) -> Sample:
        return await self.turns_in(order, await self.conversations(count, prior), at_once)

    async def turns_in(self, order: str, conversations: Sequence[str], at_once: int = 1) -> Sample:
        cpu = self.child.cpu_s
        sample = await run_turns(self.chat, order, conversations, at_once)
        return replace(sample, cpu_s=self.child.cpu_s - cpu)

    async def conversations(self, count: int, prior: int = 0) -> list[str]:
        messages = prior_messages(prior)
        return [await self.conversation(messages) for _ in range(count)]

    async def conversation(self, messages: list[dict[str, str]]) -> str:
        found = await self.json("POST", "/conversations", {"messages": messages})
        return str(found["id"])

    async def chat(self, conversation: str, text: str, on_body: OnBody | None = None) -> bytes:
        body = msgspec.json.encode({"content": text})
        answer = await self.send("POST", f"/conversations/{conversation}/chat", body, "text/event-stream", on_body)
        return answer.body

    async def json(self, method: str, path: str, body: object = None) -> Any:
        answer = await self.send(method, path, msgspec.json.encode(body) if body is not None else b"")
        if answer.status >= 300:
            raise Failed(f"{self.name}: {method} {path} gave {answer.status}: {answer.body[:500]!r}")
        return msgspec.json.decode(answer.body)

    async def _connection(self) -> Connection:
        while self._idle:
            if (connection := self._idle.pop()).is_fresh:
                return connection
            connection.close()
        return await connect(self.child.port)

    def hang_up(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def send(
        self, method: str, path: str, body: bytes, accept: str = "application/json", on_body: OnBody | None = None
    ) -> Answer:
        port = self.child.port
        connection = await self._connection()
        answer = await connection.ask(request(method, path, port, body, token=TOKEN, accept=accept), on_body)
        self._idle.append(connection)
        return answer


class WindlassServer(Server):
    async def conversation(self, messages: list[dict[str, str]]) -> str:
        if messages:
            found = await self.json("POST", "/conversations/import", {"messages": messages})
        else:
            found = await self.json("POST", "/conversations", {})
        return str(found["conversation"]["id"])

    async def until_tools(self, count: int, most_s: float = START_S) -> float:
        """Seconds until all servers run and offer so many tools."""
        began = time.perf_counter()
        while time.perf_counter() - began < most_s:
            servers = (await self.json("GET", "/servers"))["servers"]
            if all(server["status"] == "running" for server in servers):
                conversation = await self.conversation([])
                if (await self.json("GET", f"/conversations/{conversation}/tools/available"))["count"] >= count:
                    return time.perf_counter() - began
            await asyncio.sleep(0.02)
        raise Failed(f"{self.name} does not offer {count} tools after {most_s} s")


class Stage:
    """Starts what a run needs, once each, in folders of its own, and clears all of it away."""

    def __init__(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._folder = folder
        self._stack = ExitStack()
        self._standing: dict[str, Server | Library] = {}
        self.peers: Sequence[Peer] = ()
        self.stub = self._kept(start_module("benchmarks.stub_llm"))

    def close(self) -> None:
        for subject in self._standing.values():
            if isinstance(subject, Server):
                subject.hang_up()
        self._stack.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def invite(self, specs: Sequence[Spec]) -> None:
        self.peers = await open_all(specs, self.stub.port, self.folder)
        for peer in self.peers:
            self._stack.callback(peer.close)

    def library(self, durability: Durability) -> Library:
        name = f"floor, library, {durability}"
        if name not in self._standing:
            child = start_module("benchmarks.floor_library", self.folder(name), durability, self.stub.port)
            self._standing[name] = Library(name, self._kept(child))
        found = self._standing[name]
        assert isinstance(found, Library)
        return found

    def floor(self, durability: Durability, under: Sequence[str] = ()) -> Server:
        """`under` is a command that runs it, such as one that counts its instructions."""
        name = f"floor, server, {durability}"
        if name not in self._standing:
            args = (self.folder(name), durability, self.stub.port, TOKEN)
            child = start_module("benchmarks.floor_server", *args, under=under)
            self._standing[name] = Server(name, self._kept(child))
        found = self._standing[name]
        assert isinstance(found, Server)
        return found

    async def windlass(self, durability: Durability) -> WindlassServer:
        name = f"Windlass, {durability}"
        if name not in self._standing:
            server = self.fresh_windlass(name, durability, {"echo": []})
            self._standing[name] = server
            await until_healthy(server.child)
            await server.until_tools(2)
        found = self._standing[name]
        assert isinstance(found, WindlassServer)
        return found

    def fresh_windlass(
        self,
        name: str,
        durability: Durability,
        servers: Mapping[str, Sequence[str]],
        under: Sequence[str] = (),
        source: Path | None = None,
    ) -> WindlassServer:
        """`windlass serve` as a user runs it, on an empty data folder. Returns at once; it may not be up yet. `source`
        holds another package than the installed one."""
        home = self.folder(name)
        (home / "windlass.toml").write_text("".join(_server(slug, args) for slug, args in servers.items()))
        env = {
            **environment(home),
            "WINDLASS_DURABILITY": durability,
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.stub.port}/v1",
            "OPENAI_API_KEY": "none",
            "LLM_MODEL": "stub",
        }
        port = free_port()
        command = [*under, sys.executable, WINDLASS] if under else [WINDLASS]
        if source:
            env |= {"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
            command = [*under, sys.executable, "-m", "windlass"]
        child = start([*command, "serve", "--port", str(port)], env, home / "log")
        child.port = port
        self._stack.callback(child.stop, gently=True)
        return WindlassServer(name, child)

    def folder(self, name: str) -> Path:
        made = self._folder / "".join(letter if letter.isalnum() else "-" for letter in name)
        made.mkdir(exist_ok=True)
        return made

    def _kept(self, child: Child) -> Child:
        self._stack.callback(child.stop)
        return child


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WINDLASS", "OPENAI", "ZAI"))}
    return {**kept, "WINDLASS_HOME": str(home), "WINDLASS_TOKEN": TOKEN}


async def until_healthy(child: Child, most_s: float = START_S) -> float:
    """Seconds until `/health` answers."""
    began = time.perf_counter()
    while time.perf_counter() - began < most_s:
        if child.process.poll() is not None:
            raise Failed(f"{child.process.args!r} ended with {child.process.returncode}; see its log")
        try:
            connection = await connect(child.port)
            answer = await connection.ask(request("GET", "/health", child.port))
            connection.close()
            if answer.status == 200:
                return time.perf_counter() - began
        except OSError:
            await asyncio.sleep(0.002)
    raise Failed(f"nothing answers on port {child.port}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def _server(slug: str, args: Sequence[str]) -> str:
    """An operator's entry: every tool on, none trusted, all run without asking."""
    command = msgspec.json.encode(sys.executable).decode()
    all_args = msgspec.json.encode(["-S", str(ECHO), *args]).decode()
    words = 'tools = "*"\ntrusted = false\napproval = "auto"\n'
    return f"[servers.{slug}]\ncommand = {command}\nargs = {all_args}\n{words}\n"


CACHE = ROOT / ".cache" / "bench" / str(os.getpid())  # two runs at once do not share a folder
