"""Conversations: make, find, change, take out, bring in, delete for good."""

import asyncio
import base64
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import msgspec

from windlass.api import routes, schemas
from windlass.api.route import serves
from windlass.bus import Bus, ConversationChanged, Stream
from windlass.core.errors import BadInput, NotFound
from windlass.core.events import TurnFinished, TurnStarted
from windlass.core.ids import new_id
from windlass.core.messages import ChatMessage
from windlass.core.ports import Waiting
from windlass.runner import Runner
from windlass.services import exports
from windlass.services.context import Context
from windlass.services.imports import BEGAN, CHANGED, Imports, RepairedHistory, moment, repaired, spans, with_own_ids
from windlass.services.personas import Personas
from windlass.services.providers import Providers
from windlass.services.search_hits import search_hit
from windlass.services.slices import sliced
from windlass.services.tools import ConversationTools
from windlass.store import NAMES_EDITION, ConversationRow, Listed, Store, TurnRow
from windlass.turns.records import OpenQuestions, TurnRecords
from windlass.turns.views import iso, messages_shown, pending_calls, waiting_shown

STOP_S = 5
MOST_HITS = 5  # of one conversation in a search
WRITTEN_AT_ONCE = 256 * 1024  # letters of imported turns that are written before others get their turn
TURN_SIZE = 4096  # what a turn costs beside its text, in letters


