"""Hears which lists of an MCP server have changed, in either revision; it fetches none of them.

Until 2025-11-25 a server says so of its own accord, on 2026-07-28 to whoever has subscribed.
"""

import logging
import math
from collections.abc import Callable, Set
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import Client, MCPError, types
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.subscriptions import PromptsListChanged, ResourcesListChanged, ToolsListChanged

from toolwire.core.change import Change, ListChanged, Listed, ResourceUpdated
from toolwire.providers.remote_server import Listing

LOGGER = logging.getLogger("toolwire.remote")

SUBSCRIBE_S = 5.0
FIRST_SUBSCRIBE_PAUSE_S = 1.0
MAX_SUBSCRIBE_PAUSE_S = 60.0
MODERN = "2026-07-28"
ALL: tuple[Listed, ...] = ("tools", "prompts", "resources")
_LISTS: dict[type, Listed] = {
    ToolsListChanged: "tools",
    PromptsListChanged: "prompts",
    ResourcesListChanged: "resources",
}


class Following:
    """What is known of the lists of one connection.

    Attributes:
        stale: lists that the server has said to have changed, or that were not asked for yet.
        followed: lists of which the server tells when they change.
    """

    def __init__(self, tell: Callable[[Change], None]) -> None:
        self.stale: set[Listing] = {"tools", "prompts", "resources", "templates"}
        self.followed: frozenset[Listed] = frozenset()
        self._tell = tell

    async def begin(self, client: Client, tasks: TaskGroup, *, ordered: bool) -> None:
        """Hear of the changes that the server offers to tell of; `ordered` says that one stream has all."""
        capabilities: Any = client.server_capabilities
        offered: frozenset[Listed] = frozenset(
            which for which in ALL if getattr(getattr(capabilities, which), "list_changed", False)
        )
        if not offered:
            return
        if client.protocol_version == MODERN:
            await tasks.start(self._subscribe, client, offered)
        elif ordered:  # over HTTP nobody can tell whether the stream of notifications is open
            self.followed = offered

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
        pause, told = FIRST_SUBSCRIBE_PAUSE_S, False
        while True:
            with anyio.CancelScope(deadline=anyio.current_time() + SUBSCRIBE_S) as scope:
                try:
                    async with client.listen(
                        tools_list_changed="tools" in offered,
                        prompts_list_changed="prompts" in offered,
                        resources_list_changed="resources" in offered,
                    ) as subscription:
                        scope.deadline = math.inf
                        honored: Any = subscription.honored
                        self.stale |= _stale(offered)
                        self.followed = frozenset(w for w in offered if getattr(honored, f"{w}_list_changed"))
                        if told:
                            self._tell_all(offered)  # what happened while nobody listened
                        else:
                            task_status.started()
                            told = True
                        async for event in subscription:
                            if type(event) in _LISTS:
                                self._changed(_LISTS[type(event)])
                            pause = FIRST_SUBSCRIBE_PAUSE_S
                except MCPError as refused:
                    if refused.code == types.METHOD_NOT_FOUND:
                        pause = math.inf
                except (SubscriptionLost, ListenNotSupportedError):
                    LOGGER.debug("a subscription was lost")
            self.followed = frozenset()
            self.stale |= _stale(offered)
            if not told:
                task_status.started()
                told = True
            await anyio.sleep(pause)
            pause = min(pause * 2, MAX_SUBSCRIBE_PAUSE_S)

    def _tell_all(self, lists: frozenset[Listed]) -> None:
        for which in ALL:
            if which in lists:
                self._tell(ListChanged(which))


def _stale(lists: Set[Listed]) -> set[Listing]:
    """What is to be fetched anew when these have changed."""
    return {*lists, "templates"} if "resources" in lists else set(lists)
