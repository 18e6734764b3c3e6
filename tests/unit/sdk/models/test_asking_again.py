"""What a provider does about errors: asks again or says so, within its time, and tells no secret.

One provider stands for all: what is tested here is the same code for each, and the wires have their own tests.
"""

import json
import logging
import socket
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import pytest
from starlette.responses import Response, StreamingResponse

from tests.unit.sdk.models.requests import ONCE, ask, picture, user
from tests.unit.sdk.models.server import Asked, Gate, Reply, events, serving, whole
from toolwire.sdk.content import ContentRef, MemoryContentStore
from toolwire.sdk.errors import ProviderError
from toolwire.sdk.messages import Delta, TextBlock, TextDelta
from toolwire.sdk.models import AnthropicProvider, OpenAIProvider, Retries
from toolwire.sdk.models.hosted import HostedModel
from toolwire.sdk.models.retry import retry_after_s

KEY = "sk-proj-verysecret123"


@dataclass
class Waits:
    """Instead of a clock: what was waited for, without waiting."""

    seconds: list[float] = field(default_factory=list[float])

    async def sleep(self, seconds: float) -> None:
        self.seconds.append(seconds)


def openai(url: str, retries: Retries, **options: Any) -> OpenAIProvider:
    return OpenAIProvider(KEY, base_url=url, retries=retries, **options)


def ok() -> Reply:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
    return whole({"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]})


def failing(status: int, message: str = "sorry", headers: dict[str, str] | None = None, **error: Any) -> Reply:
    return whole({"error": {"message": message, **error}}, status, headers)


def chunk(text: str) -> dict[str, Any]:
    return {"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": text}}]}


async def outcome(*replies: Reply, retries: Retries) -> tuple[Any, int]:
    """The answer or the error of one request, and how often the server was asked."""
    with serving(*replies) as server:
        model = openai(server.url, retries)
        try:
            with anyio.fail_after(5):
                return await model.complete(ask("hi")), len(server.asked)
        except ProviderError as error:
            return error, len(server.asked)
        finally:
            await model.aclose()


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
async def test_an_error_that_may_pass_is_waited_out(status: int):
    waits = Waits()

    answer, asked = await outcome(failing(status), failing(status), ok(), retries=Retries(sleep=waits.sleep))

    assert answer.content == [TextBlock("ok")]
    assert asked == 3
    assert 0.25 <= waits.seconds[0] <= 0.5 <= waits.seconds[1] <= 1.0


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
async def test_an_error_that_stays_is_told_at_once(status: int):
    error, asked = await outcome(failing(status), ok(), retries=Retries(sleep=Waits().sleep))

    assert (error.status, error.retryable, error.attempts, asked) == (status, False, 1, 1)


async def test_after_the_last_try_the_error_says_that_it_may_pass_and_how_often_it_was_tried():
    error, asked = await outcome(failing(503), retries=Retries(limit=2, sleep=Waits().sleep))

    assert (error.status, error.retryable, error.attempts, asked) == (503, True, 3, 3)


async def test_a_used_up_quota_is_not_waited_for():
    error, asked = await outcome(failing(429, code="insufficient_quota"), ok(), retries=Retries(sleep=Waits().sleep))

    assert (error.retryable, asked) == (False, 1)


@pytest.mark.parametrize(("status", "said", "expected"), [(400, "true", 2), (503, "false", 1)])
async def test_a_server_that_says_whether_to_ask_again_is_believed(status: int, said: str, expected: int):
    reply = failing(status, headers={"x-should-retry": said})

    assert (await outcome(reply, ok(), retries=Retries(sleep=Waits().sleep)))[1] == expected


@pytest.mark.parametrize(("header", "value"), [("retry-after", "7"), ("retry-after-ms", "7000")])
async def test_the_wait_that_a_server_asks_for_is_the_least(header: str, value: str):
    waits = Waits()

    answer, _ = await outcome(failing(429, headers={header: value}), ok(), retries=Retries(sleep=waits.sleep))

    assert answer.content == [TextBlock("ok")]
    assert 7 <= waits.seconds[0] <= 8


