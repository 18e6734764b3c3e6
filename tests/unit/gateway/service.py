"""The message service over a store in memory, and agents on in-process WebSockets; it asserts nothing.

async with open_service() as service:
    agent_id, key = await service.agent("research")
    async with service.link(key, "web_search") as agent:
        calling = service.call(agent_id, "web_search", {"query": "x"})
        agent.publish(await agent.delivered(), text="found")
        result = await calling.end()
"""

from collections.abc import AsyncGenerator, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import TaskGroup

from tests.unit.gateway.world import ManualClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call, Caller
from toolwire.core.errors import ToolwireError
from toolwire.core.event import Event, Progress
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Store
from toolwire.core.result import Result
from toolwire.engine.catalog import Catalog
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.recover import recover
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.attached_link import REPLY_LIMIT_BYTES
from toolwire.gateway.auth import Auth
from toolwire.gateway.channel import Party
from toolwire.gateway.channels import Channels
from toolwire.gateway.conversations import Conversations
from toolwire.gateway.courier import Courier
from toolwire.gateway.deliveries import Deliveries
from toolwire.gateway.keys import Keys
from toolwire.gateway.link import AgentLinks
from toolwire.gateway.post import Post
from toolwire.gateway.presence import Presence
from toolwire.providers.agent import AgentProvider
from toolwire.providers.schema import compile_validator
from toolwire.wire.link import (
    Deliver,
    Drain,
    FromAgent,
    FromGateway,
    Hello,
    Message,
    Publish,
    Registration,
    Skill,
    Welcome,
    decode_from_gateway,
    encode_frames,
)

OWNER = "own_1"


class NoBlobs:
    async def put(self, key: str, data: bytes) -> None:
        raise AssertionError(f"nothing here is large enough for a blob: {key}")

    async def write(self, key: str, pieces: Any) -> None:
        raise AssertionError(f"nothing here is large enough for a blob: {key}")

    def open(self, key: str, start: int = 0, end: int | None = None) -> Any:
        raise AssertionError(f"no blob was put: {key}")

    async def delete(self, key: str) -> None:
        return None


class Service:
    """A gateway without its HTTP surfaces."""

    def __init__(self, store: Store, clock: ManualClock, reply_limit_bytes: int) -> None:
        self.store = store
        self.clock = clock
        self.engine = Engine(store, NoBlobs(), clock)
        self.keys = Keys(store, clock)
        self.agents = Agents(store, clock, compile_validator, self._provider)
        self.auth = Auth(self.keys)
        self.presence = Presence(
            store, self.engine.recorder, self.engine.timekeeper, lambda agent_id: self.agents.get(agent_id).mode
        )
        self.channels = Channels(store, self.engine.recorder, clock)
        self.conversations = Conversations(self.channels, store, clock)
        self.courier = Courier(self.presence, self.channels, store, self.engine.recorder, clock)
        self.post = Post(self.presence, self.channels, self.engine.recorder, clock)
        self.deliveries = Deliveries(self.presence, clock)
        self.links = AgentLinks(self.auth, self.agents, self.presence, self.channels, clock, reply_limit_bytes)
        self.caller = Caller("key_1", OWNER, "gateway")
        self.tasks: TaskGroup

    def owner(self, owner: str = OWNER) -> Party:
        """An owner on channels."""
        return Party(owner, owner)

    async def agent(self, name: str) -> tuple[str, str]:
        """A new agent; its id and `agk_` key."""
        record = await self.agents.create(OWNER, name)
        _, secret = await self.keys.create("agk", OWNER, record.agent_id)
        return record.agent_id, secret

    def call_of(self, agent_id: str, tool: str, arguments: JsonObject | None = None, **more: Any) -> Call:
        """A call that may wait for 60 s."""
        fields: dict[str, Any] = {"caller": self.caller, "deadline": self.clock.now() + 60, **more}
        return Call(id=new_id("call"), tool=tool, arguments=arguments or {}, agent_id=agent_id, **fields)

    def call(self, agent_id: str, tool: str, arguments: JsonObject | None = None, **more: Any) -> "Calling":
        """Submit a call, in a task."""
        return self.submit(self.call_of(agent_id, tool, arguments, **more))

    def submit(self, call: Call) -> "Calling":
        """Submit a call, in a task."""
        calling = Calling(call)
        self.tasks.start_soon(calling.go, self.engine, self.agents.catalog(call.agent_id))
        return calling

    @asynccontextmanager
    async def link(
        self,
        key: str,
        *tools: str | Skill,
        journal: str = "journal_1",
        running: tuple[str, ...] = (),
        mode: Any = None,
    ) -> "AsyncGenerator[LinkedAgent]":
        """An agent that has said hello and been welcomed, until the block ends."""
        skills = tuple(tool if isinstance(tool, Skill) else Skill(tool) for tool in tools)
        async with self.socket(key) as agent:
            agent.say(Hello(1, journal, Registration("agent", delivery_mode=mode, skills=skills), running))
            welcome = await agent.next()
            assert isinstance(welcome, Welcome), welcome
            yield agent

    @asynccontextmanager
    async def socket(self, key: str) -> "AsyncGenerator[LinkedAgent]":
        """A WebSocket to the link's route on which nothing has been said."""
        agent = LinkedAgent()
        scope: dict[str, Any] = {
            "type": "websocket",
            "path": "/api/v1/agents/link",
            "headers": [(b"authorization", b"Bearer " + key.encode())],
            "extensions": {"websocket.http.response": {}},
        }
        agent.inbox.send_nowait({"type": "websocket.connect"})

        async def serve() -> None:
            await self.links(scope, agent.receive, agent.send)
            agent.closed.set()

        self.tasks.start_soon(serve)
        try:
            yield agent
        finally:
            agent.close()
            with anyio.CancelScope(shield=True), anyio.move_on_after(5):
                await agent.closed.wait()
            agent.shut()

    def _provider(self, record: AgentRecord) -> AgentProvider:
        return AgentProvider(record.agent_id, self.courier)


