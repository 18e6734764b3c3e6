"""What an agent offers beside its calls' answers, and who is told when it becomes something else; it opens no link.

A `toolwire.Server` that is added stays a part: what its author adds to it later is the agent's too.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from toolwire.agent.answers import Sources
from toolwire.agent.tools import Tools
from toolwire.core.change import Change
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.home_loop import HomeLoop
from toolwire.sdk.offer import Offer
from toolwire.sdk.tool import DecoratedTool


class OfferListener(Protocol):
    """Who has an agent attached."""

    def offer_changed(self) -> None:
        """The agent is to be registered anew."""
        ...

    def tell(self, change: Change) -> None:
        """Something is another than before that the registration does not show."""
        ...


class AgentOffer(Offer):
    """Resources, prompts and completions of an agent; its tools are kept by `Tools`.

    Args:
        tools: where tools go that come with a server.
        owner: what it is called in errors.
    """

    def __init__(self, tools: Tools, owner: Callable[[], str]) -> None:
        super().__init__()
        self._agent_tools = tools
        self._owner = owner
        self._listeners: list[tuple[OfferListener, HomeLoop]] = []
        self._sources: Sources | None = None

    @contextmanager
    def heard(self, listener: OfferListener) -> Generator[None]:
        """Tell `listener` of changes, on the event loop that it is on now, until the block ends."""
        entry = (listener, HomeLoop())
        self._listeners.append(entry)
        try:
            yield
        finally:
            self._listeners.remove(entry)

    def sources(self) -> Sources:
        """What answers questions now."""
        if self._sources is None:
            self._sources = Sources(self.resources, self.prompts, self.completions)
        return self._sources

    def listed_resources(self) -> tuple[JsonObject, ...]:
        """The resources and then the templates, in MCP's words."""
        offered = self.sources().resources
        return () if offered is None else tuple(map(_shown, (*offered.resources(), *offered.templates())))

    def listed_prompts(self) -> tuple[JsonObject, ...]:
        """The prompts, in MCP's words."""
        offered = self.sources().prompts
        return () if offered is None else tuple(map(_shown, offered.prompts()))

    def changed(self) -> None:
        """The agent has something that it had not before."""
        self._offer_anew()

    def _keep_tool(self, tool: DecoratedTool) -> bool:
        return self._agent_tools.keep(tool)

    def _offer_anew(self) -> None:
        self._sources = None
        for listener, home in tuple(self._listeners):
            home.run(listener.offer_changed)

    def _offer(self, *changes: Change) -> None:
        self._offer_anew()  # by which the gateway sees what has changed

    def _tell_here(self, change: Change) -> None:
        for listener, home in tuple(self._listeners):
            home.run(lambda listener=listener: listener.tell(change))

    def __repr__(self) -> str:
        return self._owner()


def _shown(definition: object) -> JsonObject:
    return msgspec.to_builtins(definition)