async def test_a_longer_wait_than_allowed_is_told_instead():
    waits, reply = Waits(), failing(429, headers={"retry-after": "3600"})

    error, asked = await outcome(reply, ok(), retries=Retries(max_retry_after_s=60, sleep=waits.sleep))

    assert (error.retryable, error.retry_after_s, asked, waits.seconds) == (True, 3600, 1, [])


def test_a_date_to_come_back_at_is_understood_and_nonsense_is_not():
    now = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    date = format_datetime(now + timedelta(seconds=90), usegmt=True)

    assert retry_after_s({"retry-after": date}, now.timestamp()) == 90
    assert retry_after_s({"retry-after": date}, now.timestamp() + 1000) == 0
    assert retry_after_s({}, 0) is None
    assert retry_after_s({"retry-after": "soon"}, 0) is None
    assert retry_after_s({"retry-after": "-3"}, 0) is None
    assert retry_after_s({"retry-after": "inf"}, 0) is None


def test_delays_double_up_to_the_longest_and_are_spread():
    retries = Retries(first_delay_s=1, max_delay_s=10)

    for tries, full in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (5000, 10)):
        delays = {retries.delay_s(tries) for _ in range(20)}
        assert all(full / 2 <= delay <= full for delay in delays)
        assert len(delays) > 1
    with pytest.raises(ValueError, match="limit"):
        Retries(limit=-1)


async def test_a_lost_connection_is_asked_again_on_a_new_one():
    def broken(_: Asked) -> Response:
        async def body() -> AsyncGenerator[bytes]:
            yield b'{"choices": ['
            raise ConnectionError("gone")

        return StreamingResponse(body(), media_type="application/json", headers={"content-length": "1000"})

    logging.getLogger("uvicorn.error").disabled = True  # the server of this test fails on purpose
    try:
        answer, asked = await outcome(broken, ok(), retries=Retries(sleep=Waits().sleep))
    finally:
        logging.getLogger("uvicorn.error").disabled = False

    assert (answer.content, asked) == ([TextBlock("ok")], 2)


async def test_a_server_that_is_not_there_is_an_error_that_may_pass():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        unused_port = free.getsockname()[1]
    model = openai(f"http://127.0.0.1:{unused_port}", ONCE)

    with anyio.fail_after(5), pytest.raises(ProviderError, match=r"openai at 127\.0\.0\.1: no connection") as caught:
        await model.complete(ask("hi"))

    assert caught.value.retryable
    await model.aclose()


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_server_that_says_nothing_is_given_up(streaming: bool):
    gate = Gate()

    def silent(_: Asked) -> Response:
        async def body() -> AsyncGenerator[bytes]:
            if not streaming:
                await gate.wait()
            for _ in range(1000):
                if gate.is_open:
                    return
                yield b": nothing but comments\n\n"
                await anyio.sleep(0.01)  # the pace of the server; nothing waits for it

        return StreamingResponse(body(), media_type="text/event-stream")

    with serving(silent) as server:
        model = openai(server.url, ONCE, timeout_s=0.1)
        request = model.stream(ask("hi"), lambda _: None) if streaming else model.complete(ask("hi"))
        with anyio.fail_after(5), pytest.raises(ProviderError, match="no answer in time") as caught:
            await request
        gate.open()
        await model.aclose()

    assert caught.value.retryable


async def test_parts_that_were_told_are_not_told_twice():
    told: list[Delta] = []

    with serving(events([chunk("It is")]), ok()) as server:
        model = openai(server.url, Retries(sleep=Waits().sleep))
        with anyio.fail_after(5), pytest.raises(ProviderError) as caught:
            await model.stream(ask("hi"), told.append)
        await model.aclose()

    assert told == [TextDelta("It is")]
    assert (caught.value.retryable, caught.value.attempts, len(server.asked)) == (True, 1, 1)


