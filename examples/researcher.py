"""Ask a persona that searches the web for every question, and print the answer's sources.

python examples/researcher.py "What is the weather in Nanaimo?"
"""

import asyncio
import sys

from windlass import Windlass


async def main(question: str) -> None:
    async with Windlass() as windlass:
        turn = await windlass.ask(question, persona="researcher")
    print(turn.answer or f"No answer: {turn.error.message if turn.error else turn.outcome}")
    for source in turn.sources:
        print(f"[{source.n}] {source.title} {source.url}")


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
