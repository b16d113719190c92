"""The configs of other clients as people have them: every key of each file ends in a draft or is named in a note, what
placeholders ask for is listed, and no text whatever breaks the import."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from windlass.core.errors import BadInput
from windlass.servers import ImportedFile, imported_servers
from windlass.servers.imports.text import read_text
from windlass.servers.values import revealed, with_values

FILES = sorted(path for path in (Path(__file__).parents[1] / "fixtures" / "clients").iterdir() if path.suffix != ".md")
LISTS = {"mcpServers", "servers", "context_servers", "mcp_servers", "extensions", "mcp", "projects"}
# What a value looks like in a draft, by the key it stood under: nothing else may be passed over.
READ_AS: dict[str, Callable[[Any], str]] = {
    "source": lambda value: "transport" if value == "custom" else value,
    "type": lambda value: "transport",
    "disabled": lambda value: "switched off" if value else "transport",
    "enabled": lambda value: "transport" if value else "switched off",
}


def by_name(name: str) -> ImportedFile:
    return imported_servers(next(path for path in FILES if path.name == name).read_bytes())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_key_of_a_real_config_is_in_a_draft_or_named(path: Path) -> None:
    document = read_text(path.read_bytes()).document
    assert isinstance(document, dict)
    found = imported_servers(path.read_bytes())
    everything = written(found)
    lost = [
        ".".join(keys)
        for keys, value in leaves(document)
        if not (is_named(keys, found, everything) or is_in_a_draft(keys, value, everything))
    ]
    assert lost == []
    assert len(found.servers) >= 2
    for one in found.drafts:
        assert one.draft or one.transport != "stdio"
        assert not (one.trusted or one.confirmed or one.approval or one.operator)


def test_a_key_that_was_lost_would_be_found() -> None:
    found = imported_servers({"mcpServers": {"a": {"command": "cat"}}})
    assert not is_named(("mcpServers", "a", "shiny"), found, written(found))
    assert not is_in_a_draft(("mcpServers", "a", "shiny"), "new", written(found))


def written(found: ImportedFile) -> str:
    """All that a person can see of an import."""
    return json.dumps(found.servers, default=fields_of, ensure_ascii=False)


def fields_of(value: Any) -> dict[str, Any]:
    return {one.name: getattr(value, one.name) for one in fields(value)} if is_dataclass(value) else dict(value)


def leaves(value: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from leaves(inner, (*keys, str(key)))
        case list() if value:
            for index, inner in enumerate(value):
                name = inner.get("id") or inner.get("name") if isinstance(inner, dict) else None
                yield from leaves(inner, (*keys, str(name or index)))
        case None | [] | {} | "":
            pass
        case _:
            yield keys, value


def is_named(keys: tuple[str, ...], found: ImportedFile, everything: str) -> bool:
    """The key or one it stands under: in the file's own list, in a note, or under an entry that was left out."""
    prefixes = [".".join(keys[:end]) for end in range(1, len(keys) + 1)]
    if any(prefix in found.unread for prefix in prefixes) or set(keys) & {
        one.name for one in found.servers if one.problem
    }:
        return True
    if keys[0] == "inputs":  # a label, a default or a flag of a placeholder
        return any(one.name == keys[1] for config in found.drafts for one in config.placeholders)
    notes = "\n".join(warning for one in found.servers for warning in one.warnings)
    return any(
        f"{key}" in notes.replace(",", " ").replace(":", " ").replace(".", " ").split()
        for key in keys
        if key not in LISTS
    )


def is_in_a_draft(keys: tuple[str, ...], value: object, everything: str) -> bool:
    text = value if isinstance(value, str) else json.dumps(value)
    if keys[-1] in READ_AS:
        return READ_AS[keys[-1]](value) in everything
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    number = isinstance(value, int | float) and not isinstance(value, bool) and f" {float(value)}" in everything
    return plain in everything or number


def test_placeholders_are_asked_for_with_label_default_and_where_they_stand() -> None:
    perplexity, fetch, _ = by_name("vscode_mcp.json").drafts
    key, region = perplexity.missing
    assert (key.name, key.label, key.secret, key.default) == ("perplexity-key", "Perplexity API Key", True, None)
    assert (region.label, region.secret, region.default, region.where) == (
        "Region (eu, us)",
        False,
        "eu",
        ("env REGION",),
    )
    assert [(one.name, one.label) for one in fetch.missing] == [("workspaceFolder", "Folder of the project")]


