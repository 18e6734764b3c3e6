"""One answer on its way out, against servers and clients that misbehave (gateway.md D20; mcp.md S14, S16).

What a well-behaved client sees is told in tests/interaction/test_streams.py.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from toolwire.engine.deadline import Timekeeper
from toolwire.surfaces.exchange import BUFFERED_BYTES, BUFFERED_FRAMES, PIECE_BYTES, Exchange, send_plain

pytestmark = pytest.mark.both_backends


class Sent:
    """What was handed to the server; from its `fails_at`th message on it raises."""

    def __init__(self, error: Exception | None = None, fails_at: int = 0) -> None:
        self.messages: list[Any] = []
        self.open = anyio.Event()
        self.open.set()
        self._error = error
        self._fails_at = fails_at

    async def __call__(self, message: Any) -> None:
        await self.open.wait()
        if self._error is not None and len(self.messages) >= self._fails_at:
            raise self._error
        self.messages.append(message)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)


class Connection:
    """Has a transport, as the owner of uvicorn's `send` has; its client reads nothing."""

    def __init__(self) -> None:
        self.transport = self
        self.given_up = 0

    async def send(self, message: Any) -> None:
        await anyio.sleep_forever()

    def abort(self) -> None:
        self.given_up += 1


@asynccontextmanager
async def exchange_on(sent: Any, streams: bool = True, write_timeout_s: float = 5) -> AsyncGenerator[Exchange]:
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            yield Exchange(sent, tasks, streams, write_timeout_s=write_timeout_s)


async def test_a_plain_answer_says_how_long_it_is_and_that_it_is_json():
    sent = Sent()
    await send_plain(sent, 404, b"{}", ((b"x", b"y"),))
    start, body = sent.messages
    assert (start["status"], body["body"]) == (404, b"{}")
    assert dict(start["headers"]) == {b"content-length": b"2", b"content-type": b"application/json", b"x": b"y"}


@pytest.mark.parametrize(("status", "length"), [(202, {b"content-length": b"0"}), (204, {})])
async def test_an_answer_without_a_body_names_no_type(status: int, length: dict[bytes, bytes]):
    sent = Sent()
    await send_plain(sent, status, None)
    assert dict(sent.messages[0]["headers"]) == length


@pytest.mark.parametrize("fails_at", [0, 1])
async def test_a_client_that_is_gone_is_no_error(fails_at: int):
    await send_plain(Sent(OSError("gone"), fails_at), 200, b"{}")


@pytest.mark.parametrize("fails_at", [0, 1, 2])
async def test_a_stream_whose_client_is_gone_ends_without_a_word(fails_at: int, caplog: pytest.LogCaptureFixture):
    sent = Sent(OSError("gone"), fails_at)
    async with exchange_on(sent) as exchange:
        exchange.notify(b"1")
        await anyio.wait_all_tasks_blocked()
        exchange.notify(b"2")
        await exchange.finish(200, b"3")
    assert caplog.text == ""


async def test_a_stream_that_cannot_be_sent_ends_alone_and_is_logged(caplog: pytest.LogCaptureFixture):
    async with exchange_on(Sent(RuntimeError("what the server says"), 1)) as broken:
        broken.notify(b"1")
        await broken.finish(200, b"2")
    assert "what the server says" in caplog.text


async def test_notifications_that_wait_too_long_give_way_to_later_ones_and_the_result_does_not():
    sent = Sent()
    sent.open = anyio.Event()
    async with exchange_on(sent) as exchange:
        for number in range(3 * BUFFERED_FRAMES):
            exchange.notify(b"%d" % number)
        sent.open.set()
        await exchange.finish(200, b"result")
    assert sent.body.count(b"data: ") == BUFFERED_FRAMES
    assert sent.body.endswith(b"data: result\n\n")
    assert b"data: 0\n" not in sent.body
    assert b"data: %d\n" % (3 * BUFFERED_FRAMES - 1) in sent.body


