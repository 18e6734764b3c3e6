"""A host for the tests of Python cards: it calls tools as agents do, and answers what a card asks; it keeps nothing.

    async with MockHost("toolwire-card.json").connected(card) as host:
        result = await host.call_tool("run_tests", {"filter": "login"})
    assert text_of(result) == "All tests passed"

The card runs as it does on a canvas, in this process: messages go through the same protocol, only no socket.
"""

import inspect
import time
from collections.abc import AsyncGenerator, Awaitable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup
from msgspec import UNSET, Struct

from toolwire.card.card import Card
from toolwire.card.errors import CardError
from toolwire.card.manifest import ToolSpec
from toolwire.card.names import natural_name
from toolwire.card.results import tool_error, what_is_wrong
from toolwire.core.errors import InvalidRequest
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.schema import compile_validator
from toolwire.testing.card_answers import DONE, Answer, CardAnswers, Confirm, OnCommand
from toolwire.testing.card_manifests import ManifestSource, manifest_from
from toolwire.testing.card_wire import MemoryWire
from toolwire.wire.card import Request, event_body, fault_body, read_params, read_request, response_body
from toolwire.wire.card_messages import (
    AgentRef,
    CancelCode,
    CardRef,
    CardsData,
    Fault,
    LogParams,
    Peer,
    ProgressParams,
    Ready,
    ReadyParams,
    RespondParams,
    SetEnabledParams,
    TextPart,
    ToolCallData,
    ToolCancelData,
    ToolResult,
)

READY_S: Final = 5.0
"""How long a card may take to say that it is there."""
CALLER: Final = AgentRef("agent_test", "tester")


