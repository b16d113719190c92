"""The floor as a library: the turn loop in the process that asks. Takes orders on stdin, one JSON line each, and
answers each with its times, so that runs can be interleaved with others'."""

import asyncio
import sys
from pathlib import Path

import msgspec
import uvloop

from benchmarks.floor import Durability, Floor
from benchmarks.load import prior_messages, run_turns


class Order(msgspec.Struct):
    order: str
    turns: int
    at_once: int = 1
    prior: int = 0


async def main(folder: Path, durability: Durability, model_port: int) -> None:
    floor = Floor(folder, durability, model_port)
    await floor.open()
    print(0, flush=True)  # ready; it has no port

    async def ask(conversation: str, text: str) -> bytes:
        return (await floor.turn(int(conversation), text, lambda piece: None)).encode()

    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        wanted = msgspec.json.decode(line, type=Order)
        prior = [msgspec.json.encode(message) for message in prior_messages(wanted.prior)]
        conversations = [str(floor.conversation(prior)) for _ in range(wanted.turns)]
        sample = await run_turns(ask, wanted.order, conversations, wanted.at_once)
        print(msgspec.json.encode(sample).decode(), flush=True)
    floor.close()


if __name__ == "__main__":
    folder, durability, port = sys.argv[1:]
    uvloop.run(main(Path(folder), "full" if durability == "full" else "normal", int(port)))
