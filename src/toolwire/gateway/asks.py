"""Questions to attached agents that are no calls, and who is there to answer them; it does not know what they mean.

They are claimed, recorded and replayed nowhere: a link that breaks takes its open ones with it, and the client may ask
again. The frames are those of wire/link.py.
"""

from collections.abc import Callable
from itertools import count
from typing import Final

import anyio
from anyio import get_cancelled_exc_class

from toolwire.core.asking import asker_of
from toolwire.core.call import Call
from toolwire.core.errors import (
    AgentBusy,
    AgentOffline,
    InternalError,
    InvalidAgentResponse,
    InvalidParam,
    MissingCapability,
    PageRequired,
    ResourceNotFound,
    ServiceUnavailable,
    ToolwireError,
)
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Failure
from toolwire.gateway.questions import answers_to
from toolwire.providers.agent_reply import event_of
from toolwire.wire.link import Answered, Ask, AskMethod, Continue, Forget, FromGateway, Noted

MAX_OPEN: Final = 1000
"""Questions that one link has not answered yet."""

_ERRORS: Final = (
    AgentBusy,
    InvalidAgentResponse,
    InvalidParam,
    MissingCapability,
    PageRequired,
    ResourceNotFound,
    ServiceUnavailable,
)
"""What an agent may say by its code; everything else that it says is an internal error in its words."""


class _Open:
    __slots__ = ("_news", "answer", "emit", "questions")

    def __init__(self, emit: Emit) -> None:
        self.emit = emit
        self.answer: JsonObject | ToolwireError | None = None
        self.questions: list[JsonObject] = []
        self._news = anyio.Event()

    def resolve(self, answer: JsonObject | ToolwireError) -> None:
        self.answer = answer
        self._news.set()

    def ask(self, payload: JsonObject) -> None:
        self.questions.append(payload)
        self._news.set()

    async def stirred(self) -> None:
        """Wait until it is answered, or its agent asks something."""
        while self.answer is None and not self.questions:
            self._news = anyio.Event()
            await self._news.wait()


class LinkAsks:
    """The open questions of one link.

    Args:
        put: sends a frame with the link's next write.
    """

    def __init__(self, put: Callable[[FromGateway], None]) -> None:
        self._put = put
        self._refs = count(1)
        self._open: dict[int, _Open] = {}
        self.draining = False

    def __len__(self) -> int:
        return len(self._open)

    async def ask(self, method: AskMethod, params: JsonObject, call: Call, emit: Emit) -> JsonObject:
        """Ask, and wait for the result; see `Asks.ask`."""
        if len(self._open) >= MAX_OPEN:
            raise AgentBusy(f"the agent has {MAX_OPEN} questions to answer already; ask again later")
        ref = next(self._refs)
        waiting = self._open[ref] = _Open(emit)
        self._put(Ask(ref, method, params, round(call.deadline, 3), call.client_capabilities))
        try:
            await waiting.stirred()
            if waiting.answer is None:
                await self._ask_meanwhile(ref, waiting)
        except get_cancelled_exc_class():
            self._put(Forget(ref))
            raise
        finally:
            del self._open[ref]
        if isinstance(waiting.answer, ToolwireError):
            raise waiting.answer
        assert waiting.answer is not None
        return waiting.answer

    def noted(self, frame: Noted) -> None:
        """Tell who asked what happens on the way."""
        waiting = self._open.get(frame.ref)
        if waiting is None or waiting.answer is not None:
            return
        if "questions" in frame.payload:
            waiting.ask(frame.payload)
        elif (event := event_of(frame.payload)) is not None:
            waiting.emit(event)
        elif isinstance(key := frame.payload.get("page_done"), str) and (asker := asker_of(waiting.emit)) is not None:
            asker.complete(key)

    def answered(self, frame: Answered) -> None:
        """Hand the answer to who waits for it, if it still does."""
        waiting = self._open.get(frame.ref)
        if waiting is None or waiting.answer is not None:
            return
        if frame.error is not None:
            waiting.resolve(error_of(frame.error))
        elif frame.result is not None:
            waiting.resolve(frame.result)
        else:
            waiting.resolve(InvalidAgentResponse("the agent's answer has neither result nor error"))

    async def _ask_meanwhile(self, ref: int, waiting: _Open) -> None:
        async with anyio.create_task_group() as tasks:
            while waiting.answer is None:
                asked, waiting.questions = waiting.questions, []
                for payload in asked:
                    tasks.start_soon(self._ask_client, ref, waiting, payload)
                await waiting.stirred()
            tasks.cancel_scope.cancel("the question is answered")

    async def _ask_client(self, ref: int, waiting: _Open, payload: JsonObject) -> None:
        number = payload.get("question")
        answer = await answers_to(payload, waiting.emit)
        self._put(Continue(ref, number if isinstance(number, int) else 0, answer))

    def end(self) -> None:
        """The link is gone."""
        for waiting in self._open.values():
            if waiting.answer is None:
                waiting.resolve(AgentOffline("the agent's link broke before it answered; ask again"))


class Asks:
    """Who of the agents answers questions.

    Args:
        expected_until: until when, of the event loop's clock, an agent is expected back after a restart.
    """

    def __init__(self, expected_until: Callable[[str], float]) -> None:
        self._expected_until = expected_until
        self._links: dict[str, list[LinkAsks]] = {}
        self._came = anyio.Event()

    def attach(self, agent_id: str, link: LinkAsks) -> None:
        """A link is there whose agent answers questions."""
        self._links.setdefault(agent_id, []).append(link)
        self._came.set()
        self._came = anyio.Event()

    def detach(self, agent_id: str, link: LinkAsks) -> None:
        """A link is gone, with all that it had not answered."""
        links = self._links.get(agent_id, [])
        if link in links:
            links.remove(link)
            if not links:
                del self._links[agent_id]
        link.end()

    async def ask(self, agent_id: str, method: AskMethod, params: JsonObject, call: Call, emit: Emit) -> JsonObject:
        """Ask an agent, and wait for MCP's result of `method`.

        Args:
            agent_id: which.
            method: what is asked.
            params: with what, in MCP's words.
            call: who asks, and until when.
            emit: takes progress and log lines.

        Raises:
            AgentOffline: no process of the agent is attached that could answer.
            ToolwireError: what the agent says instead of an answer.

        Cancellation: the agent is told that nobody waits any more.
        """
        link = await self._link(agent_id)
        return await link.ask(method, params, call, emit)

    async def _link(self, agent_id: str) -> LinkAsks:
        """The link with the fewest open questions; one that drains only where there is no other."""
        with anyio.CancelScope(deadline=self._expected_until(agent_id)):
            while True:
                links = self._links.get(agent_id)
                if links:
                    return min(links, key=lambda link: (link.draining, len(link)))
                if anyio.current_time() >= self._expected_until(agent_id):
                    break
                await self._came.wait()
        raise AgentOffline(f"agent {agent_id!r} is not attached, and only it can answer this; start it and ask again")


def error_of(failure: Failure) -> ToolwireError:
    """The error that an agent speaks of."""
    for kind in _ERRORS:
        if kind.code == failure.code:
            return kind(failure.message, **_data_of(failure))
    return InternalError(failure.message)


def _data_of(failure: Failure) -> JsonObject:
    return {key: value for key, value in (failure.data or {}).items() if key not in ("self", "message")}