@pytest.mark.parametrize(
    ("entry", "name", "secret", "default"),
    [
        ({"env": {"A": "${env:NAME}"}}, "NAME", False, None),
        ({"env": {"A": "${NAME:-eu west}"}}, "NAME", False, "eu west"),
        ({"env": {"A": "x-$NAME_OF_IT-y"}}, None, False, None),
        ({"env": {"A": "$NAME_OF_IT"}}, "NAME_OF_IT", False, None),
        ({"env": {"A": "pa$SWORD"}}, None, False, None),
        ({"env": {"A": "${api-key}"}}, "api-key", True, None),
        ({"env": {"A": "${input:apiKey}"}}, "apiKey", True, None),
        ({"env": {"API_TOKEN": "${input:it}"}}, "it", True, None),
        ({"env": {"A": "{env:NAME}"}}, "NAME", False, None),
        ({"env": {"A": "${{ secrets.THING }}"}}, "THING", True, None),
        ({"args": ["--root=${workspaceFolder}"]}, "workspaceFolder", False, None),
        ({"args": ["${input:secret}"]}, "secret", True, None),
        ({"cwd": "${input:secret}"}, "secret", False, None),
        ({"env": {"A": "${}", "B": "$", "C": "$1", "D": "${"}}, None, False, None),
    ],
)
def test_each_spelling_of_a_placeholder_is_known(
    entry: dict[str, Any], name: str | None, secret: bool, default: str | None
) -> None:
    (config,) = imported_servers({"mcpServers": {"a": {"command": "cat", **entry}}}).drafts
    asked = [(one.name, one.secret, one.default) for one in config.missing]
    assert asked == ([] if name is None else [(name, secret, default)])


def test_a_secret_has_no_default_that_nobody_would_see() -> None:
    inputs = [{"id": "pin", "password": True, "default": "it"}, {"id": "note", "password": True, "default": ""}]
    entry = {
        "command": "cat",
        "env": {"A": "${input:pin}", "B": "${input:note}", "API_KEY": "${C:-it}", "D": "${D:-it}"},
    }
    (found,) = imported_servers({"inputs": inputs, "servers": {"a": entry}}).servers
    assert found.config is not None
    asked = {one.name: (one.secret, one.default) for one in found.config.missing}
    assert asked == {"pin": (True, None), "note": (True, ""), "C": (True, None), "D": (False, "it")}
    assert found.warnings == ("pin: a default of a secret is not taken; give its value yourself.",)


def test_a_shell_fills_in_its_own_variables_and_a_host_is_never_hidden() -> None:
    shell = {"command": "/bin/sh", "args": ["-c", "exec server --home ${HOME}"]}
    host = {"url": "https://${input:token}/${input:token}/x", "headers": {"A": "${input:token}"}}
    path = {"url": "https://a.example/${input:token}/x"}
    found = imported_servers({"mcpServers": {"shell": shell, "host": host, "path": path}})
    assert [one.secret for config in found.drafts for one in config.missing] == [False, True]


def test_no_value_becomes_code_of_a_shell() -> None:
    entry = {"command": "/bin/sh", "args": ["-c", "${input:token}"], "env": {"A": "${input:token}"}}
    (draft,) = imported_servers({"mcpServers": {"a": entry}}).drafts
    runs = revealed(with_values(draft, {"token": "touch x"}), lambda value: value)
    assert (runs.args, runs.env) == (("-c", "${input:token}"), {"A": "touch x"})


def test_values_stay_as_they_are_written() -> None:
    env = next(one for one in by_name("goose_config.yaml").drafts if one.name == "github").env
    assert (env["REGION"], env["BUILD"], env["SINCE"]) == ("no", "1.10", "2026-01-01")
    cursor = by_name("cursor_mcp.json").drafts[0]
    assert cursor.args[-1] == "true" and (cursor.env["POOL"], cursor.env["DEBUG"]) == ("5", "true")


def test_a_list_of_tools_switches_on_and_permits_nothing() -> None:
    config = by_name("codex_config.toml").drafts[0]
    assert (config.tools, config.tools_are_named) == ("resolve-library-id", False)
    assert (config.connect_s, config.timeout_s) == (20, 45.5)
    assert by_name("gemini_settings.json").drafts[0].tools == "safe_tool"


def test_approval_of_another_client_is_named_and_not_taken() -> None:
    browser, docs, _ = by_name("cline_mcp_settings.json").servers
    assert any("browser_click" in one and "not taken" in one for one in browser.warnings)
    assert any(one.startswith("alwaysAllow (search): not taken") for one in docs.warnings)
    assert "It was switched off in the other client." in docs.warnings