class Conversations:
    def __init__(
        self,
        store: Store,
        bus: Bus,
        runner: Runner,
        records: TurnRecords,
        context: Context,
        tools: ConversationTools,
        personas: Personas,
        providers: Providers,
    ) -> None:
        self._store = store
        self._bus = bus
        self._personas = personas
        self._providers = providers
        self._runner = runner
        self._records = records
        self._context = context
        self._tools = tools
        self._imports = Imports(store)
        bus.show_changes(self._changed)

    async def load(self) -> None:
        await self._imports.sweep()

    @serves(routes.conversations.create)
    async def create(self, new: schemas.NewConversation) -> schemas.ConversationAnswer:
        self._check(new.persona, new.provider)
        tools = self._personas.tools_of(new.persona) if new.persona else ()
        made = await self._store.conversations.create(_row(new))
        await self._tools.enable_matching(made.id, tools)
        self._bus.changed(made.id)
        return schemas.ConversationAnswer(conversation_shown(made), message="Conversation created")

    @serves(routes.conversations.recent)
    async def recent(self, page: schemas.PageQuery) -> schemas.ConversationList:
        listed = self._store.conversations.recent(page.limit + 1, _position(page.cursor))
        asked = self._records.open_questions()
        shown = [self._listed_shown(one, asked) for one in listed[: page.limit]]
        if not page.cursor:
            shown = [*self._asking_clients(asked), *shown]
        more = len(listed) > page.limit
        return schemas.ConversationList(
            shown, len(shown), _cursor(listed[page.limit - 1].conversation) if more else None
        )

    @serves(routes.conversations.search)
    async def search(self, query: schemas.SearchQuery) -> schemas.ConversationList:
        text = "".join(letter if letter.isprintable() else " " for letter in query.q)
        await self._store.index()
        turns: dict[str, list[str]] = {}
        for found in await self._store.conversations.search(text, query.limit):
            turns.setdefault(found.conversation_id, []).append(found.turn_id)
        asked = self._records.open_questions()
        shown = []
        async for id, turn_ids in sliced(turns.items()):
            if listed := self._store.conversations.listed(id):
                shown.append(_found_shown(self._listed_shown(listed, asked), self._hits(turn_ids, text)))
        return schemas.ConversationList(shown, len(shown))

    def _hits(self, turn_ids: Sequence[str], text: str) -> list[schemas.MessageHit]:
        hits = []
        for turn_id in turn_ids[:MOST_HITS]:
            with suppress(NotFound):  # deleted since it was found
                hits.append(search_hit(messages_shown(self._records.get(turn_id)), text))
        return [hit for hit in hits if hit]

    @serves(routes.conversations.get)
    async def get(self, conversation_id: str) -> schemas.ConversationAnswer:
        return schemas.ConversationAnswer(self._shown(conversation_id), message="Conversation found")

    @serves(routes.conversations.change)
    @serves(routes.conversations.change_put)
    async def change(self, conversation_id: str, change: schemas.ConversationChange) -> schemas.ConversationAnswer:
        given: dict[str, Any] = {
            name: value for name, value in msgspec.structs.asdict(change).items() if value is not msgspec.UNSET
        }
        self._store.conversations.get(conversation_id)
        self._check(given.get("persona", ""), given.get("provider", ""))
        if "model" in given:
            given["names_edition"] = NAMES_EDITION
        await self._store.conversations.change(conversation_id, given)
        self._bus.changed(conversation_id)
        return schemas.ConversationAnswer(self._shown(conversation_id), message="Conversation changed")

    @serves(routes.conversations.delete)
    async def delete(self, conversation_id: str) -> schemas.Acknowledged:
        """Running turns are stopped first; then everything of it goes, results and index too."""
        self._store.conversations.get(conversation_id)
        running = [turn for turn in self._store.conversations.turns(conversation_id) if turn.state != "finished"]
        for turn in running:
            await self._runner.stop(turn.id)
        for turn in running:
            await self._runner.settled(turn.id, STOP_S)
        await self._store.conversations.delete(conversation_id)
        self._bus.changed(conversation_id)
        await self._store.empty_journal()
        return schemas.Acknowledged(message="Conversation deleted")

    @serves(routes.conversations.turns)
    async def turns(self, conversation_id: str) -> schemas.TurnList:
        self._store.conversations.get(conversation_id)
        asked = self._records.open_questions()
        turns = [
            _turn_listed(turn, asked.state(turn.id, turn.state))
            for turn in self._store.conversations.turns(conversation_id)
        ]
        return schemas.TurnList(turns, len(turns))

    @serves(routes.conversations.events)
    async def events(self, conversation_id: str, after: int) -> Stream:
        self._store.conversations.get(conversation_id)
        return self._records.stream(conversation_id, after)

    @serves(routes.conversations.changes)
    async def changes(self, conversation_id: str, after: int) -> Stream:
        if conversation_id:
            self._store.conversations.get(conversation_id)
        return self._records.list_stream(conversation_id, after)

    @serves(routes.conversations.export)
    async def export(self, conversation_id: str, query: schemas.ExportQuery) -> schemas.Export | str:
        """Read in slices and written in a thread: it may be as long as a year."""
        shown = self._shown(conversation_id)
        path = [record async for record in sliced(self._records.path(conversation_id))]
        if query.format == "markdown":
            return await asyncio.to_thread(exports.as_markdown, shown, path)
        context = (await self._context.all(conversation_id)).context
        tools = (await self._tools.enabled(conversation_id)).enabled_tools
        every = [record async for record in sliced(self._records.all(conversation_id))]
        return await asyncio.to_thread(exports.as_json, shown, context, tools, path, every, time.time())

    @serves(routes.conversations.import_)
    async def import_(self, given: object) -> schemas.Imported:
        """All of it or nothing. Every turn comes in finished: an unfinished one would be run at the next start."""
        document: dict[str, Any] = given if isinstance(given, dict) else {"messages": given}
        branches = await asyncio.to_thread(_branches, document)
        described = _described(document, branches)
        made = replace(self._settled(described), id=new_id("conv"))
        async with self._imports.whole(made.id):
            await self._store.conversations.create(made)
            await self._put_turns(made.id, branches, described.created_at)
            for item in _context_items(document):
                await self._context.add(made.id, item)
        self._bus.changed(made.id)
        repairs = [repair for _, _, history in branches for repair in history.repairs]
        count = sum(history.count for _, _, history in branches)
        return schemas.Imported(self._shown(made.id), count, repairs, message="Conversation imported")

    def _settled(self, conversation: ConversationRow) -> ConversationRow:
        """Without names that only another installation knows."""
        persona = conversation.persona if self._personas.has(conversation.persona) else ""
        provider = conversation.provider if self._providers.has(conversation.provider) else ""
        return replace(conversation, persona=persona, provider=provider)

    def _check(self, persona: str, provider: str) -> None:
        if persona and not self._personas.has(persona):
            hint = "GET /personas shows those that are there."
            raise BadInput(f"persona: there is none with the id {persona}.", hint=hint, detail={"path": "persona"})
        if provider and not self._providers.has(provider):
            hint = "GET /providers shows those that are there."
            raise BadInput(f"provider: there is none with the id {provider}.", hint=hint, detail={"path": "provider"})

    async def _put_turns(self, conversation_id: str, branches: "list[Branch]", began: float) -> None:
        """Ids are made beforehand and in order, so that the last turn is the newest one."""
        times = iter(spans([times for _, _, history in branches for times in history.times], began))
        turns = (turn for _, _, history in branches for turn in history.turns)
        ids = iter(sorted([new_id("turn") async for _ in sliced(turns)]))
        last_of: dict[str, str] = {}
        waiting: list[asyncio.Future[Any]] = []
        size = 0
        for name, parent, history in branches:
            parent_id = last_of.get(parent)
            for turn in history.turns:
                turn_id = next(ids)
                started = TurnStarted(with_own_ids(turn_id, turn), origin="added")
                landed = self._store.logs.create(
                    conversation_id,
                    started,
                    TurnFinished("added"),
                    parent_id=parent_id,
                    turn_id=turn_id,
                    span=next(times),
                )
                waiting.append(landed)
                size += TURN_SIZE + sum(len(message.content or "") for message in turn)
                if size > WRITTEN_AT_ONCE:  # else all of them would be written in one round of the loop
                    await _all_landed(waiting)
                    size = 0
                parent_id = turn_id
            if parent_id:
                last_of[name] = parent_id
        await _all_landed(waiting)

    def _shown(self, conversation_id: str) -> schemas.Conversation:
        conversation = self._store.conversations.get(conversation_id)
        turns = self._store.conversations.turns(conversation_id)
        if not turns:
            return conversation_shown(conversation)
        head = turns[-1]
        open_turns = [turn for turn in turns if turn.state != "finished"]
        asked = self._records.open_questions()
        return conversation_shown(
            conversation,
            state=asked.state(head.id, head.state),
            outcome=head.outcome,
            approvals=sum(turn.approvals for turn in open_turns),
            unknowns=sum(turn.unknowns for turn in open_turns),
            questions=asked.by_conversation[conversation_id],
            head=head.id,
            waiting=self._bus.announced(head.id),
        )

    def _changed(self, conversation_id: str) -> ConversationChanged | None:
        listed = self._store.conversations.listed(conversation_id)
        if listed is None:
            return ConversationChanged(conversation_id, None)
        if listed.conversation.client:
            shown = self._client_shown(listed, self._records.open_questions())
            return ConversationChanged(conversation_id, shown)
        if listed.conversation.hidden:
            return None
        return ConversationChanged(conversation_id, self._listed_shown(listed, self._records.open_questions()))

    def _asking_clients(self, asked: OpenQuestions) -> list[schemas.Conversation]:
        found = (self._client_shown(one, asked) for one in self._store.conversations.waiting_clients())
        return [shown for shown in found if shown]

    def _client_shown(self, one: Listed, asked: OpenQuestions) -> schemas.Conversation | None:
        """A program's calls are listed while one of them waits for a person, under what it asks."""
        turns = self._store.conversations.turns_open(one.conversation.id)
        waiting = [call for turn in turns for call in pending_calls(self._records.get(turn.id))]
        if not waiting:
            return None
        first, more = waiting[0], f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        where = f" on {first.server_slug}" if first.server_slug else ""
        shown = self._listed_shown(one, asked)
        shown.title = f"{one.conversation.client} asks: {first.name}{where}{more}"
        return shown

    def _listed_shown(self, one: Listed, asked: OpenQuestions) -> schemas.Conversation:
        return conversation_shown(
            one.conversation,
            state=asked.state(one.head, one.state),
            outcome=one.outcome,
            approvals=one.approvals,
            unknowns=one.unknowns,
            questions=asked.by_conversation[one.conversation.id],
            head=one.head,
            waiting=self._bus.announced(one.head),
        )


