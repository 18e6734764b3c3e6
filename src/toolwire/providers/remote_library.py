"""The resources, prompts and completions of an MCP server, listed with one session and read with the caller's.

What is listed is what was fetched last: `renew` fetches it anew.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from toolwire.core.call import Call, Caller
from toolwire.core.change import Listed
from toolwire.core.errors import InvalidAgentResponse
from toolwire.core.handler import Emit
from toolwire.core.prompt import Completion, Prompt, PromptMessage, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.providers.remote import RemoteProvider
from toolwire.providers.remote_lists import Kept

if TYPE_CHECKING:
    from mcp import Client

T = TypeVar("T")

Lease = Callable[[Caller, Emit | None], AbstractAsyncContextManager[RemoteProvider]]
"""Gives a caller's session, as `RemotePool.lease` does."""


class RemoteLibrary:
    """What one server offers beside tools; it is `Resources`, `Prompts` and `Completions` in one.

    Args:
        lease: gives the session of a caller.
        name: what messages call the server.
    """

    def __init__(self, lease: Lease, name: str) -> None:
        self._lease = lease
        self._name = name
        self._resources = Kept(name, "resources", _made(Resource, name), {}, ())
        self._templates = Kept(name, "templates", _made(ResourceTemplate, name), {}, ())
        self._prompts = Kept(name, "prompts", _made(Prompt, name), {}, ())

    def resources(self) -> Sequence[Resource]:
        """See `core.resource.Resources.resources`."""
        return self._resources.value

    def templates(self) -> Sequence[ResourceTemplate]:
        """See `core.resource.Resources.templates`."""
        return self._templates.value

    def prompts(self) -> Sequence[Prompt]:
        """See `core.prompt.Prompts.prompts`."""
        return self._prompts.value

    async def renew(self, provider: RemoteProvider, listed: Listed, max_age_s: float) -> bool:
        """Have a list as new as it must be; says whether it is another one than before.

        Args:
            provider: a session with the server.
            listed: which; resources are listed with their templates.
            max_age_s: how old a list may be of whose changes the server does not tell.

        Raises:
            ServiceUnavailable: the server does not list them.
        """
        kinds = {"resources": (self._resources, self._templates), "prompts": (self._prompts,), "tools": ()}[listed]
        before = [kept.value for kept in kinds]
        for kept in kinds:
            await provider.done(lambda connection, kept=kept: kept.fresh(connection, max_age_s))
        return before != [kept.value for kept in kinds]

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """See `core.resource.Resources.read`."""
        answer = await self._asked(call, emit, lambda client: client.read_resource(uri))
        return [_converted(each, ResourceContents, self._name) for each in answer.contents]

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """See `core.prompt.Prompts.get`."""
        answer = await self._asked(call, emit, lambda client: client.get_prompt(name, dict(call.arguments)))
        messages = tuple(_converted(each, PromptMessage, self._name) for each in answer.messages)
        return PromptResult(messages, answer.description)

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """See `core.prompt.Completions.complete`."""
        given = dict(call.arguments) or None
        wanted = {"name": argument, "value": value}
        answer = await self._asked(call, emit, lambda client: client.complete(_reference(ref), wanted, given))
        found = answer.completion
        more = 1 if found.has_more and found.total is None else 0
        return Completion(tuple(found.values), len(found.values) + more if found.total is None else found.total)

    async def _asked(self, call: Call, emit: Emit, send: "Callable[[Client], Awaitable[T]]") -> T:
        async with self._lease(call.caller, emit) as provider:
            return await provider.ask(call, emit, send)


async def prompts_of(provider: RemoteProvider) -> Sequence[Prompt]:
    """The prompts that a server lists now; none where it has none.

    Raises:
        ServiceUnavailable: it does not list them.
    """
    client = provider.client
    if client is None or client.server_capabilities.prompts is None:
        return ()
    kept = Kept(provider.name, "prompts", _made(Prompt, provider.name), {}, ())
    return await provider.done(kept.fresh)


def _made(shape: type[T], name: str) -> Callable[[tuple[Any, ...]], tuple[T, ...]]:
    return lambda entries: tuple(_converted(each, shape, name) for each in entries)


def _converted(given: Any, shape: type[T], name: str) -> T:
    try:
        return msgspec.convert(given.model_dump(by_alias=True, mode="json", exclude_none=True), shape)
    except msgspec.ValidationError as error:
        raise InvalidAgentResponse(f"{name} answered with something that cannot be read: {error}") from None


def _reference(ref: Reference) -> Any:
    from mcp import types  # noqa: PLC0415 -- an optional extra, which is there once a session is

    if ref.kind == "prompt":
        return types.PromptReference(name=ref.name)
    return types.ResourceTemplateReference(uri=ref.name)