def test_a_sign_in_is_taken_and_its_secret_asked_for() -> None:
    linear = next(one for one in by_name("cursor_mcp.json").drafts if one.name == "linear")
    assert (linear.auth, linear.scopes) == ("oauth", "read write")
    assert [(one.name, one.secret) for one in linear.missing] == [
        ("LINEAR_CLIENT_ID", False),
        ("LINEAR_CLIENT_SECRET", True),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"mcpServers": {"a": {"command": "cat"}}}\n```',
        '"mcpServers": {"a": {"command": "cat"}}',
        '"a": {"command": "cat"},',
        '{"a": {"command": "cat"}}',
        '{"name": "a", "command": "cat"}',
        '[{"name": "a", "command": "cat"}]',
        "\ufeff{'mcpServers': 1}".replace("'", '"').replace("1", '{"a": {"command": "cat"}}'),
        "mcpServers:\n  a:\n    command: cat\n",
        "[mcp_servers.a]\ncommand = 'cat'\n",
        "      extensions:\n        a:\n          cmd: cat\n      MODEL: mine\n",
        '// mine\n/* all\nof it */ {"mcpServers": {"a": {"command": "cat",},},}',
    ],
)
def test_what_people_paste_is_read(text: str) -> None:
    (config,) = imported_servers(text).drafts
    assert (config.name, config.argv) == ("a", ("cat",))


def test_a_name_that_stands_twice_is_named() -> None:
    found = imported_servers('{"mcpServers": {"a": {"command": "one"}, "a": {"command": "two"}}}')
    assert found.repeated == ("a",) and [one.command for one in found.drafts] == ["two"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"mcpServers": {"a": }', "not valid JSON"),
        ("[mcp_servers.a]\ncommand = cat", "not valid TOML"),
        ("mcpServers:\n\t- a: [", "not valid JSON, TOML or YAML: line 2: found character"),
        (
            "x: &a [y]\nmcpServers:\n  a: {url: 'https://a.example', scopes: *a}\n",
            r"line 3: aliases such as \*a are not",
        ),
        ("[" + "a." * 300 + "a]\n", "not valid TOML: a line has more than 200 dots"),
        ("hello", "No servers were found"),
        ("x: " + "y" * (300 << 10), "larger than 256 KiB"),
        (b"\xff\xfe\x00", "not text in UTF-8"),
    ],
)
def test_what_cannot_be_read_says_what_is_wrong(text: str | bytes, fault: str) -> None:
    with pytest.raises(BadInput, match=fault):
        imported_servers(text)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"command": "cat", "args": ["x"] * 501}, "args: it has 501; at most 500 are read"),
        ({"command": "cat", "env": {f"A{n}": "x" for n in range(201)}}, "env: it has 201; at most 200 are read"),
        ({"command": "cat", "args": ["x", "y" * 10_001]}, "argument 2: it is longer than 10,000 characters"),
        (
            {"command": "cat", "args": [f"${{A{n}}}" for n in range(201)]},
            "It has more than 200 different placeholders.",
        ),
        ({"url": "https://a.example", "scopes": [["x"]]}, "scopes: must be a list of texts"),
    ],
)
def test_an_entry_has_bounds_as_one_that_is_added_by_hand(entry: dict[str, Any], problem: str) -> None:
    assert [one.problem for one in imported_servers({"mcpServers": {"a": entry}}).servers] == [problem]


def test_no_text_breaks_the_import() -> None:
    """Real files, cut, repeated, mixed and with odd characters in them; the same ones at every run."""
    chance = random.Random(20261118)
    texts = [path.read_text() for path in FILES]
    odd = [
        "\0",
        "\u202e",
        "${",
        "}",
        "{{",
        "<<: *a",
        "&a [*a]",
        "!!python/object:os.system",
        "\\",
        '"',
        "/*",
        "- ",
        "\t",
        "[[",
        "= ",
    ]
    for _ in range(400):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(text) + 1)
            text = chance.choice(
                [
                    text[:at],
                    text[at:],
                    text[:at] + chance.choice(odd) + text[at:],
                    text[:at] + chance.choice(texts)[at:],
                ]
            )
        assert_read_or_refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "[" * 50_000,
        "- " * 50_000,
        "a: " * 50_000,
        "/*" * 500_000,
        '"\\' * 500_000,
        '{"mcpServers": {"a": "' + "\\" * 1_000_001,
        ", " * 500_000,
        "{" + "," * 500_000,
        "a = " + "[" * 50_000,
        "a: &a [x, x]\n"
        + "".join(
            f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}, *{'a' if n == 0 else f'b{n - 1}'}]\n" for n in range(60)
        ),
        "mcpServers: &a\n  x: *a\n",
        "x: &a {k: 1}\ny: {<<: [*a, *a]}\n",
        '{"mcpServers": {"a": {"command": "' + "${" * 200_000 + '"}}}',
        '{"mcpServers": {"a": {"command": "' + "$A:" * 200_000 + '"}}}',
        '{"mcpServers": {"a": {"command": "cat", "timeout": ' + "9" * 5000 + "}}}",
        '{"mcpServers": {"a": {"command": "cat", "timeout": 1e999, "env": {"A": NaN}}}}',
        '{"mcpServers": {"a": {"command": "cat", "url": "http://[::1", "type": "http"}}}',
        '{"mcpServers": {"a": {"command": "cat"}}, "b": {' + ",".join(f'"{n // 2}": 1' for n in range(200_000)) + "}}",
        '{"mcpServers": {"a": {"command": "cat", "args": [' + ",".join(['"${A}"'] * 200_000) + "]}}}",
        "a: 1" + "\n" * 200_000 + "b: 2",
        "```" + "\n" * 200_000 + "x",
        "[" + "a." * 50_000 + "a]\n" + "".join(f"b{n} = 1\n" for n in range(13_000)),
    ],
    ids=range(23),
)
def test_hostile_texts_end_soon(text: str) -> None:
    assert_read_or_refused(text)


def assert_read_or_refused(text: str) -> None:
    try:
        found = imported_servers(text)
    except BadInput as error:
        assert len(error.message) < 1000
    else:
        assert all(one.config is None or not one.config.confirmed for one in found.servers)
