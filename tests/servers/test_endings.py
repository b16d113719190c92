"""What a person reads when a program fails or is no MCP server."""

import pytest

from tests.kit.waiting import until
from windlass.servers import ServerConfig, Servers
from windlass.servers.endings import no_answer, telling_line

NODE = """node:internal/modules/cjs/loader:1148
  throw err;
  ^

Error: Cannot find module 'nothing-there'
Require stack:
- /app/[eval]
    at Module._resolveFilename (node:internal/modules/cjs/loader:1145:15) {
  code: 'MODULE_NOT_FOUND',
}

Node.js v22.1.0
"""
NODE_WITH_CODE = 'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string\n    at x\n\nNode.js v22'
PYTHON = """Traceback (most recent call last):
  File "<string>", line 1, in <module>
httpx.ConnectError: first

During handling of the above exception, another exception occurred:

ModuleNotFoundError: No module named 'nothing_there'
"""
NPM = """npm error code E404
npm error 404 Not Found - GET https://registry.example/nothing
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log
"""


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        (NODE, "Error: Cannot find module 'nothing-there'"),
        (NODE_WITH_CODE, 'TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be of type string'),
        (PYTHON, "ModuleNotFoundError: No module named 'nothing_there'"),
        (NPM, "npm error 404 Not Found - GET https://registry.example/nothing"),
        ("env: bad: No such file or directory\nbye", "env: bad: No such file or directory"),
        ("starting\nfatal: wrong\nbye", "fatal: wrong"),
        ("one\n\ntwo\n", "two"),
        ("  \n", ""),
    ],
)
def test_the_telling_line_is_found_among_the_others(stderr: str, line: str) -> None:
    assert telling_line(stderr) == line


@pytest.mark.parametrize(
    ("argv", "wrote"),
    [
        (("cat",), "it wrote back what it was sent"),
        (("echo", "hi\x1b[31m"), r"it wrote 'hi\x1b[31m'"),
        (("true",), "it ended without an answer"),
    ],
)
async def test_a_program_that_does_not_speak_mcp_is_told_apart(
    servers: Servers, argv: tuple[str, ...], wrote: str
) -> None:
    await servers.put(ServerConfig("srv-1", "other", command=argv[0], args=argv[1:], confirmed=True, sandbox="off"))
    servers.start("other")
    await until(lambda: servers.status("other").state == "failed", "its failure")
    assert servers.status("other").reason == f"This program does not speak MCP: {wrote}."
    await servers.stop("other")


async def test_a_program_that_prints_and_waits_is_told_apart(servers: Servers) -> None:
    argv = ("-c", "echo Welcome; sleep 60")
    config = ServerConfig("srv-1", "other", command="sh", args=argv, confirmed=True, sandbox="off", connect_s=1)
    await servers.put(config)
    servers.start("other")
    await until(lambda: servers.status("other").state == "failed", "its failure")
    assert servers.status("other").reason == no_answer(1, False, "'Welcome'")
    assert "Does this program speak MCP? It wrote 'Welcome'." in servers.status("other").reason
    await servers.stop("other")
