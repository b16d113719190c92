"""`windlass chat`: a conversation at the terminal, with line editing, history and a few commands of its own."""

import re
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.offered import pairs
from windlass.cli.options import LEFT
from windlass.cli.output import clean, from_terminal, line, note, table
from windlass.cli.session import Connected, opened, state_folder
from windlass.cli.stream import TurnPrinter, follow, missing_line, report_end
from windlass.core.errors import BadInput, WindlassError

HELP = """\
Enter sends; end a line with \\ to continue it. Ctrl-C stops the turn, Ctrl-D leaves.
/tools [on|off NAME]   the tools here, or switch one; names are server.tool, * for any
/model [NAME]          the model of the next messages
/branch [TURN]         the turns so far, or continue from an earlier one
/stop                  stop a turn that waits
/SERVER.PROMPT A=B     fill in a prompt of a server, show it and send it
/new                   start a new chat
/quit                  leave
Anything else is sent to the model, including other lines that begin with /."""
HISTORY = 1000
_PROMPT = re.compile(r"/(?P<server>[a-z0-9_-]+)\.(?P<prompt>\S+)(?:\s+(?P<arguments>.*))?", re.DOTALL)


def chat(
    ctx: typer.Context,
    conversation: Annotated[str, typer.Option("--conversation", "-c", help="Continue this chat.")] = "",
    persona: Annotated[str, typer.Option(help="The persona, such as researcher.")] = "",
    model: Annotated[str, typer.Option("--model", "-m", help="Use this model instead of the default.")] = "",
) -> None:
    """Chat in the terminal. /help shows its commands."""
    with opened(ctx) as session:
        conversation_id = conversation or session.run(session.w.begin(persona=persona))
        note(f"Chat {conversation_id}. /help shows what you can do; Ctrl-D leaves.")
        with _Lines(state_folder(session.config) / "chat_history") as lines:
            code = ChatLoop(session, conversation_id, model, persona).run(lines)
    raise typer.Exit(code)


class ChatLoop:
    def __init__(self, session: Connected, conversation_id: str, model: str, persona: str) -> None:
        self._session = session
        self._conversation_id = conversation_id
        self._model = model
        self._persona = persona
        self._parent: str | None = None
        self._leave = False

    def run(self, lines: "_Lines") -> int:
        while not self._leave:
            try:
                text = lines.read()
            except EOFError:
                return 0
            except KeyboardInterrupt:
                note("Ctrl-D leaves.")
                continue
            try:
                self._handle(text)
            except WindlassError as error:
                note(f"{error.message} {error.hint}".strip(), "red")
            except KeyboardInterrupt:
                return LEFT
        return 0

    def _handle(self, text: str) -> None:
        name, _, rest = text.strip().partition(" ")
        command = COMMANDS.get(name)
        if command:
            command(self, rest.strip())
        elif text.strip():
            if filled := self._filled(text):
                self._send(filled)
            elif filled is None:
                self._send(text)

    def _filled(self, text: str) -> str | None:
        """The text of a server's prompt, shown first and "" when it is not to be sent; None where the line names none.
        No tool's name holds a dot, so this takes nothing from the demo model's commands."""
        found = _PROMPT.fullmatch(text.strip())
        slugs = [one.slug for one in self._session.run(self._session.w.servers.list())] if found else []
        if found is None or found["server"] not in slugs:
            return None
        known = self._session.run(self._session.w.servers.prompts(found["server"])).prompts
        if all(one.name != found["prompt"] for one in known):
            return None
        given = pairs(_split(found["arguments"] or ""))
        filled = self._session.run(self._session.w.servers.prompt(found["server"], found["prompt"], given))
        for notice in filled.notes:
            note(line(notice), "yellow")
        note(filled.text, "")
        if from_terminal() and not typer.confirm("Send it?", default=True, err=True):
            return ""
        return filled.text

    def _send(self, text: str) -> None:
        w = self._session.w
        printer = TurnPrinter(stream=True)
        events = w.stream(text, conversation_id=self._conversation_id, model=self._model, parent_turn_id=self._parent)
        self._parent = None
        turn = follow(self._session, events, printer, "ask")
        if turn.answer and not printer.streams:
            sys.stdout.write(clean(turn.answer) + "\n")
        report_end(turn)

    def _help(self, rest: str) -> None:
        note(HELP)

    def _tools(self, rest: str) -> None:
        switch, _, pattern = rest.partition(" ")
        if switch in ("on", "off") and pattern:
            self._session.run(self._session.w.switch_tools(self._conversation_id, pattern.strip(), on=switch == "on"))
        there = self._session.run(self._session.w.tools.available(self._conversation_id))
        rows = (
            ("on" if tool.enabled else "off", f"{tool.server_slug}.{tool.tool_name}", line(tool.description, 60))
            for tool in there.available_tools
        )
        table(("", "tool", "what it does"), rows, "No server is running.")
        for missing in there.unavailable:
            note(missing_line(missing))

    def _use_model(self, rest: str) -> None:
        self._model = rest or self._model
        note(f"Model: {self._model or 'the default'}")

    def _branch(self, rest: str) -> None:
        if rest:
            self._parent = rest
            return note(f"The next message continues from {rest}.")
        turns = self._session.run(self._session.w.conversations.turns(self._conversation_id))
        table(
            ("turn", "after", "outcome"),
            ((turn.id, turn.parent_turn_id or "", turn.outcome or turn.state) for turn in turns),
            "No turns yet.",
        )

    def _stop(self, rest: str) -> None:
        turns = self._session.run(self._session.w.conversations.turns(self._conversation_id))
        for turn in turns:
            if turn.state != "finished":
                self._session.run(self._session.w.turns.stop(turn.id))
                note(f"Stopped {turn.id}.")

    def _new(self, rest: str) -> None:
        self._conversation_id = self._session.run(self._session.w.begin(persona=self._persona))
        note(f"Chat {self._conversation_id}.")

    def _quit(self, rest: str) -> None:
        self._leave = True


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise BadInput(f"The arguments cannot be read: {error}.", hint='Quote values: topic="two words".') from None


COMMANDS = {
    "/help": ChatLoop._help,
    "/tools": ChatLoop._tools,
    "/model": ChatLoop._use_model,
    "/branch": ChatLoop._branch,
    "/stop": ChatLoop._stop,
    "/new": ChatLoop._new,
    "/quit": ChatLoop._quit,
    "/exit": ChatLoop._quit,
}


class _Lines:
    """The lines a person types, with the history of earlier runs."""

    def __init__(self, history: Path) -> None:
        self._history = history

    def __enter__(self) -> "_Lines":
        try:
            import readline  # not on every platform; without it there is no history
        except ImportError:
            return self
        if self._history.exists():
            readline.read_history_file(self._history)
        readline.set_history_length(HISTORY)
        return self

    def __exit__(self, *raised: object) -> None:
        if "readline" in sys.modules:
            self._history.touch(mode=0o600)
            sys.modules["readline"].write_history_file(self._history)

    def read(self) -> str:
        text = input("> " if sys.stdin.isatty() else "")
        while text.endswith("\\"):
            text = text[:-1] + "\n" + input("… " if sys.stdin.isatty() else "")
        return text
