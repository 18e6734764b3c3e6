"""cards.md §3, decisions 22-26, 32: what a card makes of its host's messages, and of connections that are lost."""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
import pytest

from toolwire.card import Card, CardError, ToolCall
from toolwire.card.errors import WireLost
from toolwire.testing.card_wire import MemoryWire

pytestmark = pytest.mark.virtual_time

READY = {"protocol": 1, "package": "radar", "version": "1.0.0", "cards": [{"id": "c1", "name": "Radar"}]}
CALL = {
    "callId": "call_1",
    "tool": "run_tests",
    "exposedName": "radar_run_tests",
    "arguments": {},
    "agent": {"id": "a", "name": "writer"},
    "card": {"id": "c1", "name": "Radar"},
    "deadline": 1.0,
    "remainingMs": 30_000,
}


class PlainHost:
    """A host that says what the test says."""

    def __init__(self) -> None:
        self.wire = MemoryWire()
        self.opened = 0
        self.refusal: Exception | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[MemoryWire]:
        self.opened += 1
        if self.refusal is not None:
            raise self.refusal
        yield self.wire

    async def request(self) -> dict[str, Any]:
        with anyio.fail_after(5):
            return msgspec.json.decode(await self.wire.asked())

    def say(self, **message: Any) -> None:
        self.wire.post(msgspec.json.encode(message))

    async def let_in(self) -> None:
        request = await self.request()
        assert request["method"] == "host.ready"
        self.say(id=request["id"], result=READY)

    def cut(self) -> None:
        """Hang up; the next connection is a new one."""
        old, self.wire = self.wire, MemoryWire()
        old.cut()


@asynccontextmanager
async def served(card: Card) -> AsyncGenerator[PlainHost]:
    host = PlainHost()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(card.serve, host.open)
        await host.let_in()
        yield host
        tasks.cancel_scope.cancel()


def echoing() -> Card:
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> str:
        await call.signal
        return "cancelled"

    assert run_tests is not None
    return card


async def test_a_card_says_first_what_it_speaks() -> None:
    host = PlainHost()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(Card().serve, host.open)
        assert await host.request() == {
            "id": 1,
            "method": "host.ready",
            "params": {"protocol": 1, "sdk": "toolwire-python"},
        }
        tasks.cancel_scope.cancel()


async def test_what_the_host_tells_after_the_context_is_newer_than_that() -> None:
    """cards.md 67."""
    card = Card()
    async with served(card) as host:
        host.say(event="cards.changed", data={"cards": [{"id": "c2", "name": "Other"}]})
        await anyio.sleep(1)
        assert [copy.id for copy in card.copies] == ["c2"]
        assert card.context is not None
        assert card.context.package == "radar"


@pytest.mark.parametrize(
    "text",
    [
        b"no json",
        b"[]",
        b'{"event": 3}',
        b'{"event": "tools.call", "data": {"callId": 3}}',
        b'{"event": "tools.call"}',
        b'{"event": "of.a.newer.host", "data": {}}',
        b'{"event": "agents.changed", "data": {"card": "c1"}}',
        b'{"id": 99, "result": {}}',
        b'{"id": "one"}',
        b'{"event": "x", "data": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        b"\xff",
    ],
)
async def test_what_cannot_be_read_does_not_end_the_card(text: bytes) -> None:
    card = Card()
    async with served(card) as host:
        host.wire.post(text)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.storage.delete, "a")
            request = await host.request()
            assert request["method"] == "storage.delete"
            host.say(id=request["id"], result={})


async def test_an_answer_that_cannot_be_read_is_an_error_where_it_was_asked() -> None:
    card = Card()
    async with served(card) as host, anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(CardError) as refused:
                await card.storage.keys()
            assert refused.value.code == "internal_error"

        tasks.start_soon(ask)
        host.say(id=(await host.request())["id"], result={"keys": 3})


async def test_a_refusal_has_its_code_and_when_to_try_again() -> None:
    card = Card()
    async with served(card) as host, anyio.create_task_group() as tasks:

        async def ask() -> None:
            with pytest.raises(CardError, match="slower") as refused:
                await card.agents.list()
            assert (refused.value.code, refused.value.retry_after_ms) == ("rate_limited", 40)

        tasks.start_soon(ask)
        error = {"code": "rate_limited", "message": "slower", "retryAfterMs": 40}
        host.say(id=(await host.request())["id"], error=error)