async def test_what_a_listener_raises_is_its_own_and_ends_the_request():
    def listen(_: Delta) -> None:
        raise ValueError("the listener broke")

    with serving(events([chunk("It is")])) as server:
        model = openai(server.url, Retries(sleep=Waits().sleep))
        with anyio.fail_after(5), pytest.raises(ValueError, match="the listener broke"):
            await model.stream(ask("hi"), listen)
        await model.aclose()

    assert len(server.asked) == 1


async def test_pictures_are_made_ready_off_the_event_loop():
    threads: list[int] = []
    store = MemoryContentStore()

    def load(ref: ContentRef) -> bytes:
        threads.append(threading.get_ident())
        return store.get(ref)

    with serving(ok()) as server:
        model = openai(server.url, ONCE)
        await model.complete(ask(user(picture(store)), load=load))
        await model.aclose()

    assert len(threads) == 1
    assert threads != [threading.get_ident()]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_provider_works_on_every_event_loop_that_anyio_knows(backend: str):
    with serving(ok()) as server:
        model = openai(server.url, ONCE)

        async def use() -> Any:
            with anyio.fail_after(5):
                answer = await model.complete(ask("hi"))
            await model.aclose()
            return answer

        assert anyio.run(use, backend=backend).content == [TextBlock("ok")]


async def test_an_answer_that_is_there_counts_even_if_its_stream_never_ends():
    gate = Gate()
    end: dict[str, Any] = {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

    def endless(_: Asked) -> Response:
        async def body() -> AsyncGenerator[bytes]:
            for part in (chunk("ok"), end):
                yield f"data: {json.dumps(part)}\n\n".encode()
            await gate.wait()

        return StreamingResponse(body(), media_type="text/event-stream")

    with serving(endless) as server:
        model = openai(server.url, ONCE, timeout_s=0.2)
        with anyio.fail_after(5):
            response = await model.stream(ask("hi"), lambda _: None)
        gate.open()
        await model.aclose()

    assert response.content == [TextBlock("ok")]


async def test_a_cancelled_request_ends_at_once_and_the_provider_goes_on():
    gate = Gate()

    def slow(_: Asked) -> Response:
        async def body() -> AsyncGenerator[bytes]:
            await gate.wait()
            yield b""

        return StreamingResponse(body())

    with serving(slow, ok()) as server:
        model = openai(server.url, ONCE)
        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(model.complete, ask("hi"))
                await gate.reached()
                group.cancel_scope.cancel()
            gate.open()
            response = await model.complete(ask("hi"))
        await model.aclose()

    assert response.content == [TextBlock("ok")]


@pytest.mark.parametrize("make", [OpenAIProvider, AnthropicProvider])
@pytest.mark.parametrize("where", ["body", "message", "page"])
async def test_no_key_gets_into_an_error_or_the_log(
    make: Callable[..., HostedModel], where: str, caplog: pytest.LogCaptureFixture
):
    replies: dict[str, Reply] = {
        "body": failing(401, f"Incorrect API key provided: {KEY}."),
        "message": failing(500, "Bearer abc.def was refused, and so was sk-pro********t123"),
        "page": lambda _: Response(f"<html>{KEY}</html>", 503),
    }
    caplog.set_level(logging.DEBUG)

    with serving(replies[where]) as server:
        model = make(KEY, base_url=server.url, retries=Retries(limit=1, sleep=Waits().sleep))
        with anyio.fail_after(5), pytest.raises(ProviderError) as caught:
            await model.complete(ask("hi"))
        await model.aclose()

    for text in (str(caught.value), repr(model), caplog.text):
        assert KEY not in text
        assert "t123" not in text
        assert "abc.def" not in text
    assert caught.value.__cause__ is None


async def test_an_error_says_who_what_and_which_request():
    error, _ = await outcome(
        failing(404, "no such model", headers={"x-request-id": "req_7"}, type="not_found"), retries=ONCE
    )

    expected = "openai at 127.0.0.1: HTTP 404 not_found: no such model (request req_7); check the name of the model"
    assert str(error).startswith(expected)


async def test_a_long_message_is_cut():
    error, _ = await outcome(failing(400, "x" * 5000), retries=ONCE)

    assert len(str(error)) < 700
