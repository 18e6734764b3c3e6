"""Runs the calls of cards' tools: from the arrow they go through to the card's answer, whatever happens on the way.

A card sees a call once it is there, has room, and is still wanted; from then on it has its tool's time. What a card
sends afterwards is dropped. Contract: cards.md 33-39, 53-62, 66-68, decisions 20-26, 33, 37.
"""

import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import anyio
import anyio.lowlevel
from msgspec import Struct

from toolwire.canvas.arrow_log import ArrowLog, Place
from toolwire.canvas.card_lines import CardLines
from toolwire.canvas.card_port import WAKE_S, Connection, Connections, DidNotStart
from toolwire.canvas.card_results import result_of
from toolwire.canvas.copies import Copy, copies_of, is_granted, picked, reached
from toolwire.canvas.errands import STOPPED, Errands
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.progress import Progressing
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.card.manifest import ToolSpec
from toolwire.core.call import Call
from toolwire.core.confidential import keep_confidential
from toolwire.core.errors import PackageNotFound
from toolwire.core.event import Progress
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.core.result import Result, failed
from toolwire.engine.deadline import Timekeeper
from toolwire.wire.card_messages import (
    AgentRef,
    CancelCode,
    CardRef,
    ProgressParams,
    RespondParams,
    ToolCallData,
    ToolCancelData,
)

logger = logging.getLogger("toolwire.canvas")

CARD_ARGUMENT = "card"
"""Added to every tool's parameters, and taken out again before the card sees them (cards.md 14-17)."""
UPDATED = "the card was updated"
REMEMBERED_ENDS = 1024
"""Calls whose end is remembered, to tell how late an answer is."""

EndListener: TypeAlias = Callable[[str, bool], None]
"""Told of the end of a call: its id, and whether it was answered rather than given up. It must not block."""


class Target(Struct, frozen=True):
    """What an exposed name stands for."""

    package: str
    tool: str


class Asking(Struct, frozen=True):
    """A call that its card does something for: who called which tool, and until when (Unix seconds)."""

    copy: Copy
    agent: str
    tool: str
    deadline: float


class _Flight:
    """A call on its way to a card, or there."""

    def __init__(self, call_id: str, caller: AgentRef, copy: Copy, target: Target, progress: Progressing) -> None:
        self.call_id = call_id
        self.caller = caller
        self.copy = copy
        self.target = target
        self.progress = progress
        self.scope = anyio.CancelScope()
        self.connection: Connection | None = None
        self.digest = ""
        self.deadline = 0.0
        self.answered = anyio.Event()
        self.result: Result | None = None
        self.code: CancelCode = "cancelled"
        self.reason = "the agent gave up"

    def answer(self, result: Result) -> bool:
        """The card's answer; says whether it is the first."""
        if self.result is not None:
            return False
        self.result = result
        self.answered.set()
        return True

    def stop(self, result: Result, code: CancelCode, reason: str) -> None:
        """It ends now, without the card's answer."""
        if self.result is None:
            self.result, self.code, self.reason = result, code, reason
            self.scope.cancel()


