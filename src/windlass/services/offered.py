"""What servers offer besides tools, for people and programs: list, read, fill in, complete; and resources that are
attached to a message."""

import re
from collections.abc import Sequence

from msgspec import UNSET, structs

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.core.errors import BadInput, NotFound, ToolError
from windlass.core.ids import new_id
from windlass.core.messages import Attachment
from windlass.servers import Servers
from windlass.servers.offered import ListedPrompt, ListedResource, PromptMessage
from windlass.servers.values import EmbeddedPart, LinkPart, MediaPart, TextPart
from windlass.services.slices import sliced
from windlass.toolbox import Toolbox
from windlass.toolbox.results import decoded_size
from windlass.toolbox.schemas import visible

READ_S = 60.0
READY_S = 15.0
LONGEST_TEXT = 1_000_000  # characters of a resource that are shown
LONGEST_BLOB = 4 << 20  # in base64
_VARIABLES = re.compile(r"\{[+#./;?&]?([^{}]*)\}")
_MARKS = re.compile(r"(\*|:\d+)$")
# Control characters, blanks of no width, and selectors of variants, in which whole sentences can be written.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0e\uffa0"
    "\U000e0080-\U000e0fff]"
)


class McpOffers:
    def __init__(self, servers: Servers, toolbox: Toolbox) -> None:
        self._servers = servers
        self._toolbox = toolbox

    @serves(routes.servers.resources)
    async def resources(self, server: str, query: schemas.OfferedQuery) -> schemas.ServerResources:
        state = (await self._servers.wait_ready(server, READY_S)).state
        every = await self._servers.ask(server, lambda there: there.resources()) if state == "running" else ()
        words = query.q.casefold().split()
        found = [one async for one in sliced(every) if _holds(one, words)]
        shown = [
            schemas.ServerResource(one.uri, one.name, one.title, one.description, one.mime, one.size)
            for one in found[: query.limit]
        ]
        return schemas.ServerResources(shown, len(shown), len(found), state)

    @serves(routes.servers.templates)
    async def templates(self, server: str) -> schemas.ServerTemplates:
        state = (await self._servers.wait_ready(server, READY_S)).state
        every = await self._servers.ask(server, lambda there: there.templates()) if state == "running" else ()
        shown = [
            schemas.ServerTemplate(one.uri, one.name, one.title, one.description, one.mime, variables(one.uri))
            for one in every
        ]
        return schemas.ServerTemplates(shown, len(shown), state)

    @serves(routes.servers.prompts)
    async def prompts(self, server: str) -> schemas.ServerPrompts:
        state = (await self._servers.wait_ready(server, READY_S)).state
        every = await self._servers.ask(server, lambda there: there.prompts()) if state == "running" else ()
        completes = self._servers.abilities(server).completions
        return schemas.ServerPrompts([_prompt(one) for one in every], len(every), state, completes)

    @serves(routes.servers.read_resource)
    async def read(self, server: str, wanted: schemas.ReadServerResource) -> schemas.ReadResourceAnswer:
        self._check_allowed("", server, wanted.uri)
        await self._servers.wait_ready(server, READY_S)
        found = await self._servers.ask(server, lambda there: there.read(wanted.uri, READ_S), READ_S)
        if found.spilled:
            if found.spilled.file:
                found.spilled.file.close()
            raise _too_long(wanted.uri, found.spilled.size)
        return schemas.ReadResourceAnswer([await self._content(one) for one in found.contents])

    @serves(routes.servers.fill_prompt)
    async def fill(self, server: str, wanted: schemas.FillServerPrompt) -> schemas.FilledServerPrompt:
        await self._servers.wait_ready(server, READY_S)
        found = await self._servers.ask(
            server, lambda there: there.prompt(wanted.name, wanted.arguments, READ_S), READ_S
        )
        messages = [_message(one) for one in found.messages]
        notes = [_NOTES[one.type].format(one.text) for one in messages if one.type in _NOTES]
        return schemas.FilledServerPrompt(found.description, as_one_text(messages), messages, notes)

    @serves(routes.servers.complete)
    async def complete(self, server: str, wanted: schemas.CompleteArgument) -> schemas.CompletedArgument:
        if bool(wanted.prompt) == bool(wanted.template):
            raise BadInput("Name either a prompt or a template.", detail={"path": "prompt"})
        if self._servers.status(server).state != "running":
            return schemas.CompletedArgument([], has_more=False)
        found = await self._servers.ask(
            server,
            lambda there: there.complete(
                "prompt" if wanted.prompt else "resource",
                wanted.prompt or wanted.template,
                wanted.argument,
                wanted.value,
                wanted.arguments,
            ),
        )
        return schemas.CompletedArgument(list(found.values), found.has_more)

    async def attached(
        self, conversation_id: str, wanted: Sequence[schemas.AttachedResource]
    ) -> tuple[Attachment, ...]:
        """Read now, so that the turn holds what was there when the message was sent. Raises `BadInput` where one cannot
        be read or is no text: then nothing was begun."""
        return tuple([await self._attached(conversation_id, one, at) for at, one in enumerate(wanted)])

    async def _attached(self, conversation_id: str, wanted: schemas.AttachedResource, at: int) -> Attachment:
        try:
            config = (await self._servers.wait_ready(wanted.server, READY_S)).config
            self._check_allowed(conversation_id, config.slug, wanted.uri)
            found = await self._servers.ask(config.id, lambda there: there.read(wanted.uri, READ_S), READ_S)
        except (ToolError, NotFound) as error:
            raise _refused(wanted, at, "unreadable", error.message, error.hint or CHECK_ADDRESS) from error
        if found.spilled:
            if found.spilled.file:
                found.spilled.file.close()
            raise _refused(
                wanted, at, "too_large", f"It is too large, with {found.spilled.size:,} bytes.", READ_INSTEAD
            )
        if not found.contents or any(one.text is None for one in found.contents):
            kinds = sorted({one.mime or "binary" for one in found.contents if one.text is None})
            what = f"It is not text ({', '.join(kinds)})." if kinds else "It is empty."
            raise _refused(wanted, at, "not_text", what, "Only text can be attached.")
        text = "\n".join(one.text or "" for one in found.contents)
        clean = self._servers.redaction
        return Attachment(new_id("att"), config.slug, clean.text(wanted.uri), await clean.long_text(text))

    def _check_allowed(self, conversation_id: str, server: str, uri: str) -> None:
        """Who attaches a resource asks for it by name, so that nothing but a denial stands against it."""
        slug = self._servers.config(server).slug
        judged = self._toolbox.judged_resource(conversation_id, slug, uri)
        if judged.verdict == "refuse":
            raise BadInput(
                f"{slug}: its resources may not be read. {judged.reason}",
                hint="The Permissions page shows what denies it.",
                code="denied",
                detail={"permission_id": judged.permission},
            )

    async def _content(self, one: EmbeddedPart) -> schemas.ResourceContent:
        redaction = self._servers.redaction
        if one.text is not None:
            text = await redaction.long_text(one.text)
            shown = text[:LONGEST_TEXT]
            return schemas.ResourceContent(one.uri, one.mime, shown, None, len(text), len(shown) < len(text))
        blob = one.blob or ""
        kept = (await redaction.long_text(blob)) if len(blob) <= LONGEST_BLOB else None
        return schemas.ResourceContent(one.uri, one.mime, None, kept, decoded_size(blob), kept is None)


