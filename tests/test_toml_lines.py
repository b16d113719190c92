"""The lines of settings, as a person would point at them."""

from windlass.toml_lines import setting_lines

FILE = '''# approval = "auto"
[server]
port = 1

[servers.files]
command = "npx"
note = """
approval = "deny"
[servers.lost]
"""
approval = "ask"          # asks

[servers.files.tools."read file"]
approval = "auto"
[servers.mail]
tools.send.approval = "deny"
tools.draft = {approval = "auto"}

[[policy]]
tool = "git_*"
[[ policy ]]
tool = "x"
'''


def test_settings_are_found_by_their_dotted_names() -> None:
    lines = setting_lines(FILE)
    assert lines["servers.files.approval"] == 11
    assert lines["servers.files.tools.read file.approval"] == 14
    assert lines["servers.mail.tools.send.approval"] == 16
    assert (lines["policy.1"], lines["policy.2"], lines["policy.2.tool"]) == (19, 21, 22)


def test_comments_and_long_strings_hold_no_settings() -> None:
    lines = setting_lines(FILE)
    assert "approval" not in lines and "servers.lost" not in lines


def test_an_array_over_several_lines_is_no_table() -> None:
    lines = setting_lines('[servers.a]\nargs = [\n  "x",\n  ["y"],\n]\napproval = "auto"\n')
    assert lines == {"servers.a": 1, "servers.a.args": 2, "servers.a.approval": 6}
