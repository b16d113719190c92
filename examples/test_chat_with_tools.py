"""A chat with tools over plain HTTP: create a conversation, list its tools, enable one, chat, show all messages.

Start a server with `make run` or `windlass demo`, then:

    python examples/test_chat_with_tools.py [URL]

Only the standard library is used, so this is also a reference for clients in other languages.
"""

import json
import os
import subprocess
import sys
import urllib.request

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

    print("3. Enabling a tool")
    wanted = next(tool for tool in tools if tool["tool_name"] == "list_directory")
    request("POST", f"{path}/tools", {"server_id": wanted["server_id"], "tool_name": wanted["tool_name"]})
    enabled = request("GET", f"{path}/tools")["enabled_tools"]
    print("   " + ", ".join(tool["tool_name"] for tool in enabled))

    print("4. Sending a message")
    answer = request("POST", f"{path}/chat", {"content": "/list_directory path=/docs"})
    print(f"   {answer['message']}")
    print(f"   user:      {answer['user_message']['content']}")
    print(f"   assistant: {answer['assistant_message']['content']}")

    print("5. All messages")
    for message in request("GET", f"{path}/messages")["messages"]:
        for call in message.get("tool_calls", []):
            print(f"   {message['role']} calls {call['function']['name']} {call['function']['arguments']}")
        if message["content"]:
            print(f"   {message['role']}: {message['content']}")


def request(method: str, path: str, body: object = None) -> dict:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token()}"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE_URL + path, data, headers, method=method)) as answer:
        return json.load(answer)


def token() -> str:
    """Not needed for a server started with --no-auth."""
    if "WINDLASS_TOKEN" in os.environ:
        return os.environ["WINDLASS_TOKEN"]
    return subprocess.run([sys.executable, "-m", "windlass", "token"], capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
