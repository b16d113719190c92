"""The strict model server as a process of its own, for tests that kill everything else.

Its first line on standard output is `{"base_url": "http://127.0.0.1:PORT/v1"}`.
"""

import argparse
import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

from windlass.testing.scripts import loop, script_from_file
from windlass.testing.strict_llm import StrictLLM


async def _serve(options: argparse.Namespace) -> None:
    script = script_from_file(options.script) if options.script else loop()
    server = StrictLLM(
        script,
        dialect=options.dialect,
        coding_plan=options.coding_plan,
        api_key=options.api_key,
        record=options.record,
        port=options.port,
    )
    async with server:
        sys.stdout.write(json.dumps({"base_url": server.base_url}) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="A strict OpenAI-compatible model server that follows a script.")
    parser.add_argument("--script", type=Path, help="JSON, see windlass.testing.scripts; without it: loop()")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--record", type=Path, help="one JSON line per request is appended here")
    parser.add_argument("--dialect", choices=["openai", "zai"], default="openai")
    parser.add_argument("--coding-plan", action="store_true")
    parser.add_argument("--api-key")
    with suppress(KeyboardInterrupt):
        asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