Branch = tuple[str, str, RepairedHistory]  # a name, the name of the branch it grows from, its turns


def conversation_shown(
    one: ConversationRow,
    *,
    state: str = "",
    outcome: str = "",
    approvals: int = 0,
    unknowns: int = 0,
    questions: int = 0,
    head: str = "",
    waiting: Waiting | None = None,
) -> schemas.Conversation:
    return schemas.Conversation(
        id=one.id,
        title=one.title,
        description=one.description,
        system_prompt=one.system_prompt,
        persona=one.persona,
        provider=one.provider,
        model=one.model,
        temperature=one.temperature,
        max_tokens=one.max_tokens,
        max_messages=one.max_messages,
        created_at=iso(one.created_at),
        updated_at=iso(one.updated_at),
        head_turn_id=head or None,
        state=turn_state(state) if state else "empty",
        outcome=outcome or None,
        approvals=approvals,
        unknowns=unknowns,
        questions=questions,
        waiting=waiting_shown(waiting) if waiting else None,
        client=one.client,
    )


def _found_shown(shown: schemas.Conversation, hits: list[schemas.MessageHit]) -> schemas.Conversation:
    shown.hits = hits
    shown.excerpt = "".join(hits[0].pieces) if hits else msgspec.UNSET
    return shown


def turn_state(state: str) -> Any:
    return state