class CardCalls:
    """The calls of all cards.

    Args:
        workspaces: where cards stand.
        packages: what they are.
        connections: how they are reached.
        log: is told of every call.
        timekeeper: times progress.
        clock: tells the time.
        errands: the calls that owners make.
    """

    def __init__(
        self,
        workspaces: Workspaces,
        packages: Packages,
        connections: Connections,
        log: ArrowLog,
        timekeeper: Timekeeper,
        clock: Clock,
        errands: Errands,
    ) -> None:
        self._workspaces = workspaces
        self._packages = packages
        self._connections = connections
        self._log = log
        self._timekeeper = timekeeper
        self._clock = clock
        self._errands = errands
        self._flights: dict[str, _Flight] = {}
        self._lines = CardLines()
        self._ended: OrderedDict[str, float] = OrderedDict()
        self._listeners: list[EndListener] = []
        workspaces.on_changed(self._on_workspace)
        packages.on_changed(self._on_package)

    def on_ended(self, listener: EndListener) -> None:
        """Tell `listener` of every call that ends."""
        self._listeners.append(listener)

    async def call(self, call: Call, emit: Emit, agent: AgentInfo, target: Target) -> Result:
        """Run a call of an agent through one of its arrows; its arguments have been checked."""
        named = call.arguments.get(CARD_ARGUMENT)
        found = self._errands.copies(call, reached(self._workspaces, agent.owner, agent.agent_id))
        copies = copies_of(found, target.package, target.tool)
        copy = picked(copies, named, [self._state_of(one) for one in copies])
        if isinstance(copy, Result):
            return copy
        place = Place(agent.owner, copy.workspace.id, copy.arrow)
        caller = self._errands.caller(call, AgentRef(agent.agent_id, copy.agent_card.title))
        if not copy.arrow.recorded:
            keep_confidential(emit)
        schema = self._schema(agent.owner, target)
        running = self._log.begin(place, call.id, call.tool, caller, call.arguments, schema)
        steps = 0

        def tell(line: str) -> None:
            nonlocal steps
            steps += 1
            running.progress(line)
            emit(Progress(steps, message=line))

        flight = _Flight(call.id, caller, copy, target, Progressing(self._timekeeper, tell))
        self._flights[call.id] = flight
        running.stop = lambda: flight.stop(failed(STOPPED, "cancelled"), "cancelled", "the user stopped it")
        result: Result | None = None
        try:
            result = await self._run(flight, call)
            return result
        finally:
            del self._flights[call.id]
            flight.progress.end()
            running.end(result or failed("cancelled: the agent gave up", "cancelled"))
            self._remember_end(call.id)
            for listener in tuple(self._listeners):
                listener(call.id, flight.answered.is_set())

    def respond(self, connection: Connection, params: RespondParams) -> bool:
        """A card's answer; says whether it counts: not for a call that is over, or another card's (cards.md 57)."""
        flight = self._flight(connection, params.call_id)
        if flight is None:
            ended = self._ended.get(params.call_id)
            late = "" if ended is None else f", {time.monotonic() - ended:.1f} s after its end"
            logger.debug("a card answered call %.80r, which does not wait for it%s", params.call_id, late)
            return False
        flight.progress.end()
        return flight.answer(result_of(params))

    def progress(self, connection: Connection, params: ProgressParams) -> None:
        """A card says how far it is."""
        flight = self._flight(connection, params.call_id)
        if flight is not None and flight.result is None:
            flight.progress.say(params.message)

    def lost(self, connection: Connection, words: str) -> None:
        """A card is gone: its calls end at once, and are not tried again (decision 24)."""
        for flight in tuple(self._flights.values()):
            if flight.connection is connection:
                told = failed(f"the card stopped while it ran this: {words}", "agent_lost")
                flight.connection = None
                flight.stop(told, "unloaded", words)

    def asking(self, call_id: str) -> Asking | None:
        """A call that a card has now; for what that does on the call's behalf."""
        flight = self._flights.get(call_id)
        if flight is None or flight.connection is None or flight.result is not None:
            return None
        return Asking(flight.copy, flight.caller.name, flight.target.tool, flight.deadline)

    async def _run(self, flight: _Flight, call: Call) -> Result:
        package, spec = self._look(flight)
        if isinstance(spec, Result):
            return spec
        assert package is not None
        with flight.scope:
            async with self._turn(flight, spec):
                connection = await self._reach(flight, spec)
                if connection is not None:
                    with connection.calling():
                        await self._deliver(flight, call, connection, spec)
        assert flight.result is not None
        return flight.result

    async def _reach(self, flight: _Flight, checked: ToolSpec) -> Connection | None:
        """The card, once it is there, in the version that is accepted then; `None` when the call has ended instead.

        The arguments have been checked against the tool as it was, so it must not have changed in the meantime.
        """
        card = CardRef(flight.copy.card.id, flight.copy.card.title)
        while True:
            package, spec = self._look(flight)
            if isinstance(spec, Result):
                flight.answer(spec)
                return None
            if spec != checked:
                flight.answer(failed(f"{UPDATED} while this waited; list your tools again", "agent_lost"))
                return None
            assert package is not None
            assert package.accepted is not None
            try:
                connection = await self._connections.ready(package, card)
            except DidNotStart as error:
                flight.answer(failed(error.message, error.code))
                return None
            if self._look(flight) == (package, spec):
                flight.connection, flight.digest = connection, package.accepted.digest
                return connection

    async def _deliver(self, flight: _Flight, call: Call, connection: Connection, spec: ToolSpec) -> None:
        """Hand the call to its card and wait for the end."""
        card = CardRef(flight.copy.card.id, flight.copy.card.title)
        timeout_s = spec.timeout_ms / 1000
        flight.deadline = self._clock.now() + timeout_s
        connection.send(
            "tools.call",
            ToolCallData(
                call.id,
                spec.name,
                call.tool,
                {name: value for name, value in call.arguments.items() if name != CARD_ARGUMENT},
                flight.caller,
                card,
                flight.deadline * 1000,
                timeout_s * 1000,
            ),
        )
        try:
            with anyio.move_on_after(timeout_s):
                await flight.answered.wait()
            if flight.result is None:
                told = failed(f"the tool timed out after {timeout_s:g} s", "service_timeout")
                flight.result, flight.code, flight.reason = told, "deadline", "the time is up"
        finally:
            if not flight.answered.is_set() and self._flight(connection, flight.call_id) is flight:
                if flight.result is None and call.deadline <= self._clock.now():
                    flight.code, flight.reason = "deadline", "the agent's own time is up"
                connection.send("tools.cancel", ToolCancelData(flight.call_id, flight.code, flight.reason))

    def _schema(self, owner: str, target: Target) -> JsonObject:
        """What the arguments of a tool may be."""
        try:
            package = self._packages.get(owner, target.package)
        except PackageNotFound:
            return {}
        spec = None if package.accepted is None else package.accepted.manifest.tool(target.tool)
        return {} if spec is None else spec.input_schema

    def _look(self, flight: _Flight) -> tuple[Package | None, ToolSpec | Result]:
        """What is called, or why it cannot be called now."""
        copy, target = flight.copy, flight.target
        try:
            package = self._packages.get(copy.workspace.owner, target.package)
        except PackageNotFound:
            return None, failed("this card is not installed any more; ask the user to install it again")
        spec = None if package.accepted is None else package.accepted.manifest.tool(target.tool)
        if spec is None:
            return package, failed("this card does not have the tool any more; list your tools again")
        if target.tool in package.disabled:
            return package, _turned_off(copy)
        if not copy.workspace.is_open:
            return package, _closed(copy.workspace, copy)
        return package, spec

    @asynccontextmanager
    async def _turn(self, flight: _Flight, spec: ToolSpec) -> AsyncGenerator[None]:
        """Wait in line for room at the copy, for as long as the call could last."""
        patience_s = WAKE_S + spec.timeout_ms / 1000
        async with self._lines.turn(flight.copy.card.id, spec.name, spec.concurrency, patience_s) as has_room:
            if not has_room:
                words = f"the card had no room for this within {patience_s:g} s; call it less often"
                flight.stop(failed(words, "service_timeout"), "deadline", words)
                await anyio.lowlevel.checkpoint()
            yield

    def _flight(self, connection: Connection, call_id: str) -> _Flight | None:
        flight = self._flights.get(call_id)
        return flight if flight is not None and flight.connection is connection else None

    def _state_of(self, copy: Copy) -> str:
        awake = self._connections.is_awake(copy.card.package or "", copy.card.id)
        return "awake" if awake else "paused"

    def _remember_end(self, call_id: str) -> None:
        self._ended[call_id] = time.monotonic()
        while len(self._ended) > REMEMBERED_ENDS:
            self._ended.popitem(last=False)

    def _on_workspace(self, before: Workspace | None, after: Workspace | None) -> None:
        """End what has lost its arrow or its card, and what waits for a workspace that was closed (decision 25)."""
        for flight in tuple(self._flights.values()):
            copy = flight.copy
            if before is None or copy.workspace.id != before.id:
                continue
            if after is None or copy.card.id not in after.board.cards:
                words = "the card was removed"
                flight.stop(failed(f"{words} while it ran this", "agent_lost"), "unloaded", words)
            elif not is_granted(after.board, copy, flight.target.tool):
                words = "the arrow to this card was removed"
                flight.stop(failed(f"{words}; ask the user to draw it again", "forbidden"), "disconnected", words)
            elif not after.is_open and flight.connection is None:
                flight.stop(_closed(after, copy), "disabled", "the workspace was closed")

    def _on_package(self, package: Package) -> None:
        """End what runs on a version that is not the accepted one any more, and what waits for a tool switched off."""
        for flight in tuple(self._flights.values()):
            if flight.target.package != package.id:
                continue
            if package.removed:
                words = "the card was uninstalled"
                flight.stop(failed(f"{words} while it ran this", "agent_lost"), "unloaded", words)
            elif flight.target.tool in package.disabled and flight.connection is None:
                flight.stop(_turned_off(flight.copy), "disabled", "the tool was turned off")
            elif flight.connection is not None and package.accepted and flight.digest != package.accepted.digest:
                flight.stop(failed(f"{UPDATED} while it ran this; call it again", "agent_lost"), "unloaded", UPDATED)


def _turned_off(copy: Copy) -> Result:
    return failed(f"the card {copy.card.title!r} has turned this tool off for now", "forbidden")


def _closed(workspace: Workspace, copy: Copy) -> Result:
    words = f"open the workspace {workspace.name!r}, which contains the card {copy.card.title!r}, then try again"
    return failed(f"the card's workspace is not open: ask the user to {words}", "forbidden")
