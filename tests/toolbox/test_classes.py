"""What a tool does, guessed: measured on tools of real servers, and shown on examples."""

import json
from pathlib import Path
from typing import Any

import pytest

from windlass.servers.values import ToolDefinition
from windlass.toolbox.classes import ToolGuess, chooses_target, guess

TOOLS = Path(__file__).parents[1] / "fixtures" / "tools"
FEWEST_READERS = 0.9


@pytest.mark.parametrize("file", ["build.json", "held_out.json"])
def test_c1_no_tool_that_changes_or_sends_passes_for_a_reader_and_most_readers_are_recognised(file: str) -> None:
    tools = json.loads((TOOLS / file).read_text())
    guessed = {(tool["server"], tool["tool"]): guess_for(tool).kind for tool in tools}
    kinds = [(name, tool["label"]) for name, tool in zip(guessed, tools, strict=True)]
    taken_for_readers = [name for name, label in kinds if label != "reads" and guessed[name] == "reads"]
    readers = [name for name, label in kinds if label == "reads"]
    recognised = [name for name in readers if guessed[name] == "reads"]
    assert taken_for_readers == []
    assert len(recognised) >= FEWEST_READERS * len(readers), sorted(set(readers) - set(recognised))


def guess_for(tool: dict[str, Any]) -> ToolGuess:
    arguments: dict[str, dict[str, Any]] = tool["arguments"]
    schema = {"properties": arguments, "required": [name for name, one in arguments.items() if one.get("required")]}
    definition = ToolDefinition(tool["tool"], input_schema=schema, annotations=tool["annotations"])
    return guess(definition, server=(tool["slug"], tool["server"].rpartition("/")[2]))


# name | arguments | hints | class
EXAMPLES = """
list_directory              | path                      |             | reads
listFiles                   |                           |             | reads
get-env                     |                           |             | reads
git_log                     | repo_path                 |             | reads
git_status                  | repo_path                 |             | reads
git_fetch                   | remote                    |             | sends
git_commit                  | message                   |             | changes
log_event                   | event                     |             | changes
log                         | message                   |             | changes
convert_time                | time source target        |             | reads
convert_time                | time source target        | read-only   | reads
convert_document            | input_path output_path    |             | changes
create_directory            | path                      |             | changes
write_file                  | path content              |             | changes
find_and_replace            | pattern text              |             | changes
search_replace              | pattern text              |             | changes
get_or_create               | name                      |             | changes
get_commit                  | sha                       |             | reads
message_list                |                           |             | reads
comment_delete              | id                        |             | changes
profile_update              | name                      |             | changes
pull_request_read           | method                    |             | reads
merge_request_list          |                           |             | reads
API-post-search             | query                     |             | reads
API-post-page               | title                     |             | sends
API-get-user                | user_id                   |             | reads
browser_click               | ref                       |             | changes
browser_check               | ref                       |             | changes
browser_snapshot            |                           |             | reads
browser_snapshot            | filename                  | read-only   | changes
browser_network_requests    |                           | read-only   | reads
open_nodes                  | names                     |             | changes
open_nodes                  | names                     | read-only   | reads
delete_everything           |                           | read-only   | changes
send_email                  | to text                   | read-only   | sends
send_email                  | to text                   |             | sends
slack_get_channel_history   | channel_id                |             | reads
slack_post_message          | channel_id text           |             | sends
show_notification           | text                      |             | sends
search_emails               | from to query             |             | reads
fetch                       | url max_length            |             | sends
fetch                       | url max_length            | read-only   | sends
web_search                  | query                     |             | reads
search                      | query include_domains     |             | reads
dns_lookup                  | domain                    |             | sends
read_query                  | query                     |             | reads
query                       | sql                       |             | changes
query_database              | query                     |             | changes
execute_promql_query        | query                     |             | reads
execute_query               | query                     |             | changes
evaluate                    | expression                |             | changes
frobnicate                  | x                         |             | changes
frobnicate                  | x                         | read-only   | reads
frobnicate                  | x overwrite               | read-only   | changes
get_report                  | id save_path              |             | changes
list_things                 |                           | not read-only | changes
list_things                 |                           | destructive | changes
extract_archive             | file                      |             | changes
extract_text                | file                      |             | reads
weather_forecast            | city                      |             | reads
maps_place_details          | place_id                  |             | reads
"""
HINTS = {
    "read-only": {"readOnlyHint": True},
    "not read-only": {"readOnlyHint": False},
    "destructive": {"destructiveHint": True},
    "": {},
}