class Calling:
    """A call that was submitted."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.heard: list[Event] = []
        self._scope = anyio.CancelScope()
        self._over = anyio.Event()
        self._submission: Submission | None = None
        self._error: ToolwireError | None = None

    async def go(self, engine: Engine, catalog: Catalog) -> None:
        with self._scope:
            try:
                self._submission = await engine.submit(self.call, catalog, lambda s: self.heard.append(s.event))
            except ToolwireError as error:
                self._error = error
        self._over.set()

    def leave(self) -> None:
        """The caller goes away."""
        self._scope.cancel()

    async def end(self, within_s: float = 5) -> Result:
        """How the call ended; raises what it was refused with."""
        with anyio.fail_after(within_s):
            await self._over.wait()
        if self._error is not None:
            raise self._error
        assert self._submission is not None
        return await self._submission.record.wait()

    async def code(self, within_s: float = 5) -> str | None:
        """The code of the error that it was refused or ended with."""
        try:
            result = await self.end(within_s)
        except ToolwireError as error:
            return error.code
        return None if result.error is None else result.error.code

    def steps(self) -> list[tuple[float, str | None]]:
        """The progress that the caller saw."""
        return [(event.progress, event.message) for event in self.heard if isinstance(event, Progress)]


class LinkedAgent:
    """The agent's end of an in-process WebSocket."""

    def __init__(self) -> None:
        self.inbox, self._in = anyio.create_memory_object_stream[MutableMapping[str, Any]](10_000)
        self._out, self.outbox = anyio.create_memory_object_stream[FromGateway](10_000)
        self.events: list[MutableMapping[str, Any]] = []
        self.closed = anyio.Event()
        self.deaf = False
        self._refs = 0

    async def receive(self) -> MutableMapping[str, Any]:
        return await self._in.receive()

    async def send(self, event: MutableMapping[str, Any]) -> None:
        if self.deaf and event["type"] == "websocket.send":
            await anyio.sleep_forever()
        await anyio.lowlevel.checkpoint()
        self.events.append(event)
        if event["type"] == "websocket.send":
            for frame in decode_from_gateway(event["text"]):
                self._out.send_nowait(frame)

    def say(self, *frames: FromAgent) -> None:
        """Send frames in one WebSocket message."""
        self.raw(encode_frames(list(frames)).decode())

    def raw(self, text: str) -> None:
        """Send a WebSocket message."""
        self.inbox.send_nowait({"type": "websocket.receive", "text": text})

    async def next(self, within_s: float = 5) -> Any:
        """The next frame from the gateway."""
        with anyio.fail_after(within_s):
            return await self.outbox.receive()

    async def delivered(self, within_s: float = 5) -> Message:
        """The message in the next frame that delivers one."""
        while not isinstance(frame := await self.next(within_s), Deliver):
            pass
        return frame.message

    async def quiet(self) -> bool:
        """Whether the gateway has nothing more to say for now."""
        await anyio.wait_all_tasks_blocked()
        return self.outbox.statistics().current_buffer_used == 0

    def publish(self, message: Message, type: str = "agent_reply", /, **payload: Any) -> int:
        """Say something in reply to a message; the `ref`."""
        return self.answer(message.channel_id, message.message_id, type, **payload)

    def answer(self, channel_id: str, in_reply_to: str | None, type: str = "agent_reply", /, **payload: Any) -> int:
        """Say something on a channel; the `ref`."""
        self._refs += 1
        self.say(Publish(self._refs, channel_id, type, payload, None, in_reply_to))
        return self._refs

    def drain(self) -> None:
        self.say(Drain())

    def shut(self) -> None:
        for stream in (self.inbox, self._in, self._out, self.outbox):
            stream.close()

    def close(self, code: int = 1006) -> None:
        """The connection is gone."""
        if not self.closed.is_set():
            self.inbox.send_nowait({"type": "websocket.disconnect", "code": code})


@asynccontextmanager
async def open_service(
    make_store: Callable[[ManualClock], Store] = MemoryStore,
    clock: ManualClock | None = None,
    reply_limit_bytes: int = REPLY_LIMIT_BYTES,
) -> AsyncGenerator[Service]:
    """A running service; over the store of another one it is what a restart finds."""
    clock = clock or ManualClock()
    service = Service(make_store(clock), clock, reply_limit_bytes)
    await service.keys.load()
    await service.agents.load()
    async with service.engine.running(), anyio.create_task_group() as tasks:
        service.tasks = tasks
        left = await service.presence.load()
        await service.courier.take_up(left)
        await service.post.take_up(left)
        await recover(service.engine, lambda call: AgentProvider(call.agent_id, service.courier).resume)
        tasks.start_soon(service.presence.keep)
        tasks.start_soon(service.post.keep)
        try:
            yield service
        finally:
            tasks.cancel_scope.cancel()