async def test_after_the_end_nothing_more_is_sent():
    sent = Sent()
    timekeeper = Timekeeper()
    async with exchange_on(sent) as exchange:
        exchange.notify(b"1")
        await exchange.finish(200, b"2")
        exchange.notify(b"3")
        exchange.keep_alive(timekeeper, 0.0)
    assert sent.body == b"event: message\ndata: 1\n\nevent: message\ndata: 2\n\n"
    assert sent.messages[-1] == {"type": "http.response.body", "body": b""}


async def test_a_client_without_streams_hears_nothing_ahead_of_the_result():
    sent = Sent()
    async with exchange_on(sent, streams=False) as exchange:
        exchange.notify(b"1")
        exchange.keep_alive(Timekeeper(), 0.0)
        await exchange.finish(200, b"2")
    assert sent.body == b"2"


async def test_no_stream_begins_when_the_server_stops():
    sent = Sent()
    tasks = anyio.create_task_group()
    exchange = Exchange(sent, tasks, streams=True)
    async with tasks:
        tasks.cancel_scope.cancel()
        exchange.notify(b"1")
    exchange.open_stream()
    await exchange.finish(200, b"2")
    assert sent.body == b"2"


async def test_a_stream_that_the_server_cuts_holds_nobody_up():
    sent = Sent()
    tasks = anyio.create_task_group()
    exchange = Exchange(sent, tasks, streams=True)
    with anyio.fail_after(5):
        async with tasks:
            exchange.notify(b"1")
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        await exchange.finish(200, b"2")
    assert sent.body == b"event: message\ndata: 1\n\n"


async def test_what_is_owed_does_not_give_way():
    sent = Sent()
    sent.open = anyio.Event()
    async with exchange_on(sent) as exchange:
        exchange.push(b"owed\n\n", owed=True)
        for number in range(2 * BUFFERED_FRAMES):
            exchange.notify(b"%d" % number)
        sent.open.set()
        await exchange.finish(200, b"result")
    assert sent.body.startswith(b"owed\n\n")
    assert sent.body.count(b"data: ") == BUFFERED_FRAMES - 1
    assert sent.body.endswith(b"data: result\n\n")


async def test_large_notifications_give_way_sooner():
    sent = Sent()
    sent.open = anyio.Event()
    async with exchange_on(sent) as exchange:
        for _ in range(20):
            exchange.notify(b"x" * (BUFFERED_BYTES // 8))
        sent.open.set()
        await exchange.finish(200, b"result")
    assert sent.body.count(b"data: x") == 7
    assert sent.body.endswith(b"data: result\n\n")


async def test_a_large_body_goes_out_in_pieces():
    sent = Sent()
    body = bytes(2 * PIECE_BYTES + 1)
    await send_plain(sent, 200, body)
    assert sent.body == body
    assert [message.get("more_body", False) for message in sent.messages] == [False, True, True, False]


async def test_a_client_that_reads_no_stream_is_given_up():
    connection, ends = Connection(), list[bool]()
    async with exchange_on(connection.send, write_timeout_s=0.01) as exchange:
        exchange.on_end = ends.append
        exchange.notify(b"1")
        await exchange.finish(200, b"2")
        exchange.notify(b"3")
    assert (connection.given_up, ends) == (1, [True])


async def test_a_client_that_reads_no_json_is_given_up():
    connection = Connection()
    await send_plain(connection.send, 200, b"{}", write_timeout_s=0.01)
    assert connection.given_up == 1


async def test_where_a_connection_cannot_be_given_up_sending_ends_all_the_same():
    sent = Sent()
    sent.open = anyio.Event()
    async with exchange_on(sent, write_timeout_s=0.01) as exchange:
        exchange.notify(b"1")
        await exchange.finish(200, b"2")
    assert sent.messages == []


async def test_a_stream_can_end_before_its_answer():
    sent = Sent()
    async with exchange_on(sent) as exchange:
        exchange.notify(b"1")
        exchange.end()
        exchange.notify(b"2")
        await exchange.finish(200, b"3")
        await exchange.ended()
    assert sent.body == b"event: message\ndata: 1\n\n"
