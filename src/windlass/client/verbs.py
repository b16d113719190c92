"""The verbs of the API as methods, grouped as the routes are. Each gives what its route gives, unwrapped."""

from typing import Any, Literal, cast

from msgspec import UNSET, ValidationError, convert

from windlass import shapes
from windlass.client.wire import Wire
from windlass.core.errors import BadInput

Approval = Literal["auto", "ask", "deny"]
Scope = Literal["once", "conversation", "always"]
# In a class with a verb `list`, the word means that verb.
Texts = list[str]
ConversationRows = list[shapes.Conversation]
TurnRows = list[shapes.TurnSummary]
ServerRows = list[shapes.Server]
LocalRows = list[shapes.LocalServer]
ModelRows = list[shapes.Model]


class Group:
    def __init__(self, wire: Wire) -> None:
        self._wire = wire


class Conversations(Group):
    async def create(self, title: str = "", **fields: Any) -> shapes.Conversation:
        body = _shaped(shapes.NewConversation, {"title": title, **fields})
        return cast(shapes.ConversationAnswer, await self._wire.call("conversations.create", body=body)).conversation

    async def list(self, limit: int = 50, cursor: str = "") -> shapes.ConversationList:
        query = shapes.PageQuery(limit=limit, cursor=cursor)
        return cast(shapes.ConversationList, await self._wire.call("conversations.recent", query=query))

    async def search(self, words: str, limit: int = 50) -> ConversationRows:
        query = shapes.SearchQuery(q=words, limit=limit)
        return cast(shapes.ConversationList, await self._wire.call("conversations.search", query=query)).conversations

    async def get(self, conversation_id: str) -> shapes.Conversation:
        answer: shapes.ConversationAnswer = await self._wire.call("conversations.get", conversation_id)
        return answer.conversation

    async def change(self, conversation_id: str, **fields: Any) -> shapes.Conversation:
        body = _shaped(shapes.ConversationChange, fields)
        answer: shapes.ConversationAnswer = await self._wire.call("conversations.change", conversation_id, body=body)
        return answer.conversation

    async def delete(self, conversation_id: str) -> None:
        await self._wire.call("conversations.delete", conversation_id)

    async def export(self, conversation_id: str) -> shapes.Export:
        return cast(shapes.Export, await self._wire.call("conversations.export", conversation_id))

    async def markdown(self, conversation_id: str) -> str:
        query = shapes.ExportQuery(format="markdown")
        return cast(str, await self._wire.call("conversations.export", conversation_id, query=query))

    async def take_in(self, exported: object) -> shapes.Imported:
        return cast(shapes.Imported, await self._wire.call("conversations.take_in", body=exported))

    async def turns(self, conversation_id: str) -> TurnRows:
        return cast(shapes.TurnList, await self._wire.call("conversations.turns", conversation_id)).turns


class Messages(Group):
    async def add(
        self,
        conversation_id: str,
        role: Literal["user", "assistant", "system", "tool"],
        content: str | None = None,
        *,
        tool_calls: list[shapes.CallInMessage] | None = None,
        tool_call_id: str | None = None,
        name: str | None = None,
    ) -> shapes.Message:
        body = shapes.NewMessage(role, content, tool_calls, tool_call_id, name)
        return cast(shapes.MessageAnswer, await self._wire.call("messages.add", conversation_id, body=body)).message

    async def get_all(self, conversation_id: str, head: str = "") -> list[shapes.Message]:
        query = shapes.HeadQuery(head=head)
        return cast(
            shapes.MessageList, await self._wire.call("messages.get_all", conversation_id, query=query)
        ).messages

    async def delete(self, conversation_id: str, message_id: str) -> list[str]:
        """The ids of all that is gone: half a tool pair takes the other along."""
        return cast(shapes.Deleted, await self._wire.call("messages.delete", conversation_id, message_id)).deleted


class Context(Group):
    async def add(self, conversation_id: str, descriptive_name: str, content: str, **fields: Any) -> shapes.ContextItem:
        body = _shaped(shapes.NewContextItem, {"descriptive_name": descriptive_name, "content": content, **fields})
        return cast(shapes.ContextAnswer, await self._wire.call("context.add", conversation_id, body=body)).context

    async def list(self, conversation_id: str) -> list[shapes.ContextItem]:
        return cast(shapes.ContextList, await self._wire.call("context.all", conversation_id)).context

    async def get(self, conversation_id: str, context_id: str) -> shapes.ContextItem:
        return cast(shapes.ContextAnswer, await self._wire.call("context.get", conversation_id, context_id)).context

    async def change(self, conversation_id: str, context_id: str, **fields: Any) -> shapes.ContextItem:
        body = _shaped(shapes.ContextItemChange, fields)
        answer: shapes.ContextAnswer = await self._wire.call("context.change", conversation_id, context_id, body=body)
        return answer.context

    async def delete(self, conversation_id: str, context_id: str) -> None:
        await self._wire.call("context.delete", conversation_id, context_id)