CHECK_ADDRESS = "Check its address. GET /servers/{id}/resources lists those that the server names."
READ_INSTEAD = "Name it in the message and let the model read it in pieces with resource_read."
_NOTES = {"other": "{} is part of the prompt and cannot be inserted."}


def variables(template: str) -> list[str]:
    """The names in a URI template, each once."""
    names = (_MARKS.sub("", name.strip()) for found in _VARIABLES.findall(template) for name in found.split(","))
    return list(dict.fromkeys(filter(None, names)))


def as_one_text(messages: Sequence[schemas.ServerPromptMessage]) -> str:
    """Roles are written out only where the assistant speaks too."""
    both = any(one.role == "assistant" for one in messages)
    parts = [f"{one.role.capitalize()}: {one.text}" if both else one.text for one in messages if one.type != "other"]
    return "\n\n".join(parts)


def _message(one: PromptMessage) -> schemas.ServerPromptMessage:
    """Its text counts as the person's once it is in the message box, so that nothing stands in it that is not seen."""
    shown = _written_out(one)
    uri = shown.uri if shown.uri is UNSET else _seen(shown.uri)
    return structs.replace(shown, text=_seen(shown.text), uri=uri)


def _seen(text: str) -> str:
    return _UNSEEN.sub("", visible(text))


def _written_out(one: PromptMessage) -> schemas.ServerPromptMessage:
    match one.part:
        case TextPart(text):
            return schemas.ServerPromptMessage(one.role, "text", text)
        case EmbeddedPart(uri, _, str() as text):
            return schemas.ServerPromptMessage(one.role, "resource", f"{uri}:\n{text}", uri)
        case EmbeddedPart(uri, mime):
            return schemas.ServerPromptMessage(one.role, "other", f"The resource {uri} ({mime or 'binary'})", uri)
        case LinkPart(uri, name, title):
            return schemas.ServerPromptMessage(one.role, "resource", f"[{title or name or uri}]({uri})", uri)
        case MediaPart(kind, mime):
            return schemas.ServerPromptMessage(one.role, "other", f"A file of type {mime or kind}", UNSET)


def _prompt(one: ListedPrompt) -> schemas.ServerPrompt:
    arguments = [
        schemas.ServerPromptArgument(each.name, each.title, each.description, each.required) for each in one.arguments
    ]
    return schemas.ServerPrompt(one.name, one.title, one.description, arguments)


def _holds(one: ListedResource, terms: Sequence[str]) -> bool:
    text = f"{one.uri} {one.name} {one.title} {one.description}".casefold()
    return all(term in text for term in terms)


def _too_long(uri: str, size: int) -> BadInput:
    return BadInput(f"{uri[:200]} is too large to be shown, with {size:,} bytes.", hint=READ_INSTEAD, code="too_large")


def _refused(wanted: schemas.AttachedResource, at: int, code: str, why: str, hint: str) -> BadInput:
    return BadInput(
        f"{wanted.uri[:200]} of {wanted.server[:100]} was not attached: {why}",
        hint=hint,
        code=f"attachment_{code}",
        detail={"path": f"attachments[{at}]", "server": wanted.server, "uri": wanted.uri},
    )