def _turn_listed(turn: TurnRow, state: str) -> schemas.TurnSummary:
    return schemas.TurnSummary(turn.id, turn.parent_id, turn_state(state), turn.outcome or None, iso(turn.created_at))


async def _all_landed(waiting: "list[asyncio.Future[Any]]") -> None:
    for one in waiting:
        await one
    waiting.clear()
    await asyncio.sleep(0)  # what is on the disk already is awaited without a pause


def _cursor(last: ConversationRow) -> str:
    return base64.urlsafe_b64encode(f"{last.updated_at!r} {last.id}".encode()).decode()


def _position(cursor: str) -> tuple[float, str] | None:
    if not cursor:
        return None
    try:
        at, _, id = base64.urlsafe_b64decode(cursor).decode().partition(" ")
        return float(at), id
    except ValueError:
        raise BadInput("cursor: this is none of ours.", hint="Use `next_cursor` of the page before.") from None


def _branches(document: dict[str, Any]) -> list[Branch]:
    """Our own export names every turn and its parent; anything else is one line of messages."""
    turns = document.get("turns")
    if document.get("format") == "windlass" and isinstance(turns, list):
        return [_branch(position, turn) for position, turn in enumerate(turns)]
    messages = document.get("messages")
    if not isinstance(messages, list):
        raise BadInput("messages: a list is needed.", hint='Send {"messages": [{"role": "user", "content": "..."}]}.')
    history = repaired(messages)
    if messages and not history.turns:
        raise BadInput(
            "messages: none of them can be read.",
            hint='Each needs a role and a content, as in {"role": "user", "content": "..."}.',
            detail={"repairs": history.repairs[:10]},
        )
    return [("", "none", history)]


def _branch(position: int, turn: Any) -> Branch:
    if not isinstance(turn, dict) or not isinstance(turn.get("messages"), list):
        raise BadInput(
            f"turns[{position}]: an object with `messages` is needed.", detail={"path": f"turns[{position}]"}
        )
    return str(turn.get("id")), str(turn.get("parent_turn_id")), repaired(turn["messages"])


def _described(document: dict[str, Any], branches: list[Branch]) -> ConversationRow:
    """The settings that came along, as far as they are of the right kind."""
    given = document.get("conversation")
    fields = given if isinstance(given, dict) else document
    known = {field.name for field in msgspec.structs.fields(schemas.NewConversation)}
    try:
        chosen = {name: value for name, value in fields.items() if name in known}
        new = msgspec.convert(chosen, schemas.NewConversation)
    except msgspec.ValidationError as error:
        raise BadInput(f"conversation: {error}") from None
    if not new.title:
        messages = (message for _, _, history in branches for turn in history.turns for message in turn)
        new.title = title_from(next(messages, ChatMessage("user", "")).content or "")
    began, changed = _lasted(fields, branches)
    return replace(_row(new), created_at=began, updated_at=changed, imported_at=time.time())


def _row(new: schemas.NewConversation) -> ConversationRow:
    return ConversationRow("", **msgspec.structs.asdict(new), names_edition=NAMES_EDITION)


def _lasted(fields: dict[str, Any], branches: list[Branch]) -> tuple[float, float]:
    """When it began and when it was last changed: what it says itself, else what its messages say, else now."""
    known = [at for _, _, history in branches for turn in history.times for at in turn if at]
    began = moment(fields, BEGAN) or min(known, default=time.time())
    return began, moment(fields, CHANGED) or max(known, default=began)


def _context_items(document: dict[str, Any]) -> list[schemas.NewContextItem]:
    items = document.get("context")
    known = {field.name for field in msgspec.structs.fields(schemas.NewContextItem)}
    try:
        return [
            msgspec.convert({k: v for k, v in item.items() if k in known}, schemas.NewContextItem)
            for item in (items if isinstance(items, list) else [])
            if isinstance(item, dict)
        ]
    except msgspec.ValidationError as error:
        raise BadInput(f"context: {error}") from None


def title_from(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:59].rsplit(" ", 1)[0] + "…"
