"""One call of a card's tool, as its handler sees it; it does not run the handler."""

from collections.abc import Callable, Generator
from typing import Any

import anyio

from toolwire.wire.card_messages import AgentRef, CancelCode, CardRef, ToolCallData


class Cancelled:
    """Why a call is not wanted any more; `await call.signal` gives it when it comes to that."""

    def __init__(self, code: CancelCode, reason: str) -> None:
        self.code: CancelCode = code
        self.reason = reason


class Signal:
    """Says that nobody wants the result any more: wait for it with `await`, or look at `set` (cards.md 34)."""

    def __init__(self) -> None:
        self._event = anyio.Event()
        self.cancelled: Cancelled | None = None

    def fire(self, code: CancelCode, reason: str) -> None:
        """The host has said so; only the first time counts."""
        if self.cancelled is None:
            self.cancelled = Cancelled(code, reason)
            self._event.set()

    def __await__(self) -> Generator[Any, None, Cancelled]:
        yield from self._event.wait().__await__()
        assert self.cancelled is not None
        return self.cancelled


class ToolCall:
    """A call.

    Attributes:
        call_id: its id.
        tool: the tool's name in the manifest.
        exposed_name: the name that the agent used.
        agent: who calls: `id` and `name`.
        card: which copy it is for: `id` and `name`.
        deadline: when the host gives up, in Unix seconds.
        signal: fires when the agent gives up, at the deadline, and when the copy loses its arrow.
    """

    def __init__(self, data: ToolCallData, deadline: float, progress: Callable[[str], None]) -> None:
        self.call_id = data.call_id
        self.tool = data.tool
        self.exposed_name = data.exposed_name
        self.agent: AgentRef = data.agent
        self.card: CardRef = data.card
        self.deadline = deadline
        self.signal = Signal()
        self._progress = progress

    @property
    def cancelled(self) -> bool:
        """Whether nobody wants the result any more: what the handler returns then is dropped (cards.md 37)."""
        return self.signal.cancelled is not None

    def progress(self, message: str) -> None:
        """Show one short line on the arrow, 200 characters at most; the latest one counts (cards.md 35, 36)."""
        self._progress(message)
