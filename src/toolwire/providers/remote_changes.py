"""Hears which lists of an MCP server have changed, in either revision; it fetches none of them.

Until 2025-11-25 a server says so of its own accord, on 2026-07-28 to whoever has subscribed.
"""

import logging
import math
from collections.abc import Callable, Set
from contextlib import suppress
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import Client, MCPError, types
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged
from mcp.shared.subscriptions import ResourceUpdated as Updated

from toolwire.core.change import Change, ListChanged, Listed, ResourceUpdated
from toolwire.providers.remote_server import Listing

LOGGER = logging.getLogger("toolwire.remote")

SUBSCRIBE_S = 5.0
FIRST_SUBSCRIBE_PAUSE_S = 1.0
MAX_SUBSCRIBE_PAUSE_S = 60.0
MODERN = "2026-07-28"
MAX_WATCHED = 1000
ALL: tuple[Listed, ...] = ("tools", "prompts", "resources")
_LISTS: dict[type, Listed] = {
    ToolsListChanged: "tools",
    PromptsListChanged: "prompts",
    ResourcesListChanged: "resources",
}
_NOTICES: dict[str, Listed] = {f"notifications/{which}/list_changed": which for which in ALL}


class Following:
    """What is known of the lists of one connection.

    Attributes:
        stale: lists that the server has said to have changed, or that were not asked for yet.
        followed: lists of which the server tells when they change.
    """

    def __init__(self, tell: Callable[[Change], None], watched: set[str]) -> None:
        self.stale: set[Listing] = {"tools", "prompts", "resources", "templates"}
        self.followed: frozenset[Listed] = frozenset()
        self._tell = tell
        self._watched = watched
        self._watch: Callable[[str], None] = lambda _: None
        self._pause_s = FIRST_SUBSCRIBE_PAUSE_S
        self._has_begun = False

    def watch(self, uri: str) -> None:
        """Hear of changes of one resource, too, on this connection and those that come after it."""
        if uri not in self._watched and len(self._watched) < MAX_WATCHED:
            self._watched.add(uri)
            self._watch(uri)

    async def begin(self, client: Client, tasks: TaskGroup, *, ordered: bool) -> None:
        """Hear of the changes that the server offers to tell of; `ordered` says that one stream has all."""
        capabilities: Any = client.server_capabilities
        offered: frozenset[Listed] = frozenset(
            which for which in ALL if getattr(getattr(capabilities, which), "list_changed", False)
        )
        watches = getattr(capabilities.resources, "subscribe", False)
        if client.protocol_version == MODERN:
            if offered or watches:
                await tasks.start(self._subscribe, client, offered)
            return
        if ordered:  # over HTTP nobody can tell whether the stream of notifications is open
            self.followed = offered
        if watches:

            def subscribe(uri: str) -> None:
                tasks.start_soon(_subscribe_to, client, uri)

            self._watch = subscribe
            for uri in self._watched:
                subscribe(uri)

    def came(self, method: str) -> None:
        """Take the method of a notification the moment that it comes: what comes after it sees its lists stale."""
        if method in _NOTICES:
            self.stale |= _stale({_NOTICES[method]})

    async def heard(self, message: object) -> None:
        """Take a notification of the server; on 2026-07-28 they come by subscription."""
        match message:
            case types.ToolListChangedNotification():
                self._changed("tools")
            case types.PromptListChangedNotification():
                self._changed("prompts")
            case types.ResourceListChangedNotification():
                self._changed("resources")
            case types.ResourceUpdatedNotification():
                self._tell(ResourceUpdated(message.params.uri))
            case _:
                pass

    def _changed(self, which: Listed) -> None:
        self.stale |= _stale({which})
        self._tell(ListChanged(which))

    async def _subscribe(self, client: Client, offered: frozenset[Listed], *, task_status: TaskStatus[None]) -> None:
        """Be subscribed, again and again; a resource that is watched from now on is part of the next subscription."""

        def begun() -> None:
            if self._has_begun:
                self._tell_all(offered)  # what happened while nobody listened
            else:
                self._has_begun = True
                task_status.started()

        while True:
            more = anyio.Event()
            with anyio.CancelScope() as listening:
                self._watch = partial(_interrupt, more, listening)
                if offered or self._watched:
                    await self._listen(client, offered, begun)
            self.followed = frozenset()
            self.stale |= _stale(offered)
            if not self._has_begun:
                begun()
            self._watch = partial(_interrupt, more, listening)
            with anyio.move_on_after(self._pause_s if offered or self._watched else math.inf):
                await more.wait()
            if not more.is_set():
                self._pause_s = min(self._pause_s * 2, MAX_SUBSCRIBE_PAUSE_S)

    async def _listen(self, client: Client, offered: frozenset[Listed], begun: Callable[[], None]) -> None:
        """One subscription, until it ends or cannot be had."""
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + SUBSCRIBE_S) as patience:
                async with client.listen(
                    tools_list_changed="tools" in offered,
                    prompts_list_changed="prompts" in offered,
                    resources_list_changed="resources" in offered,
                    resource_subscriptions=sorted(self._watched),
                ) as subscription:
                    patience.deadline = math.inf
                    honored: Any = subscription.honored
                    self.stale |= _stale(offered)
                    self.followed = frozenset(which for which in offered if getattr(honored, f"{which}_list_changed"))
                    begun()
                    async for event in subscription:
                        self._pause_s = FIRST_SUBSCRIBE_PAUSE_S
                        if isinstance(event, Updated):
                            self._tell(ResourceUpdated(event.uri))
                        else:
                            self._changed(_LISTS[type(event)])
        except MCPError as refused:
            if refused.code == types.METHOD_NOT_FOUND:
                self._pause_s = math.inf
        except (SubscriptionLost, ListenNotSupportedError):
            LOGGER.debug("a subscription was lost")

    def _tell_all(self, lists: frozenset[Listed]) -> None:
        for which in ALL:
            if which in lists:
                self._tell(ListChanged(which))


def _stale(lists: Set[Listed]) -> set[Listing]:
    """What is to be fetched anew when these have changed."""
    return {*lists, "templates"} if "resources" in lists else set(lists)


def _interrupt(more: anyio.Event, listening: anyio.CancelScope, uri: str) -> None:
    more.set()
    listening.cancel()


async def _subscribe_to(client: Client, uri: str) -> None:
    """Ask a server of the initialize wire to tell of a resource."""
    request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
    with suppress(MCPError):  # then nothing is told of it
        await client.session.send_request(request, types.EmptyResult)
