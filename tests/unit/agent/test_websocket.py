"""An agent and a gateway over a real WebSocket on this machine; gateway.md §3 and "Agents" of §6."""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from tests.unit.agent.rig import chat
from tests.unit.agent.websocket_gateway import KEY, FakeGateway, port_of, running_gateway
from toolwire.agent import Agent, Ctx
from toolwire.agent.attach import target_of
from toolwire.agent.websocket import link_url, websocket_opener
from toolwire.core.errors import Forbidden, InvalidParam, Unauthorized
from toolwire.wire.link import Deliver, encode_frames


def echo_agent() -> Agent:
    agent = Agent("echo", version="1")

    @agent.tool
    async def work(ctx: Ctx) -> str:
        await ctx.say("…")
        return ctx.call_id

    return agent


async def test_an_agent_attaches_with_its_key_and_answers() -> None:
    async with running_gateway() as gateway, echo_agent().connect(gateway.url, KEY) as link:
        assert link.agent_id == "agent_test"
        await gateway.deliver("msg_1")
        await gateway.until(lambda: len(gateway.published) == 2)
        delta, reply = gateway.published
        assert (delta.type, delta.payload) == ("agent_reply_delta", {"text": "…"})
        assert (reply.type, reply.payload, reply.in_reply_to) == ("agent_reply", {"text": "call_1"}, "msg_1")


async def test_a_thousand_deliveries_at_once_are_answered_in_few_writes() -> None:
    agent = Agent("echo")

    @agent.tool
    async def work(ctx: Ctx) -> str:
        return ctx.call_id

    async with running_gateway() as gateway, agent.connect(gateway.url, KEY):
        await gateway.deliver(*[f"msg_{number}" for number in range(1000)])
        await gateway.until(lambda: len(gateway.replies()) == 1000)
        assert {reply.payload["text"] for reply in gateway.replies()} == {f"call_{number}" for number in range(1000)}
        assert gateway.messages < 200


async def test_an_answer_of_many_megabytes_arrives() -> None:
    agent = Agent("large")

    @agent.tool
    async def work() -> str:
        return "x" * 8_000_000

    async with running_gateway() as gateway, agent.connect(gateway.url, KEY):
        gateway_limit = gateway.connection
        assert gateway_limit is not None
        gateway_limit.protocol.max_message_size = 40_000_000
        await gateway.deliver("msg_1")
        await gateway.until(lambda: len(gateway.replies()) == 1)
        assert len(gateway.replies()[0].payload["text"]) == 8_000_000


async def test_messages_that_come_together_are_answered_with_one_write() -> None:
    agent = Agent("echo")

    @agent.tool
    async def work(ctx: Ctx) -> str:
        return ctx.call_id

    async with running_gateway() as gateway, agent.connect(gateway.url, KEY):
        connection, before = gateway.connection, gateway.messages
        assert connection is not None
        for number in range(3):
            deliver = Deliver(f"dlv_{number}", chat(f"msg_{number}"))
            connection.protocol.send_text(encode_frames([deliver]))
        connection.transport.write(b"".join(connection.protocol.data_to_send()))
        await gateway.until(lambda: len(gateway.replies()) == 3)
        assert gateway.messages == before + 1


async def test_answers_that_come_faster_than_the_gateway_reads_all_arrive_in_their_order() -> None:
    agent = Agent("wordy")

    @agent.tool
    async def work(ctx: Ctx) -> str:
        return ctx.call_id + " " * 300_000

    async with running_gateway() as gateway, agent.connect(gateway.url, KEY):
        names = [f"msg_{number}" for number in range(30)]
        for name in names:
            await gateway.deliver(name)
        await gateway.until(lambda: len(gateway.replies()) == 30)
        assert [reply.in_reply_to for reply in gateway.replies()] == names


async def test_a_gateway_that_restarts_gets_the_answers_that_were_ready_meanwhile() -> None:
    agent = Agent("slow")
    release = anyio.Event()
    begun: list[str] = []

    @agent.tool
    async def work(ctx: Ctx) -> str:
        begun.append(ctx.call_id)
        await release.wait()
        return "done"

    gateway = FakeGateway()
    server = await gateway.start()
    port = port_of(server)
    async with agent.connect(gateway.url, KEY):
        await gateway.deliver("msg_1", "msg_2")
        await gateway.until(lambda: len(gateway.hellos) == 1)
        with anyio.fail_after(20):
            while len(begun) < 2:
                await anyio.lowlevel.checkpoint()
        server.close()
        await server.wait_closed()
        release.set()
        gateway.connection = None
        server = await gateway.start(port)
        await gateway.until(lambda: len(gateway.replies()) == 2)
        assert set(gateway.hellos[1].running) == {"msg_1", "msg_2"}
        assert gateway.hellos[1].journal == gateway.hellos[0].journal
        await gateway.deliver("msg_1")
        await gateway.until(lambda: len(gateway.replies()) == 3)
        assert sorted(begun) == ["call_1", "call_2"]
    server.close()
    await server.wait_closed()


