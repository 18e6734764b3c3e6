"""Questions to attached agents that are no calls: who gets them, and what becomes of them (docs/adr/0015)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from tests.unit.gateway.service import LinkedAgent, Service, open_service
from toolwire.core.errors import AgentBusy, AgentOffline, ToolwireError
from toolwire.core.event import Event, Log, Progress
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Failure
from toolwire.gateway.asks import MAX_OPEN, error_of
from toolwire.wire.link import Answered, Ask, Drain, Forget, Hello, Noted, Registration, Welcome

READ: JsonObject = {"uri": "n://a"}


@asynccontextmanager
async def answering(service: Service, key: str, journal: str = "j_1", **more: Any) -> AsyncGenerator[LinkedAgent]:
    async with service.socket(key) as agent:
        agent.say(Hello(1, journal, Registration("agent"), answers=more.get("answers", True)))
        assert isinstance(await agent.next(), Welcome)
        await anyio.wait_all_tasks_blocked()
        yield agent


class Asking:
    """A question, in a task."""

    def __init__(self, service: Service, agent_id: str) -> None:
        self.heard: list[Event] = []
        self.outcome: Any = None
        self.over = anyio.Event()
        self.scope = anyio.CancelScope()
        service.tasks.start_soon(self._go, service, agent_id)

    async def _go(self, service: Service, agent_id: str) -> None:
        call = service.call_of(agent_id, "n://a")
        with self.scope:
            try:
                asks = service.presence.asks
                self.outcome = await asks.ask(agent_id, "resources/read", READ, call, self.heard.append)
            except ToolwireError as error:
                self.outcome = error
        self.over.set()

    async def end(self) -> Any:
        with anyio.fail_after(5):
            await self.over.wait()
        return self.outcome


async def asked(agent: LinkedAgent) -> Ask:
    frame = await agent.next()
    assert isinstance(frame, Ask)
    return frame


async def test_an_answer_comes_back_with_what_happened_on_the_way():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key) as agent:
            asking = Asking(service, agent_id)
            ask = await asked(agent)
            assert (ask.method, ask.params, ask.deadline) == ("resources/read", READ, service.clock.now() + 60)
            agent.say(
                Noted(ask.ref, {"text": "", "progress": {"progress": 1}}),
                Noted(ask.ref, {"text": "", "log": {"level": "info", "text": "here"}}),
                Noted(ask.ref, {"text": "", "log": 7}),
                Noted(ask.ref + 9, {"text": "x"}),
                Answered(ask.ref + 9, {}),
                Answered(ask.ref, {"contents": []}),
                Answered(ask.ref, {"contents": ["again"]}),
            )
            assert await asking.end() == {"contents": []}
            assert asking.heard == [Progress(1), Log("info", "here")]


async def test_a_question_that_nobody_waits_for_any_more_is_taken_back():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key) as agent:
            asking = Asking(service, agent_id)
            ask = await asked(agent)
            asking.scope.cancel()
            assert await agent.next() == Forget(ask.ref)


async def test_only_links_that_answer_are_asked_and_the_idlest_of_them():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key, "j_0", answers=False) as silent:
            assert isinstance(await Asking(service, agent_id).end(), AgentOffline)
            async with answering(service, key, "j_1") as one, answering(service, key, "j_2") as two:
                Asking(service, agent_id)
                Asking(service, agent_id)
                await asked(one)
                await asked(two)
                one.say(Drain())
                await anyio.wait_all_tasks_blocked()
                Asking(service, agent_id)
                await asked(two)
                assert await silent.quiet()


async def test_a_link_that_ends_fails_what_it_had():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key) as agent:
            asking = Asking(service, agent_id)
            await asked(agent)
        assert isinstance(await asking.end(), AgentOffline)


async def test_one_link_is_asked_only_so_much_at_once():
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key):
            for _ in range(MAX_OPEN):
                Asking(service, agent_id)
            await anyio.wait_all_tasks_blocked()
            assert isinstance(await Asking(service, agent_id).end(), AgentBusy)


async def test_an_answer_that_is_too_large_is_none():
    async with open_service(reply_limit_bytes=2000) as service:
        agent_id, key = await service.agent("research")
        async with answering(service, key) as agent:
            asking = Asking(service, agent_id)
            ask = await asked(agent)
            agent.say(Answered(ask.ref, {"contents": [{"uri": "n://a", "text": "x" * 3000}]}))
            assert (await asking.end()).code == "invalid_agent_response"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("resource_not_found", "resource_not_found"),
        ("invalid_param", "invalid_param"),
        ("missing_client_capability", "missing_client_capability"),
        ("agent_busy", "agent_busy"),
        ("unauthorized", "internal_error"),
        ("anything", "internal_error"),
    ],
)
def test_an_agent_may_say_some_codes_and_no_others(code: str, told: str):
    """gateway.md D16: none that speak for the gateway, such as 401."""
    error = error_of(Failure(code, "words", {"param": "x", "message": "y", "self": "z"}))
    assert (error.code, error.message) == (told, "words")
