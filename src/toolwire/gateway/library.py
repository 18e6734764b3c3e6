"""What an agent offers beside tools, as its MCP endpoint serves it; it attaches nobody and stores nothing.

Lists are answered from the registration, and so is what stands there with its contents; for the rest the agent is
asked (gateway.md 51, §6). What tells of the agent itself is there for every agent, attached or not.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.change import Change
from toolwire.core.errors import InvalidAgentResponse, InvalidParam, ResourceNotFound
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Completion, Prompt, PromptMessage, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.gateway.about import OWN_RESOURCES, OWN_URIS, about
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.asks import Asks
from toolwire.gateway.remote_shelf import FindRemote, RemoteShelf
from toolwire.providers.agent_reply import check_base64, checked_block
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.endpoint import Library

_T = TypeVar("_T")


class _Contents(Struct, frozen=True):
    contents: tuple[ResourceContents, ...]


class _Messages(Struct, frozen=True):
    messages: tuple[PromptMessage, ...]
    description: str | None = None


class _Values(Struct, frozen=True):
    values: tuple[str, ...]


class _Completed(Struct, frozen=True):
    completion: _Values


class Libraries:
    """The library of each agent. Needs no loading.

    Args:
        agents: all agents.
        asks: asks those that are attached.
        find_remote: finds the servers behind those that are remote.
        want: told of the resources of remote agents (by their ids) that somebody listens to; must not block or raise.
    """

    def __init__(
        self,
        agents: Agents,
        asks: Asks,
        find_remote: FindRemote = lambda _: None,
        want: Callable[[str, str], None] = lambda _agent_id, _uri: None,
    ) -> None:
        self._agents = agents
        self._asks = asks
        self._find_remote = find_remote
        self._want = want
        self._changes: dict[str, Changes] = {}
        agents.on_changed(self._tell)
        agents.on_removed(self._forget)

    def of(self, record: AgentRecord) -> Library:
        """What an agent's endpoint offers now. Its `changes` are the same object for as long as the agent exists."""
        changes = self._changes.get(record.agent_id)
        if changes is None:
            changes = Changes(partial(self._want, record.agent_id)) if record.remote else Changes()
            self._changes[record.agent_id] = changes
        if record.remote:
            shelf = RemoteShelf(record.agent_id, self._agents, self._find_remote)
            return Library(shelf, shelf, shelf if record.completions else None, changes, shelf.look)
        library = AgentLibrary(record.agent_id, self._agents, self._asks)
        return Library(library, library, library if record.completions else None, changes)

    def _tell(self, agent_id: str, change: Change) -> None:
        changes = self._changes.get(agent_id)
        if changes is not None:
            changes.tell(change)

    def _forget(self, record: AgentRecord) -> None:
        self._changes.pop(record.agent_id, None)


class AgentLibrary:
    """The `Resources`, `Prompts` and `Completions` of one agent."""

    def __init__(self, agent_id: str, agents: Agents, asks: Asks) -> None:
        self._agent_id = agent_id
        self._agents = agents
        self._asks = asks

    def resources(self) -> Sequence[Resource]:
        """The agent's resources in its order, and those that tell of it."""
        return [*self._agents.offered(self._agent_id).resources, *OWN_RESOURCES]

    def templates(self) -> Sequence[ResourceTemplate]:
        """The agent's templates in its order."""
        return self._agents.offered(self._agent_id).templates

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """The contents of a resource; see `core.resource.Resources.read`.

        Raises:
            AgentOffline: the agent would have to be asked, and is not there.
            InvalidAgentResponse: what it gives are no contents.
        """
        if uri in OWN_URIS:
            agents, agent_id = self._agents, self._agent_id
            own = about(uri, agents.get(agent_id).config, agents.catalog(agent_id))
            return [] if own is None else [own]
        offered = self._agents.offered(self._agent_id)
        held = offered.contents.get(uri)
        if held is not None:
            return [held]
        if not offered.may_have(uri):
            raise _no_resource(uri)
        result = await self._asks.ask(self._agent_id, "resources/read", {"uri": uri}, call, emit)
        contents = _read(result, _Contents, "resource").contents
        if not contents:
            raise _no_resource(uri)
        for each in contents:
            if (each.text is None) == (each.blob is None):
                raise InvalidAgentResponse(f"the agent's contents of {uri!r} must have one of text and blob")
            if each.blob is not None:
                check_base64(each.blob, "blob")
        return contents

    def prompts(self) -> Sequence[Prompt]:
        """The agent's prompts in its order."""
        return self._agents.offered(self._agent_id).prompts

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """The messages of a prompt; see `core.prompt.Prompts.get`.

        Raises:
            AgentOffline: the agent would have to be asked, and is not there.
            InvalidAgentResponse: what it gives are no messages.
        """
        offered = self._agents.offered(self._agent_id)
        if not offered.has_prompt(name):
            raise InvalidParam(f"no prompt is named {name!r} here; prompts/list names what there is", param="name")
        held = offered.results.get(name)
        if held is not None:
            if call.arguments:
                raise InvalidParam(f"prompt {name!r} has no arguments; leave them out", param="arguments")
            return held
        params: JsonObject = {"name": name, "arguments": call.arguments}
        made = _read(await self._asks.ask(self._agent_id, "prompts/get", params, call, emit), _Messages, "prompt")
        messages = tuple(PromptMessage(each.role, checked_block(each.content)) for each in made.messages)
        return PromptResult(messages, made.description)

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """What an argument may be; see `core.prompt.Completions.complete`.

        Raises:
            AgentOffline: the agent is not there.
            InvalidAgentResponse: what it gives is no completion.
        """
        offered = self._agents.offered(self._agent_id)
        is_prompt = ref.kind == "prompt"
        families = (template.uri_template for template in offered.templates)
        if not (offered.has_prompt(ref.name) if is_prompt else ref.name in families):
            raise InvalidParam(f"there is no {ref.kind} {ref.name!r} with arguments here", param="ref")
        params: JsonObject = {
            "ref": {"type": "ref/prompt", "name": ref.name} if is_prompt else {"type": "ref/resource", "uri": ref.name},
            "argument": {"name": argument, "value": value},
            "context": {"arguments": call.arguments},
        }
        result = await self._asks.ask(self._agent_id, "completion/complete", params, call, emit)
        return Completion(_read(result, _Completed, "completion").completion.values)


def _read(result: JsonObject, kind: type[_T], what: str) -> _T:
    try:
        return msgspec.convert(result, kind)
    except msgspec.ValidationError as error:
        raise InvalidAgentResponse(f"the agent's {what} is malformed: {error}") from None


def _no_resource(uri: str) -> ResourceNotFound:
    return ResourceNotFound(f"there is no resource {uri!r} here; list the resources to see what there is", uri=uri)