class Tools(Group):
    async def available(self, conversation_id: str) -> shapes.AvailableTools:
        return cast(shapes.AvailableTools, await self._wire.call("tools.available", conversation_id))

    async def enabled(self, conversation_id: str) -> list[shapes.EnabledTool]:
        return cast(shapes.EnabledTools, await self._wire.call("tools.enabled", conversation_id)).enabled_tools

    async def enable(
        self, conversation_id: str, server: str, tool: str, approval: Approval | None = None
    ) -> list[shapes.EnabledTool]:
        """Naming a tool is consent to run it without asking, unless it says it destroys things or it has changed."""
        body = shapes.EnableTool(server, tool, approval if approval else UNSET)
        return cast(
            shapes.EnabledTools, await self._wire.call("tools.enable", conversation_id, body=body)
        ).enabled_tools

    async def disable(self, conversation_id: str, server: str, tool: str) -> list[shapes.EnabledTool]:
        query = shapes.ToolNamed(server, tool)
        answer: shapes.EnabledTools = await self._wire.call("tools.disable", conversation_id, query=query)
        return answer.enabled_tools


class Turns(Group):
    async def get(self, turn_id: str, wait: float = 0) -> shapes.Turn:
        """With `wait`, return once the turn has ended or needs a person, or after so many seconds."""
        query = shapes.WaitQuery(wait=wait)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.get", turn_id, query=query)).turn

    async def log(self, turn_id: str) -> list[dict[str, Any]]:
        return cast(shapes.TurnLog, await self._wire.call("turns.log", turn_id)).events

    async def prompt(self, turn_id: str, request: int = 1) -> shapes.PromptSent:
        query = shapes.PromptQuery(request=request)
        return cast(shapes.PromptSent, await self._wire.call("turns.prompt", turn_id, query=query))

    async def stop(self, turn_id: str, call_id: str = "") -> shapes.Turn:
        verb, path = ("turns.stop_call", (turn_id, call_id)) if call_id else ("turns.stop", (turn_id,))
        return cast(shapes.TurnAnswer, await self._wire.call(verb, *path)).turn

    async def decide(
        self,
        turn_id: str,
        call_id: str,
        *,
        allow: bool,
        scope: Scope = "once",
        arguments: dict[str, Any] | None = None,
        reason: str = "",
        hash: str = "",
    ) -> shapes.Turn:
        body = shapes.Decision("allow" if allow else "deny", scope, arguments, reason, hash)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.decide", turn_id, call_id, body=body)).turn

    async def resolve(self, turn_id: str, call_id: str, how: Literal["retry", "done", "skip"]) -> shapes.Turn:
        body = shapes.Resolution(as_=how)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.resolve", turn_id, call_id, body=body)).turn

    async def answer(
        self,
        turn_id: str,
        call_id: str,
        action: Literal["accept", "decline", "cancel"],
        content: dict[str, Any] | None = None,
    ) -> shapes.Turn:
        """Answer what a tool's server asks the person."""
        body = shapes.InputAnswer(action, content)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.answer", turn_id, call_id, body=body)).turn

    async def go_on(self, turn_id: str, rounds: int | None = None) -> shapes.Turn:
        """After a limit, a stop or a failure: a new turn that takes the work up."""
        body = shapes.Continue(rounds)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.go_on", turn_id, body=body)).turn

    async def retry(
        self, turn_id: str, *, model: str = "", web_search: Literal["auto", "on", "off"] = "auto"
    ) -> shapes.Turn:
        body = shapes.Retry(model, web_search)
        return cast(shapes.TurnAnswer, await self._wire.call("turns.retry", turn_id, body=body)).turn

    async def retry_call(self, turn_id: str, call_id: str) -> shapes.Turn:
        return cast(shapes.TurnAnswer, await self._wire.call("turns.retry_call", turn_id, call_id)).turn

    async def result(self, result_id: str, offset: int = 0, length: int = 100_000) -> shapes.ResultPiece:
        query = shapes.PieceQuery(offset=offset, length=length)
        return cast(shapes.ResultPiece, await self._wire.call("turns.result", result_id, query=query))


