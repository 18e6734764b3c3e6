"""What the engine stands on in its tests: a store that can be told to fail, tools that can be held; no assertions."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.call import Call, Caller
from toolwire.core.handler import Delegate, Emit, Provider
from toolwire.core.ports import Clock, Op, Put, Stored
from toolwire.core.result import Result, text_result
from toolwire.core.schema import Violation
from toolwire.core.tool import Tool
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine, Limits

EPOCH = 1_800_000_000.0
ALICE = Caller("alice", "alice", "gateway")
BOB = Caller("bob", "bob", "gateway")

numbers = count(1)


class LoopClock:
    """The `Clock` port on the event loop's clock, so that wall time and time-outs agree, in virtual time too."""

    def now(self) -> float:
        return EPOCH + anyio.current_time()


class FaultyStore(MemoryStore):
    """A store in memory that fails with `failure` or `unreadable`, or does something else first.

    `before_tx` is awaited with the operations of each transaction; `written` has those that were applied.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock
        self.failure: Exception | None = None
        self.unreadable: Exception | None = None
        self.before_tx: Callable[[Sequence[Op]], Awaitable[None]] | None = None
        self.before_get: Callable[[str], Awaitable[None]] | None = None
        self.written: list[Sequence[Op]] = []
        self.asked = 0

    async def tx(self, ops: Sequence[Op]) -> None:
        self.asked += 1
        if self.before_tx is not None:
            await self.before_tx(ops)
        if (failure := self.failure) is not None:
            await checkpoint()
            raise failure
        await super().tx(ops)
        self.written.append(tuple(ops))

    async def get(self, kind: str, owner: str, key: str) -> Stored | None:
        if self.before_get is not None:
            await self.before_get(kind)
        if self.unreadable is not None:
            raise self.unreadable
        return await super().get(kind, owner, key)

    async def sweep(self) -> int:
        if self.failure is not None:
            raise self.failure
        return await super().sweep()

    def puts(self, kind: str) -> list[Put]:
        """What was written of a kind, in order."""
        return [op for ops in self.written for op in ops if isinstance(op, Put) and op.kind == kind]


class AnyArguments:
    """A validator that every object fits."""

    def check(self, value: Any) -> Sequence[Violation]:
        return ()

    def repaired(self, value: dict[str, Any]) -> dict[str, Any] | None:
        return None


class Tools:
    """A provider whose tools all do `body`; `calls` has the calls it was given."""

    def __init__(self, body: Callable[[Call, Emit], Awaitable[Result]] | None = None) -> None:
        self._body = body
        self.calls: list[Call] = []

    def tools(self) -> Sequence[Tool]:
        return (Tool("work"),)

    async def call(self, call: Call, emit: Emit) -> Result:
        self.calls.append(call)
        return text_result("done") if self._body is None else await self._body(call, emit)


class HeldTools(Tools):
    """Tools that say when they have `started`, and answer with `result` when they are let go."""

    def __init__(self, result: Result | None = None) -> None:
        super().__init__(self._hold)
        self.result = result or text_result("done")
        self.started = anyio.Event()
        self.let_go = anyio.Event()
        self.cancelled = False

    async def _hold(self, call: Call, emit: Emit) -> Result:
        self.started.set()
        try:
            await self.let_go.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled = True
            raise
        return self.result


class Agent(Tools):
    """A delegate: `refusal` is raised before the claim, `ops` are committed with it and `last_ops` with the end.

    `resumed` are calls taken up, `over` has those that are over and whether that was committed.
    """

    def __init__(self, body: Callable[[Call, Emit], Awaitable[Result]] | None = None, ops: Sequence[Op] = ()) -> None:
        super().__init__(body)
        self.ops = ops
        self.refusal: Exception | None = None
        self.resumed: list[Call] = []
        self.unclaimed: list[Call] = []
        self.last_ops: Sequence[Op] = ()
        self.over: list[tuple[Call, bool]] = []

    async def attach(self, call: Call) -> Call:
        return call

    def ready(self, call: Call, tool: Tool) -> None:
        if self.refusal is not None:
            raise self.refusal

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        return self.ops

    def unclaim(self, call: Call) -> None:
        self.unclaimed.append(call)

    def end_ops(self, call: Call) -> Sequence[Op]:
        return self.last_ops

    def ended(self, call: Call, committed: bool) -> None:
        self.over.append((call, committed))

    async def resume(self, call: Call, emit: Emit) -> Result:
        self.resumed.append(call)
        return text_result("resumed")


def catalog_of(provider: Provider, *tools: Tool, delegate: Delegate | None = None) -> Catalog:
    """A catalogue of these tools, by default of one named "work"."""
    catalog = Catalog(lambda schema: AnyArguments())
    catalog.replace(tools or (Tool("work"),), provider, delegate)
    return catalog


def call_of(
    *,
    key: str | None = None,
    tool: str = "work",
    caller: Caller = ALICE,
    timeout_s: float = 60.0,
    clock: Clock | None = None,
    **more: Any,
) -> Call:
    """A fresh call; `more` are other fields of `Call`."""
    arguments = more.pop("arguments", {"n": 1})
    deadline = (clock or LoopClock()).now() + timeout_s
    return Call(f"call_{next(numbers)}", caller, tool, arguments, deadline, idempotency_key=key, **more)


def in_session(**more: Any) -> Call:
    """A call whose record is durable, and which ends with its request."""
    return call_of(context_id="ch_1", caller=Caller("alice", "alice", "gateway", session_id="session_1"), **more)


@asynccontextmanager
async def running(
    store: MemoryStore | None = None,
    clock: Clock | None = None,
    limits: Limits | None = None,
    blobs: MemoryBlobs | None = None,
) -> AsyncGenerator[Engine]:
    """An engine at work over a store, by default a new one; another engine over the same store is a restart."""
    clock = clock or LoopClock()
    engine = Engine(store or MemoryStore(clock), blobs or MemoryBlobs(), clock, limits)
    async with engine.running():
        yield engine


def code_of(result: Result | None) -> str | None:
    """The code that a call ended with; `None` for a good end."""
    assert result is not None
    return None if result.error is None else result.error.code
