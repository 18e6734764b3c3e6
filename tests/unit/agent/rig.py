"""A gateway in the test's own hands: it gives frames to a worker and sees every frame that the worker sends."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from toolwire.agent.agent import Agent
from toolwire.agent.context import Inbound
from toolwire.agent.journal import Journal, MemoryJournal
from toolwire.agent.worker import Body, Limits, Worker
from toolwire.core.result import Result, failed
from toolwire.wire.link import (
    INPUT_REQUIRED,
    TERMINAL_TYPES,
    USER_CONTINUE,
    Deliver,
    FromAgent,
    FromGateway,
    Message,
    Publish,
    Published,
    Registration,
    Welcome,
    decode_from_agent,
)

Run = Callable[[Inbound], Awaitable[Result]]


def chat(message_id: str, tool: str = "work", channel_id: str = "ch_1", **arguments: Any) -> Message:
    payload = {"message": tool, "tool": {"name": tool, "arguments": arguments}}
    return row(message_id, "chat_message", payload, channel_id)


def row(
    message_id: str, type: str, payload: dict[str, Any], channel_id: str = "ch_1", offset: int = 1, by: str = "gateway"
) -> Message:
    return Message(message_id, channel_id, offset, type, payload, by, "2026-01-01T00:00:00.000Z")


class Gateway:
    """Sees what the worker sends. `acknowledges` says whether publications are answered at once."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.acknowledges = True
        self.seen: list[FromAgent] = []
        self._offsets = 1
        self._changed = anyio.Event()

    def give(self, frame: FromGateway) -> None:
        self.worker.take(frame)

    def deliver(self, message: Message) -> None:
        self.give(Deliver(f"dlv_{message.message_id}", message))

    def cancel(self, message_id: str) -> None:
        self.deliver(row(f"{message_id}_cancel", "chat_cancel", {"target_message_id": message_id}))

    def attach(self) -> None:
        self.worker.attached(Welcome("agent_test", {}))

    def replies(self, message_id: str | None = None) -> list[Publish]:
        published = [frame for frame in self.seen if isinstance(frame, Publish) and frame.type in TERMINAL_TYPES]
        return [frame for frame in published if message_id in (None, frame.in_reply_to)]

    def deltas(self) -> list[dict[str, Any]]:
        published = [frame for frame in self.seen if isinstance(frame, Publish)]
        return [frame.payload for frame in published if frame.type == "agent_reply_delta"]

    async def until(self, condition: Callable[[], bool]) -> None:
        with anyio.fail_after(30):
            while not condition():
                await self._changed.wait()

    async def reply(self, message_id: str, count: int = 1) -> Publish:
        await self.until(lambda: len(self.replies(message_id)) >= count)
        return self.replies(message_id)[-1]

    async def question(self, count: int = 1) -> Publish:
        """The `count`th `agent.input_required`."""

        def questions() -> list[Publish]:
            published = [frame for frame in self.seen if isinstance(frame, Publish)]
            return [frame for frame in published if frame.type == INPUT_REQUIRED]

        await self.until(lambda: len(questions()) >= count)
        return questions()[count - 1]

    def decide(self, question: Publish, **payload: Any) -> None:
        about = row(f"{question.message_id}_decided", USER_CONTINUE, payload, question.channel_id, by="own_1")
        self.deliver(msgspec.structs.replace(about, in_reply_to=question.message_id))

    async def see_forever(self) -> None:
        while True:
            for frame in decode_from_agent(await self.worker.outgoing.take()):
                self.seen.append(frame)
                if self.acknowledges and isinstance(frame, Publish):
                    self._offsets += 1
                    self.give(Published(frame.ref, frame.message_id or f"msg_d{self._offsets}", self._offsets))
            self._changed.set()
            self._changed = anyio.Event()


@asynccontextmanager
async def gateway_of(
    bodies: Mapping[str, Body | Run], journal: Journal | None = None, limits: Limits | None = None
) -> AsyncGenerator[Gateway]:
    """A worker with these bodies by tool name, attached to a gateway that the test plays."""

    def choose(message: Message) -> Body:
        body = bodies.get(message.payload["tool"]["name"], Body(_unknown))
        return body if isinstance(body, Body) else Body(body)

    worker = Worker(Registration("test"), choose, MemoryJournal() if journal is None else journal, limits)
    async with _attached(worker) as gateway:
        yield gateway


@asynccontextmanager
async def gateway_of_agent(agent: Agent) -> AsyncGenerator[Gateway]:
    """The same for an agent with its tools."""
    async with agent.worker(MemoryJournal()) as worker, _attached(worker) as gateway:
        yield gateway


@asynccontextmanager
async def _attached(worker: Worker) -> AsyncGenerator[Gateway]:
    async with worker.working(), anyio.create_task_group() as tasks:
        gateway = Gateway(worker)
        gateway.attach()
        tasks.start_soon(gateway.see_forever)
        yield gateway
        tasks.cancel_scope.cancel()


async def _unknown(inbound: Inbound) -> Result:
    return failed("no such tool", "tool_not_found")
