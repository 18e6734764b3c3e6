"""Answers what a gateway asks an agent beside calls: resources, prompts and completions; it keeps no record of them.

Questions and answers are in MCP's words (wire/link.py, `Ask`). A link that is gone takes its questions with it.
"""

import logging
from collections.abc import Callable
from itertools import count
from typing import Final, NamedTuple

import anyio
import msgspec
from anyio.abc import TaskGroup

from toolwire.agent.asking import GatewayAsker
from toolwire.agent.context import SOMEBODY, delta_of
from toolwire.agent.outgoing import LARGEST_FRAME, Outgoing, encode_frame
from toolwire.core.call import Call
from toolwire.core.errors import MethodNotFound, ToolwireError
from toolwire.core.event import Event
from toolwire.core.handler import Emit
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Completions, Prompts
from toolwire.core.resource import Resources
from toolwire.core.result import Failure
from toolwire.wire.jsonrpc import Message
from toolwire.wire.link import Answered, Ask, Continue, Noted
from toolwire.wire.mcp.library import read_completing, read_prompt_get, read_uri

MAX_AT_WORK: Final = 100
"""Questions that are answered at once; what is above that waits."""

_log = logging.getLogger("toolwire.agent")
_builtins = msgspec.to_builtins


class Sources(NamedTuple):
    """What an agent offers beside tools; `None` where there is nothing."""

    resources: Resources | None = None
    prompts: Prompts | None = None
    completions: Completions | None = None


class Answers:
    """The questions at work.

    Args:
        sources: what is offered now.
        outgoing: where the answers go.
    """

    def __init__(self, sources: Callable[[], Sources], outgoing: Outgoing) -> None:
        self._sources = sources
        self._outgoing = outgoing
        self._at_work: dict[int, _AtWork] = {}
        self._places = anyio.Semaphore(MAX_AT_WORK)

    def take(self, ask: Ask, tasks: TaskGroup) -> None:
        """Begin to answer, in a task of `tasks`."""
        work = self._at_work[ask.ref] = _AtWork(ask, self._outgoing)
        tasks.start_soon(self._answer, ask, work)

    def forget(self, ref: int) -> None:
        """Nobody waits for this answer any more."""
        work = self._at_work.pop(ref, None)
        if work is not None:
            work.forget()

    def go_on(self, frame: Continue) -> None:
        """The client has answered what was asked of it."""
        work = self._at_work.get(frame.ref)
        if work is not None:
            work.hear(frame)

    def forget_all(self) -> None:
        """The link is gone."""
        for ref in tuple(self._at_work):
            self.forget(ref)

    async def _answer(self, ask: Ask, work: "_AtWork") -> None:
        with work.scope:
            async with self._places:
                answer = await self._answered(ask, work)
            if self._at_work.pop(ask.ref, None) is work:
                self._send(answer)

    async def _answered(self, ask: Ask, emit: Emit) -> Answered:
        try:
            return Answered(ask.ref, await self._result(ask, emit))
        except ToolwireError as error:
            return Answered(ask.ref, error=Failure(error.code, error.told, error.data or None))
        except Exception:  # noqa: BLE001 -- the outermost frame of a question: the log has it, who asked an answer
            reference = new_id("err")
            _log.exception("%s failed, reference %s", ask.method, reference)
            words = f"the agent failed; its author finds the reason in the agent's log under {reference}"
            return Answered(ask.ref, error=Failure("internal_error", words))

    async def _result(self, ask: Ask, emit: Emit) -> JsonObject:
        sources, message = self._sources(), Message(ask.method, ask.params)
        match ask.method:
            case "resources/read" if sources.resources is not None:
                uri = read_uri(message)
                contents = await sources.resources.read(uri, _call(ask, uri, {}), emit)
                return {"contents": _builtins(contents)}
            case "prompts/get" if sources.prompts is not None:
                wanted = read_prompt_get(message)
                call = _call(ask, wanted.name, dict(wanted.arguments))
                result: JsonObject = _builtins(await sources.prompts.get(wanted.name, call, emit))
                return result
            case "completion/complete" if sources.completions is not None:
                typed = read_completing(message)
                call = _call(ask, typed.ref.name, dict(typed.given))
                found = await sources.completions.complete(typed.ref, typed.argument, typed.value, call, emit)
                return {"completion": {"values": list(found.values)}}
            case _:
                raise MethodNotFound(f"this agent does not answer {ask.method!r}")

    def _send(self, answer: Answered) -> None:
        """Send an answer; one that no link takes is replaced by words."""
        try:
            encoded = encode_frame(answer)
            why = f"it takes {len(encoded)} bytes, at most {LARGEST_FRAME} can be sent"
        except (TypeError, ValueError, RecursionError) as error:
            encoded, why = None, f"it is not valid JSON: {error}"
        if encoded is None or len(encoded) > LARGEST_FRAME:
            failure = Failure("invalid_agent_response", f"the agent's answer cannot be sent: {why}")
            encoded = encode_frame(Answered(answer.ref, error=failure))
        self._outgoing.put_encoded(encoded)


class _AtWork:
    """A question that is being answered. Called with an event of it, it tells the gateway; so it is the `emit`."""

    def __init__(self, ask: Ask, outgoing: Outgoing) -> None:
        self.scope = anyio.CancelScope()
        self.asker: GatewayAsker | None = None
        if ask.client_capabilities is not None:
            self.asker = GatewayAsker(self._ask_client, self._page_done, ask.client_capabilities, ask.deadline)
        self._ref = ask.ref
        self._outgoing = outgoing
        self._numbers = count(1)
        self._waiting: dict[int, anyio.Event] = {}
        self._heard: dict[int, JsonObject] = {}
        self._is_over = False

    def __call__(self, event: Event) -> None:
        payload = None if self._is_over else delta_of(event)
        if payload is not None:
            self._outgoing.put(Noted(self._ref, payload))

    def forget(self) -> None:
        """Nobody waits any more."""
        self._is_over = True
        self.scope.cancel("the client does not wait any more")

    def hear(self, frame: Continue) -> None:
        """The client's answer."""
        waiting = self._waiting.get(frame.question)
        if waiting is not None:
            self._heard[frame.question] = frame.payload
            waiting.set()

    async def _ask_client(self, payload: JsonObject) -> JsonObject:
        number = next(self._numbers)
        answered = self._waiting[number] = anyio.Event()
        self._outgoing.put(Noted(self._ref, {**payload, "question": number}))
        try:
            await answered.wait()
        finally:
            del self._waiting[number]
        return self._heard.pop(number)

    def _page_done(self, key: str) -> None:
        self._outgoing.put(Noted(self._ref, {"text": "", "page_done": key}))


def _call(ask: Ask, name: str, arguments: JsonObject) -> Call:
    """Who asked is known to the gateway alone."""
    return Call(new_id("call"), SOMEBODY, name, arguments, ask.deadline, client_capabilities=ask.client_capabilities)