async def test_a_wrong_key_is_refused_at_once_and_in_words() -> None:
    async with running_gateway() as gateway:
        with pytest.raises(Unauthorized, match="toolwire agent create"):
            async with echo_agent().connect(gateway.url, "agk_wrong"):
                raise AssertionError("the block must not begin")
        gateway.status = 403
        with pytest.raises(Forbidden, match="its own key"):
            await echo_agent().serve(gateway.url, KEY)
        assert gateway.refused == 2


async def test_a_gateway_that_is_not_ready_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    async with running_gateway() as gateway, anyio.create_task_group() as tasks:
        gateway.status = 503
        tasks.start_soon(echo_agent().serve, gateway.url, KEY)
        await gateway.until(lambda: gateway.refused >= 2)
        gateway.status = 404
        await gateway.until(lambda: gateway.refused >= 3)
        gateway.status = 101
        await gateway.until(lambda: len(gateway.hellos) == 1)
        tasks.cancel_scope.cancel()
    assert "HTTP 503" in caplog.text
    assert KEY not in caplog.text


async def test_a_journal_in_a_file_answers_after_a_restart_of_the_agent(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    async with running_gateway() as gateway:
        async with echo_agent().connect(gateway.url, KEY, journal=path):
            await gateway.deliver("msg_1")
            await gateway.until(lambda: len(gateway.replies()) == 1)
        await gateway.until(lambda: gateway.connection is None)
        async with echo_agent().connect(gateway.url, KEY, journal=str(path)):
            await gateway.deliver("msg_1")
            await gateway.until(lambda: len(gateway.replies()) == 2)
    first, second = gateway.replies()
    assert (first.message_id, first.payload) == (second.message_id, second.payload)
    assert gateway.hellos[0].journal == gateway.hellos[1].journal


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://127.0.0.1:8094", "ws://127.0.0.1:8094/api/v1/agents/link"),
        ("https://tools.example/", "wss://tools.example/api/v1/agents/link"),
        (" WSS://tools.example/base/?x=1#y ", "wss://tools.example/base/api/v1/agents/link"),
        ("ws://h/api/v1/agents/link", "ws://h/api/v1/agents/link"),
    ],
)
def test_the_link_is_opened_below_the_gateway_s_address(url: str, address: str) -> None:
    assert link_url(url).geturl() == address


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidParam) as caught:
        link_url("https://me:secret@tools.example")
    assert "secret" not in caught.value.message


def test_a_key_that_would_travel_in_the_open_is_told(caplog: pytest.LogCaptureFixture) -> None:
    websocket_opener("http://127.0.0.1:8094", KEY)
    websocket_opener("http://localhost:8094", KEY)
    websocket_opener("https://tools.example", KEY)
    assert caplog.text == ""
    websocket_opener("http://tools.example", KEY)
    assert "unencrypted to http://tools.example" in caplog.text


async def test_a_journal_that_cannot_be_kept_is_told_before_anything_else(tmp_path: Path) -> None:
    with pytest.raises(InvalidParam, match="cannot be kept in"):
        async with echo_agent().connect("http://127.0.0.1:1", KEY, journal=tmp_path):
            raise AssertionError("the block must not begin")


@pytest.mark.parametrize("url", ["127.0.0.1:8094", "ftp://x", "http://", "", "http://h:99999"])
def test_an_address_that_is_none_is_told_at_once(url: str) -> None:
    with pytest.raises(InvalidParam, match="write one like"):
        link_url(url)


def test_key_and_url_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLWIRE_AGENT_KEY", raising=False)
    monkeypatch.delenv("TOOLWIRE_URL", raising=False)
    with pytest.raises(Unauthorized, match="TOOLWIRE_AGENT_KEY"):
        target_of(None, None)
    with pytest.raises(Unauthorized, match="characters"):
        target_of(None, "agk_a\nb")
    assert target_of(None, "agk_1\n").url == "http://127.0.0.1:8094"
    monkeypatch.setenv("TOOLWIRE_AGENT_KEY", "agk_env")
    monkeypatch.setenv("TOOLWIRE_URL", "http://elsewhere")
    assert (target_of(None, None).url, target_of(None, None).key) == ("http://elsewhere", "agk_env")
    assert (target_of("http://here", "agk_1").url, target_of("http://here", "agk_1").key) == ("http://here", "agk_1")


def test_importing_the_agent_library_imports_no_server_and_no_websocket() -> None:
    code = "import toolwire.agent, sys; print([m for m in sys.modules if m.split('.')[0] in %r])"
    heavy = {"websockets", "starlette", "uvicorn", "httpx2", "sqlite3", "jsonschema_rs", "ssl"}
    bare = {name: value for name, value in os.environ.items() if not name.startswith("COV")}  # coverage loads sqlite3
    shown = subprocess.run([sys.executable, "-c", code % heavy], env=bare, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
