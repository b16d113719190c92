"""Which arguments of a command are code, so that no secret value hides what runs."""

import pytest

from windlass.servers.imports import imported_servers


@pytest.mark.parametrize(
    ("command", "hidden"),
    [
        ("python3 -c ${input:it}", False),
        ("/usr/bin/python3.11 -u -c ${input:it}", False),
        ("/usr/bin/python3.11 -u -c import${input:it}", False),
        ("python -m ${input:it}", False),
        ("python ${input:it}", False),
        (r"C:\Python\python.exe ${input:it}", False),
        ("node -e A=${input:it}", False),
        ("node -e${input:it}", False),
        ("node -pe${input:it}", False),
        ("node --eval=${input:it}", False),
        ("node --require ${input:it}", False),
        ("npx -y ${input:it}", False),
        ("npx -y --package ${input:it} server", False),
        ("uvx --from ${input:it} server", False),
        ("uv run --with ${input:it} server.py", False),
        ("env sh -c ${input:it}", False),
        ("env TZ=UTC node ${input:it}", False),
        ("docker run --rm -i ${input:it}", False),
        ("docker run --rm -i node -e A=${input:it}", False),
        ("docker run --rm -i image:22 sh -c ${input:it}", False),
        ("python server.py ${input:it}", True),
        ("python server.py --token ${input:it}", True),
        ("python server.py --token=${input:it}", True),
        ("python -c pass ${input:it}", True),
        ("npx -y server@1.2.3 ${input:it}", True),
        ("npx -y server@1.2.3 -p ${input:it}", True),
        ("npx -y mcp-remote@1 https://a.example --header Authorization:${input:it}", True),
        ("docker run --rm -i -e API_KEY=${input:it} image", True),
        ("docker run --rm -i -e A=b -e DSN=${input:it} image", True),
        ("env API_KEY=${input:it} server", True),
        ("server --token ${input:it}", True),
        ("cat ${input:it}", True),
    ],
)
def test_a_value_that_is_code_is_no_secret_and_one_that_is_data_is(command: str, hidden: bool) -> None:
    program, *args = command.split()
    entry = {"command": program, "args": args}
    (draft,) = imported_servers({"inputs": [{"id": "it", "password": True}], "servers": {"a": entry}}).drafts
    assert [one.secret for one in draft.missing] == [hidden]
