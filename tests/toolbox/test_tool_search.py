"""Finding tools by what they do."""

import json

from windlass.core.messages import ToolSpec
from windlass.toolbox.tool_search import SearchEntry, ranked, stem, stems, terms_of


def entry(name: str, description: str = "", *arguments: str, server: str = "") -> SearchEntry:
    schema = json.dumps({"type": "object", "properties": {key: {} for key in arguments}})
    return SearchEntry(name, terms_of(ToolSpec(name, "srv", name, description, schema)), frozenset(stems(server)))


TOOLS = [
    entry("createIssue", "Opens an issue.", "title", server="github"),
    entry("delete_file", "Removes a file.", "path", server="files"),
    entry("read_file", "Reads a file. Never deletes anything.", "path", server="files"),
    entry("aggregate", "Runs a pipeline.", "stages", server="mongodb"),
    entry("创建工单", "创建一个新的工单。", server="工单"),
]


def names(query: str) -> list[str]:
    return [name for name, _ in ranked(query, TOOLS)]


def test_forms_of_a_term_and_other_words_for_it_meet() -> None:
    assert {stem(one) for one in ("create", "creates", "creating", "created", "creation")} == {"creat"}
    assert {stem(one) for one in ("stop", "stopped", "stopping")} == {"stop"}
    assert {stem(one) for one in ("query", "queries")} == {"query"}
    assert stem("process") == stem("processes") and stem("status") == "status"
    assert names("report bugs")[0] == "createIssue"
    assert names("get rid of documents")[0] == "delete_file"


def test_names_are_taken_apart_and_count_more_than_descriptions() -> None:
    assert list(stems("getHTTPResponse_code")) == ["http", "respons", "cod"]
    assert names("deleting files")[:2] == ["delete_file", "read_file"]


def test_a_server_is_found_by_its_name_and_by_the_beginning_of_it() -> None:
    assert names("mongo")[0] == "aggregate" and names("what does mongodb have")[0] == "aggregate"


def test_scripts_without_spaces_and_accents_are_searched() -> None:
    assert names("新工单") == ["创建工单"]
    assert list(stems("Größe prüfen")) == list(stems("GROSSE prufen"))


def test_a_name_that_stands_in_the_query_comes_first_whatever_else_does() -> None:
    assert names("delete createIssue read file, please")[0] == "createIssue"
    assert {*names("`read_file`,aggregate")[:2]} == {"read_file", "aggregate"}


def test_operators_blanks_and_no_tools_are_no_error() -> None:
    for query in ("", "   ", "\u202e\u200b", '"AND (NOT [x] OR ', "%_' or 1=1 --", "\ud83d"):
        ranked(query, TOOLS)
    assert names("") == [] and ranked("file", []) == []