async def test_a_cancel_that_comes_with_its_call_finds_it() -> None:
    """cards.md 58."""
    async with served(echoing()) as host:
        host.say(event="tools.call", data=CALL)
        host.say(event="tools.cancel", data={"callId": "call_1", "code": "disconnected", "reason": "the arrow went"})
        host.say(event="tools.cancel", data={"callId": "gone", "code": "cancelled", "reason": "twice"})
        await anyio.sleep(5)
        with pytest.raises(TimeoutError):
            await host.request()


async def test_the_time_that_is_left_counts_and_not_the_hosts_clock() -> None:
    """Decision 22."""
    codes: list[tuple[str, float]] = []
    card = Card()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> None:
        codes.append(((await call.signal).code, anyio.current_time()))

    async with served(card) as host:
        host.say(event="tools.call", data={**CALL, "deadline": 0.0, "remainingMs": 7_000})
        await anyio.sleep(8)
    assert codes == [("deadline", 7.0)]
    assert run_tests is not None


async def test_a_lost_connection_ends_its_calls_and_requests_and_the_card_comes_back() -> None:
    """Decisions 24, 25."""
    seen: list[Any] = []
    card, begun = Card(), anyio.Event()

    @card.tools.handle("run_tests")
    async def run_tests(arguments: dict[str, Any], call: ToolCall) -> None:
        begun.set()
        try:
            await card.storage.get("a")
        finally:
            seen.append(call.signal.cancelled and call.signal.cancelled.code)

    async def ask() -> None:
        with pytest.raises(CardError) as refused:
            await card.storage.get("b")
        seen.append(refused.value.code)

    async with served(card) as host, anyio.create_task_group() as tasks:
        host.say(event="tools.call", data=CALL)
        tasks.start_soon(ask)
        await begun.wait()
        await anyio.sleep(1)
        host.cut()
        await host.let_in()
        await card.ready()
        assert sorted(seen) == ["unavailable", "unloaded"]
        assert host.opened == 2
    assert run_tests is not None


async def test_who_asks_before_there_is_a_host_waits_for_it_through_failed_attempts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    card, host = Card(), PlainHost()
    host.refusal = WireLost("connection refused")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(card.serve, host.open)
        tasks.start_soon(card.storage.clear)
        with caplog.at_level(logging.WARNING, "toolwire.card"):
            await anyio.sleep(60)
        assert "connection refused" in caplog.text
        assert 5 <= host.opened <= 20  # ever more seldom
        host.refusal = None
        await host.let_in()
        request = await host.request()
        assert request["method"] == "storage.clear"
        host.say(id=request["id"], result={})
        await anyio.sleep(1)
        tasks.cancel_scope.cancel()


async def test_a_card_that_the_host_refuses_gives_up() -> None:
    """cards.md §2: protocols."""
    host = PlainHost()

    async def refuse() -> None:
        fault = {"code": "invalid_param", "message": "this host speaks protocol 2"}
        host.say(id=(await host.request())["id"], error=fault)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(refuse)
        with pytest.raises(CardError, match="protocol 2"):
            await Card().serve(host.open)
    host.refusal = CardError("unauthorized", "another key")
    with pytest.raises(CardError, match="another key"):
        await Card().serve(host.open)
    assert host.opened == 2


async def test_a_childs_connection_is_its_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """cards.md §7: a card that the host has started ends with its connection."""
    monkeypatch.setenv("TOOLWIRE_CARD_TOKEN", "crd_1")
    host, card = PlainHost(), Card()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(card.serve, host.open)
        await host.let_in()
        host.cut()
    assert host.opened == 1


async def test_a_card_that_knows_no_host_says_how_to_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOOLWIRE_CARD_TOKEN", "TOOLWIRE_CARD_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="url=…"):
        await Card().serve()
    with pytest.raises(ValueError, match="not a host's address"):
        await Card("localhost:8094", "oag_1").serve()