@pytest.mark.parametrize("row", EXAMPLES.strip().splitlines())
def test_c1_a_tool_is_classed_by_its_hints_its_verb_and_its_arguments(row: str) -> None:
    name, arguments, hints, kind = (cell.strip() for cell in row.split("|"))
    assert guess(tool(name, *arguments.split(), **HINTS[hints])).kind == kind


def test_c1_a_trusted_servers_hints_decide() -> None:
    assert guess(tool("send_email", "to", readOnlyHint=True), trusted=True).kind == "reads"
    assert guess(tool("list_things", readOnlyHint=False), trusted=True).kind == "changes"
    assert guess(tool("list_things"), trusted=True).kind == "reads"
    assert guess(tool("fetch", "url", readOnlyHint=True), trusted=True) == ToolGuess("reads")


def test_c1_a_servers_own_name_in_front_of_its_tools_is_no_verb() -> None:
    assert guess(tool("email_search", "query"), server=("email",)).kind == "reads"
    assert guess(tool("search", "query"), server=("search",)).kind == "reads"


def test_c1_values_that_an_argument_allows_may_show_that_something_changes() -> None:
    schema = {"properties": {"action": {"type": "string", "enum": ["list", "get", "delete"]}}}
    assert guess(ToolDefinition("list_tabs", input_schema=schema)).kind == "changes"
    either = {"properties": {"action": {"anyOf": [{"enum": ["list", "get"]}, {"type": "null"}]}}}
    assert guess(ToolDefinition("list_tabs", input_schema=either)).kind == "reads"


def test_c1_arguments_inside_of_arguments_count() -> None:
    inner = {"type": "object", "properties": {"outputDir": {"type": "string"}}}
    for params in (inner, {"type": "array", "items": inner}):
        schema = {"properties": {"params": params}}
        assert guess(ToolDefinition("get_logs", input_schema=schema)).kind == "changes"


@pytest.mark.parametrize(
    ("arguments", "address"),
    [("url", "url"), ("urls", "urls"), ("page_url limit", "page_url"), ("url method body", ""), ("url proxy_url", "")],
)
def test_c2_a_tool_that_only_fetches_an_address_is_recognised(arguments: str, address: str) -> None:
    assert guess(tool("fetch", *arguments.split())) == ToolGuess("sends", address)


def test_a_strange_schema_is_no_error() -> None:
    strange: list[Any] = [{"properties": []}, {"properties": {"a": True, "b": None}, "required": "a"}, {}, None]
    for schema in strange:
        assert guess(ToolDefinition("get_it", input_schema=schema)).kind == "reads"
    assert guess(ToolDefinition("", input_schema=None)).kind == "changes"
    assert guess(ToolDefinition("読む", input_schema=None)).kind == "changes"


@pytest.mark.parametrize(("name", "chooses"), [("to", True), ("path", True), ("content", False), ("webhook_url", True)])
def test_arguments_that_choose_a_target_are_known(name: str, chooses: bool) -> None:
    assert chooses_target(name) == chooses


def tool(name: str, *arguments: str, **annotations: bool) -> ToolDefinition:
    schema = {"type": "object", "properties": {argument: {"type": "string"} for argument in arguments}}
    return ToolDefinition(name, input_schema=schema, annotations=annotations)
