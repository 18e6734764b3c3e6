"""Answers what a gateway asks an agent beside calls: resources, prompts and completions; it keeps no record of them.

Questions and answers are in MCP's words (wire/link.py, `Ask`). A link that is gone takes its questions with it.
"""

import logging
from collections.abc import Callable
from typing import Final, NamedTuple

import anyio
import msgspec
from anyio.abc import TaskGroup

from toolwire.agent.context import SOMEBODY, delta_of
from toolwire.agent.outgoing import LARGEST_FRAME, Outgoing, encode_frame
from toolwire.core.call import Call
from toolwire.core.errors import MethodNotFound, ToolwireError
from toolwire.core.event import Event
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.prompt import Completions, Prompts
from toolwire.core.resource import Resources
from toolwire.core.result import Failure
from toolwire.wire.jsonrpc import Message
from toolwire.wire.link import Answered, Ask, Noted
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
        self._scopes: dict[int, anyio.CancelScope] = {}
        self._places = anyio.Semaphore(MAX_AT_WORK)

    def take(self, ask: Ask, tasks: TaskGroup) -> None:
        """Begin to answer, in a task of `tasks`."""
        scope = self._scopes[ask.ref] = anyio.CancelScope()
        tasks.start_soon(self._answer, ask, scope)

    def forget(self, ref: int) -> None:
        """Nobody waits for this answer any more."""
        scope = self._scopes.pop(ref, None)
        if scope is not None:
            scope.cancel("the client does not wait any more")

    def forget_all(self) -> None:
        """The link is gone."""
        for ref in tuple(self._scopes):
            self.forget(ref)

    async def _answer(self, ask: Ask, scope: anyio.CancelScope) -> None:
        with scope:
            async with self._places:
                answer = await self._answered(ask)
            if self._scopes.pop(ask.ref, None) is scope:
                self._send(answer)

    async def _answered(self, ask: Ask) -> Answered:
        try:
            return Answered(ask.ref, await self._result(ask))
        except ToolwireError as error:
            return Answered(ask.ref, error=Failure(error.code, error.told, error.data or None))
        except Exception:  # noqa: BLE001 -- the outermost frame of a question: the log has it, who asked an answer
            reference = new_id("err")
            _log.exception("%s failed, reference %s", ask.method, reference)
            words = f"the agent failed; its author finds the reason in the agent's log under {reference}"
            return Answered(ask.ref, error=Failure("internal_error", words))

    async def _result(self, ask: Ask) -> JsonObject:
        sources, message = self._sources(), Message(ask.method, ask.params)

        def emit(event: Event) -> None:
            payload = delta_of(event)
            if payload is not None and self._scopes.get(ask.ref) is not None:
                self._outgoing.put(Noted(ask.ref, payload))

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


def _call(ask: Ask, name: str, arguments: JsonObject) -> Call:
    """Who asked is known to the gateway alone."""
    return Call(new_id("call"), SOMEBODY, name, arguments, ask.deadline, client_capabilities=ask.client_capabilities)
