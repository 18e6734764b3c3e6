"""The one interface on a call's way, and its composition; it does not know who implements it."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Protocol, TypeAlias

from toolwire.core.call import Call
from toolwire.core.event import Event
from toolwire.core.ports import Op
from toolwire.core.result import Result
from toolwire.core.tool import Tool

Emit: TypeAlias = Callable[[Event], None]
"""Appends an event to the call's record. It never blocks and never raises; after the end it does nothing."""

Handler: TypeAlias = Callable[[Call, Emit], Awaitable[Result]]
Middleware: TypeAlias = Callable[[Handler], Handler]


_PROMPT = "never_waits"


def mark_prompt(handler: Handler) -> Handler:
    """Say of a handler that it provably runs to its end without waiting, so that nobody could cancel it half-way."""
    setattr(handler, _PROMPT, True)
    return handler


def is_prompt(handler: Handler) -> bool:
    """Whether a handler is marked as one that never waits."""
    return getattr(handler, _PROMPT, False) is True


_ASKS = "may_ask"


def mark_asking(handler: Handler) -> Handler:
    """Say of a handler that it may ask the client, by `core.asking.asker_of`; others are never given an asker."""
    setattr(handler, _ASKS, True)
    return handler


def may_ask(handler: Handler) -> bool:
    """Whether a handler is marked as one that may ask the client."""
    return getattr(handler, _ASKS, False) is True


def stack(handler: Handler, middleware: Iterable[Middleware]) -> Handler:
    """Wrap `handler` so that the first middleware is the outermost."""
    for wrap in reversed(tuple(middleware)):
        handler = wrap(handler)
    return handler


class Provider(Protocol):
    """Where calls go out: a source of tools and the handler that runs them."""

    def tools(self) -> Sequence[Tool]:
        """The tools offered now, in their order."""
        ...

    def call(self, call: Call, emit: Emit) -> Awaitable[Result]:
        """Run `call`. Being cancelled means: nobody wants the result any more, stop.

        Raises:
            ToolwireError: the call could not be run or was lost; the engine records its code.
        """
        ...


class Delegate(Provider, Protocol):
    """A provider that hands calls to somebody who may be absent, busy, or still at work after we were restarted."""

    async def attach(self, call: Call) -> Call:
        """The call with what its attachments stand for in `files`; asked only for one that has some.

        Raises:
            InvalidParam: one of them cannot be had; nothing of the call was seen by anybody.
        """
        ...

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse before the claim what cannot be delivered.

        Raises:
            AgentOffline: nobody is there to take the call.
            AgentBusy: the one who is there takes no second call now.
        """
        ...

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """What belongs into the transaction that claims the call, such as the message that carries it."""
        ...

    def unclaim(self, call: Call) -> None:
        """The call was not claimed, because its key stands for another one: forget what was made for it."""
        ...

    def end_ops(self, call: Call) -> Sequence[Op]:
        """What belongs into the transaction that ends a durable call, such as the answer that ended it."""
        ...

    def ended(self, call: Call, committed: bool) -> None:
        """A durable call has ended; `committed` says whether that is stored, and with it what `end_ops` gave.

        If not, the store has failed and is tried again, or the process is about to end.
        """
        ...

    async def resume(self, call: Call, emit: Emit) -> Result:
        """Wait for the end of a call that was claimed before a restart, without starting it a second time.

        Raises:
            AgentLost: whoever had taken the call will not answer any more.
        """
        ...