def text_of(result: ToolResult) -> str:
    """The text of a result, a part a line, without its pictures."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


class MockCall:
    """A call that the host has sent to the card.

    Attributes:
        call_id: its id.
        tool: the tool's name in the manifest.
        arguments: as the card has got them.
        agent: who calls.
        card: the copy that it is for.
        progress: the lines that the card has said of it.
        result: what became of it; `None` while it is under way.
    """

    def __init__(self, tool: str, arguments: JsonObject, agent: AgentRef, card: CardRef) -> None:
        self.call_id = new_id("call")
        self.tool = tool
        self.arguments = arguments
        self.agent = agent
        self.card = card
        self.progress: list[str] = []
        self.result: ToolResult | None = None
        self._ended = anyio.Event()

    def end(self, result: ToolResult) -> None:
        """It is over; only the first end counts."""
        if self.result is None:
            self.result = result
            self._ended.set()

    async def wait(self) -> None:
        """Wait for its end."""
        await self._ended.wait()


class MockHost:
    """A host with one package. Use it with `connected`.

    Args:
        manifest: the card's manifest, or where that is.
        copies: the names of the copies on the board.
        agents: what `card.agents.list` gives. A terminal is one of kind "shell"; it has to be `connected` to be used.
        on_command: what `card.terminals.run` gives: gets the terminal's id and the command, gives a `CommandResult`,
            or the output of a command that went well.
        confirm: what the user says to `card.ui.confirm`: yes, no, or a function of the question.
        settings: what the user has set, secrets too; of the first copy, where it is not the package's.

    Attributes:
        calls: all calls, the oldest first.
        logs: what the card has logged: `level`, `text` and `card` of each line.
        requests: what the card has asked, by method and params, the oldest first.
        storage: what is kept, by copy (or the package's name) and key.
        written: what was typed into terminals, by terminal.
        disabled: the tools that the card has switched off.
    """

    def __init__(
        self,
        manifest: ManifestSource,
        *,
        copies: Sequence[str] = (),
        agents: Sequence[Peer] = (),
        on_command: OnCommand = lambda terminal, command: "",
        confirm: Confirm = True,
        settings: JsonObject | None = None,
    ) -> None:
        self.manifest = manifest_from(manifest)
        self.calls: list[MockCall] = []
        self.logs: list[LogParams] = []
        self.requests: list[tuple[str, Struct]] = []
        self.disabled: set[str] = set()
        fakes = self._fakes = CardAnswers(self.manifest, agents, on_command, confirm)
        self.storage, self.written = fakes.storage, fakes.written
        fakes.copies = _copies(copies or (self.manifest.display_name,))
        for key, value in (settings or {}).items():
            fakes.change_setting(fakes.copies[0].id, key, value)
        fakes.tell_settings = lambda data: self._tell("settings.changed", data)
        self._answers: dict[str, Answer] = {
            **fakes.table(),
            "host.ready": self._ready,
            "tools.respond": self._respond,
            "tools.progress": self._progress,
            "tools.setEnabled": self._set_enabled,
            "log.write": self._write_log,
        }
        self._wire: MemoryWire | None = None

    @property
    def copies(self) -> Sequence[CardRef]:
        """The copies on the board."""
        return self._fakes.copies

    @property
    def progress(self) -> Sequence[str]:
        """The lines of all calls, the oldest first."""
        return [line for call in self.calls for line in call.progress]

    def handle(self, method: str, answer: Answer) -> None:
        """Answer a method of cards in another way, to make it fail or hang.

        Args:
            method: a name of `wire.card_messages.PARAMS`.
            answer: gets the params (a value of that table), and gives the result as it goes over the wire, such as a
                JSON object, or an awaitable of it; raises `CardError` to refuse.
        """
        self._answers[method] = answer

    @asynccontextmanager
    async def connected(self, card: Card) -> AsyncGenerator["MockHost"]:
        """Run a card until the block ends.

        Raises:
            TimeoutError: the card does not say that it is there.
            CardError: the host, as the test has it answer, refuses the card.
        """
        failures: list[Exception] = []  # raised as they are, in no group

        async def serve() -> None:
            try:
                await card.serve(self._open)
            except Exception as error:  # noqa: BLE001
                failures.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            try:
                with anyio.fail_after(READY_S):
                    await card.ready()
                yield self
            except Exception as error:  # noqa: BLE001
                failures.append(error)
            tasks.cancel_scope.cancel()
        if failures:
            raise failures[0]

    async def call_tool(
        self,
        name: str,
        arguments: JsonObject | None = None,
        *,
        agent: AgentRef = CALLER,
        card: str | None = None,
        timeout_s: float | None = None,
    ) -> ToolResult:
        """Call a tool as an agent, and wait for what becomes of it; failures are results, as agents get them.

        Args:
            name: the tool's name in the manifest.
            arguments: checked by the manifest before the card sees them.
            agent: who calls.
            card: the name or id of the copy; by default the first one.
            timeout_s: how long it may take; by default as the manifest says.

        Raises:
            ValueError: there is no such tool or copy, or no card is connected.
        """
        spec = self.manifest.tool(name)
        if spec is None:
            raise ValueError(f"the manifest declares no tool {name!r}")
        if name in self.disabled:
            return tool_error("the card has turned this tool off for now")
        wrong = _misfit(spec, arguments or {})
        if wrong is not None:
            return tool_error(wrong)
        call = MockCall(name, arguments or {}, agent, self._copy(card))
        return await self._carry(call, spec.timeout_ms / 1000 if timeout_s is None else timeout_s)

    def cancel(self, call_id: str, reason: str = "the agent gave up") -> None:
        """Give up a call, as its agent does; fine if it is over."""
        for call in self.calls:
            if call.call_id == call_id and call.result is None:
                self._end_early(call, f"cancelled: {reason}", "cancelled", reason)

    def set_copies(self, *names: str) -> None:
        """Change which copies are on the board, and tell the card."""
        self._fakes.copies = _copies(names)
        self._tell("cards.changed", CardsData(self._fakes.copies))

    def set_setting(self, key: str, value: Any, *, card: str | None = None) -> None:
        """Set something as the user does, a secret too, and tell the card.

        Args:
            key: of the manifest.
            value: `None` puts it back to its default.
            card: the name or id of the copy; by default the first one.

        Raises:
            CardError: the manifest does not declare it so.
        """
        self._fakes.change_setting(self._copy(card).id, key, value)

    def hang_up(self) -> None:
        """Cut the connection; the card comes back by itself."""
        if self._wire is not None:
            self._wire.cut()

    async def _carry(self, call: MockCall, timeout_s: float) -> ToolResult:
        self.calls.append(call)
        exposed, deadline = natural_name(self.manifest.name, call.tool), (time.time() + timeout_s) * 1000
        self._tell(
            "tools.call",
            ToolCallData(
                call.call_id, call.tool, exposed, call.arguments, call.agent, call.card, deadline, timeout_s * 1000
            ),
        )
        try:
            with anyio.move_on_after(timeout_s):
                await call.wait()
            self._end_early(call, f"the tool timed out after {timeout_s:g} s", "deadline", "the time is up")
        finally:
            self._end_early(call, "cancelled: the agent gave up", "cancelled", "the agent gave up")
        assert call.result is not None
        return call.result

    def _end_early(self, call: MockCall, words: str, code: CancelCode, reason: str) -> None:
        if call.result is None:
            call.end(tool_error(words))
            if self._wire is not None:
                self._tell("tools.cancel", ToolCancelData(call.call_id, code, reason))

    def _copy(self, named: str | None) -> CardRef:
        for copy in self.copies:
            if named is None or named in (copy.id, copy.name):
                return copy
        raise ValueError(f"there is no copy {named!r}; there are {', '.join(copy.name for copy in self.copies)}")

    def _tell(self, event: str, data: Struct) -> None:
        if self._wire is None:
            raise ValueError("no card is connected; call tools inside `async with host.connected(card)`")
        self._wire.post(event_body(event, data))

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[MemoryWire]:
        """One connection of the card's."""
        wire = self._wire = MemoryWire()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._serve, wire, tasks)
            try:
                yield wire
            finally:
                self._wire = None
                for call in self.calls:
                    call.end(tool_error("the card stopped while it ran this: its connection ended"))
                tasks.cancel_scope.cancel()

    async def _serve(self, wire: MemoryWire, tasks: TaskGroup) -> None:
        """Answer requests side by side, but in order where nothing is waited for."""
        while True:
            request = read_request(await wire.asked())
            with _refusing(wire, request):
                params = read_params(request)
                self.requests.append((request.method, params))
                answered = self._answers[request.method](params)
                if inspect.isawaitable(answered):
                    tasks.start_soon(_answer_later, wire, request, answered)
                else:
                    wire.post(response_body(request.id, answered))

    def _ready(self, params: ReadyParams) -> Struct:
        one = self.manifest
        permitted = tuple(sorted(one.permitted()))
        return Ready(
            params.protocol,
            one.name,
            one.version,
            self._fakes.copies,
            tuple(sorted(self.disabled)),
            permitted,
            settings=self._fakes.settings_data(),
        )

    def _respond(self, params: RespondParams) -> Struct:
        call = self._under_way(params.call_id)
        if call is not None and params.error is not UNSET:
            self.logs.append(LogParams("warn", params.error, call.card.id))
            call.end(tool_error(params.error))
        elif call is not None and params.result is not UNSET:
            wrong = what_is_wrong(params.result)
            call.end(params.result if wrong is None else tool_error(f"the card sent an invalid result: {wrong}"))
        return DONE

    def _progress(self, params: ProgressParams) -> Struct:
        call = self._under_way(params.call_id)
        if call is not None:
            call.progress.append(params.message)
        return DONE

    def _set_enabled(self, params: SetEnabledParams) -> Struct:
        if self.manifest.tool(params.tool) is None:
            raise CardError("invalid_param", f"the manifest declares no tool {params.tool!r}")
        (self.disabled.discard if params.enabled else self.disabled.add)(params.tool)
        return DONE

    def _write_log(self, params: LogParams) -> Struct:
        if params.card is not None:
            self._fakes.copy(params.card)
        self.logs.append(params)
        return DONE

    def _under_way(self, call_id: str) -> MockCall | None:
        return next((call for call in self.calls if call.call_id == call_id and call.result is None), None)


@contextmanager
def _refusing(wire: MemoryWire, request: Request) -> Generator[None]:
    """Tell the card of a refusal."""
    try:
        yield
    except CardError as error:
        wire.post(fault_body(request.id, Fault(error.code, str(error), error.retry_after_ms)))
    except InvalidRequest as error:
        wire.post(fault_body(request.id, Fault(error.code, error.message)))


async def _answer_later(wire: MemoryWire, request: Request, answered: Awaitable[Any]) -> None:
    with _refusing(wire, request):
        wire.post(response_body(request.id, await answered))


def _copies(names: Sequence[str]) -> tuple[CardRef, ...]:
    return tuple(CardRef(f"card_{number}", name) for number, name in enumerate(names, 1))


def _misfit(spec: ToolSpec, arguments: JsonObject) -> str | None:
    """Why arguments do not fit, in words for the agent."""
    found = compile_validator(spec.input_schema).check(arguments)
    if not found:
        return None
    words = "; ".join(f"{violation.path or '(arguments)'}: {violation.message}" for violation in found)
    return f"arguments of {spec.name!r} do not fit its inputSchema: {words}"
