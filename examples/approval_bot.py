"""Decide approvals by your own rules, for a server that runs unattended.

python examples/approval_bot.py "/write_note title=Log text='Sails set'"
"""

import asyncio
import os
import sys

from windlass import Decision, PendingCall, Windlass


def approve(call: PendingCall) -> Decision:
    """Allow notes without passwords; deny every other call that asks."""
    if call.name != "write_note":
        return Decision("deny", reason="Only notes may be written here.")
    if "password" in call.arguments.lower():
        return Decision("deny", reason="No passwords in notes.")
    return Decision("allow")


async def main(text: str) -> None:
    async with Windlass(os.environ.get("WINDLASS_URL", ""), os.environ.get("WINDLASS_TOKEN", "")) as windlass:
        turn = await windlass.ask(text, approve=approve)
    for call in turn.calls:
        print(f"{call.name}: {call.state}")
    print(turn.answer)


if __name__ == "__main__":
    asyncio.run(main(" ".join(sys.argv[1:])))