class Servers(Group):
    async def list(self) -> list[shapes.Server]:
        return cast(shapes.ServerList, await self._wire.call("servers.all")).servers

    async def get(self, server: str) -> shapes.Server:
        return cast(shapes.ServerAnswer, await self._wire.call("servers.get", server)).server

    async def add(self, name: str, **fields: Any) -> shapes.Server:
        """A stdio server is a draft until `confirm` is given its exact argv."""
        body = _shaped(shapes.NewServer, {"name": name, **fields})
        return cast(shapes.ServerAnswer, await self._wire.call("servers.add", body=body)).server

    async def take_in(self, document: dict[str, Any]) -> shapes.ImportedServers:
        """`{"mcpServers": {...}}` as other clients write it. Nothing starts: all become drafts."""
        return cast(shapes.ImportedServers, await self._wire.call("servers.take_in", body=document))

    async def change(self, server: str, **fields: Any) -> shapes.Server:
        body = _shaped(shapes.ServerChange, fields)
        return cast(shapes.ServerAnswer, await self._wire.call("servers.change", server, body=body)).server

    async def confirm(self, server: str, argv: Texts) -> shapes.Server:
        body = shapes.Confirm(argv)
        return cast(shapes.ServerAnswer, await self._wire.call("servers.confirm", server, body=body)).server

    async def start(self, server: str) -> shapes.Server:
        return cast(shapes.ServerAnswer, await self._wire.call("servers.start", server)).server

    async def stop(self, server: str) -> shapes.Server:
        return cast(shapes.ServerAnswer, await self._wire.call("servers.stop", server)).server

    async def delete(self, server: str) -> None:
        await self._wire.call("servers.delete", server)

    async def tools(self, server: str) -> shapes.ServerTools:
        return cast(shapes.ServerTools, await self._wire.call("servers.tools", server))

    async def call_tool(self, server: str, tool: str, arguments: dict[str, Any] | None = None) -> shapes.ToolResult:
        body = shapes.CallTool(tool, arguments or {})
        return cast(shapes.ToolResultAnswer, await self._wire.call("servers.call_tool", server, body=body)).result

    async def log(self, server: str) -> Texts:
        return cast(shapes.ServerLog, await self._wire.call("servers.log", server)).lines


class Providers(Group):
    async def list(self) -> list[shapes.Provider]:
        return cast(shapes.ProviderList, await self._wire.call("providers.all")).providers

    async def add(self, name: str, base_url: str, **fields: Any) -> shapes.Provider:
        body = _shaped(shapes.NewProvider, {"name": name, "base_url": base_url, **fields})
        return cast(shapes.ProviderAnswer, await self._wire.call("providers.add", body=body)).provider

    async def get(self, provider_id: str) -> shapes.Provider:
        return cast(shapes.ProviderAnswer, await self._wire.call("providers.get", provider_id)).provider

    async def change(self, provider_id: str, **fields: Any) -> shapes.Provider:
        body = _shaped(shapes.ProviderChange, fields)
        return cast(shapes.ProviderAnswer, await self._wire.call("providers.change", provider_id, body=body)).provider

    async def delete(self, provider_id: str) -> None:
        await self._wire.call("providers.delete", provider_id)

    async def test(self, provider_id: str) -> shapes.ProviderTest:
        return cast(shapes.ProviderTest, await self._wire.call("providers.test", provider_id))

    async def local(self) -> LocalRows:
        """Model servers that answer on the machine Windlass runs on."""
        return cast(shapes.LocalServers, await self._wire.call("providers.local")).servers

    async def models(self, provider_id: str) -> ModelRows:
        return cast(shapes.ModelList, await self._wire.call("providers.models", provider_id)).models


class Search(Group):
    async def test(self, query: str) -> list[shapes.SearchTrial]:
        """Each backend that `//` may use, tried by itself; none when search is off."""
        body = _shaped(shapes.SearchTest, {"query": query})
        return cast(shapes.SearchTrials, await self._wire.call("search.test", body=body)).trials


class Personas(Group):
    async def list(self) -> list[shapes.Persona]:
        return cast(shapes.PersonaList, await self._wire.call("personas.all")).personas

    async def add(self, name: str, **fields: Any) -> shapes.Persona:
        body = _shaped(shapes.NewPersona, {"name": name, **fields})
        return cast(shapes.PersonaAnswer, await self._wire.call("personas.add", body=body)).persona

    async def get(self, persona_id: str) -> shapes.Persona:
        return cast(shapes.PersonaAnswer, await self._wire.call("personas.get", persona_id)).persona

    async def change(self, persona_id: str, **fields: Any) -> shapes.Persona:
        body = _shaped(shapes.PersonaChange, fields)
        return cast(shapes.PersonaAnswer, await self._wire.call("personas.change", persona_id, body=body)).persona

    async def delete(self, persona_id: str) -> None:
        await self._wire.call("personas.delete", persona_id)


class Policy(Group):
    async def get(self) -> list[shapes.Rule]:
        return cast(shapes.PolicyAnswer, await self._wire.call("policy.get")).rules

    async def put(self, rules: list[shapes.Rule]) -> list[shapes.Rule]:
        return cast(shapes.PolicyAnswer, await self._wire.call("policy.put", body=shapes.Policy(rules))).rules


def _shaped(shape: type[Any], fields: dict[str, Any]) -> Any:
    try:
        return convert(fields, shape)
    except ValidationError as error:
        raise BadInput(f"{shape.__name__}: {error}.") from None
