"""A chat with tools over plain HTTP: create a conversation, list its tools, enable one, chat, show all messages.

Start a server with `make run` or `windlass demo`, then:

    python examples/test_chat_with_tools.py [URL]

It works with any model and any MCP server, also with none: then it is a chat without tools. Only the standard library
is used, so this is also a reference for clients in other languages.
"""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from functools import cache

BASE_URL = sys.argv[1].rstrip("/") if len(sys.argv) > 1 else "http://127.0.0.1:8420"


def main() -> None:
    print("1. Creating a conversation")
    conversation = request("POST", "/conversations", {"title": "Test Chat with Tools"})["conversation"]
    path = f"/conversations/{conversation['id']}"
    print(f"   {conversation['id']}")

    print("2. Listing available tools")
    tools = request("GET", f"{path}/tools/available")["available_tools"]
    for tool in tools:
        print(f"   {tool['tool_name']} ({tool['server_name']}): {tool['description']}")
    if not tools:
        print("   None: no MCP server is running. The chat goes on without tools.")

    print("3. Enabling a tool")
    wanted = harmless(tools)
    if wanted:
        request("POST", f"{path}/tools", {"server_id": wanted["server_id"], "tool_name": wanted["tool_name"]})
    enabled = request("GET", f"{path}/tools")["enabled_tools"]
    print("   " + (", ".join(tool["tool_name"] for tool in enabled) or "None"))

    print("4. Sending a message")
    answer = request("POST", f"{path}/chat", {"content": message_for(wanted)})
    show_answer(answer)

    print("5. All messages")
    for message in request("GET", f"{path}/messages")["messages"]:
        for call in message.get("tool_calls", []):
            print(f"   {message['role']} calls {call['function']['name']} {call['function']['arguments']}")
        if message["content"]:
            print(f"   {message['role']}: {message['content']}")
    if answer["outcome"] not in ("answered", "awaiting_person"):
        sys.exit(1)


def harmless(tools: list) -> dict | None:
    """A tool to try: one that lists folders, else one that only reads, else the first."""

    def rank(tool: dict) -> int:
        reads = (tool.get("annotations") or {}).get("readOnlyHint") is True
        return 0 if tool["tool_name"] == "list_directory" else 1 if reads else 2

    return min(tools, key=rank, default=None)


def message_for(tool: dict | None) -> str:
    if tool is None:
        return "Hello! Can you help me with something?"
    is_demo = any(one["default"] and one["demo"] for one in request("GET", "/providers")["providers"])
    if is_demo:  # it takes commands instead of sentences
        return f"/{tool['name']} path=/docs" if tool["tool_name"] == "list_directory" else f"/{tool['name']}"
    return f"Can you use the {tool['name']} tool to help me? Tell me what it answered."


def show_answer(answer: dict) -> None:
    print(f"   {answer['message']}")
    print(f"   user:      {answer['user_message']['content']}")
    if answer["assistant_message"]:
        print(f"   assistant: {answer['assistant_message']['content']}")
    for call in answer.get("pending_calls", []):
        print(f"   {call['name']} needs your approval ({call['why']}). Decide on the page at {BASE_URL}, or with:")
        print(f"   windlass turns approve {answer['turn_id']} {call['call_id']}")


def request(method: str, path: str, body: object = None) -> dict:
    headers = {"Content-Type": "application/json"}
    if token():
        headers["Authorization"] = f"Bearer {token()}"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(BASE_URL + path, data, headers, method=method)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as failed:
        answer = json.load(failed)
        if "outcome" in answer:  # a chat that failed shows how far it came
            return answer
        sys.exit(f"{method} {path}: {answer['error']['message']} {answer['error'].get('hint', '')}")
    except urllib.error.URLError as failed:
        sys.exit(f"No server answers at {BASE_URL} ({failed.reason}). Start one with `windlass demo`.")


@cache
def token() -> str:
    """Not needed for a server started with --no-auth."""
    if "WINDLASS_TOKEN" in os.environ:
        return os.environ["WINDLASS_TOKEN"]
    return subprocess.run([sys.executable, "-m", "windlass", "token"], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
