"""Listening on a port, and ending well however the clients behave."""

import logging
import socket
from typing import Any

import anyio
import httpx2
import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.listening import bind, serving, set_up_logging, url_of


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def test_a_port_that_is_taken_is_named_with_what_to_do():
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            Failed, match=rf"cannot listen on 127.0.0.1:{port}: address already in use; choose"
        ) as caught:
            bind("127.0.0.1", port)
    assert caught.value.code == "port_in_use"


def test_a_name_that_is_none_of_this_machine_is_a_misuse():
    with pytest.raises(Failed, match="cannot listen on 'no such host'") as caught:
        bind("no such host", 0)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("host", "reached"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1")])
def test_the_address_is_one_that_this_machine_reaches(host: str, reached: str):
    with bind(host, 0) as bound:
        assert url_of(bound) == f"http://{reached}:{bound.getsockname()[1]}"


class _Six:
    """A bound socket of IPv6, which not every machine has."""

    def __init__(self, host: str) -> None:
        self._host = host

    def getsockname(self) -> tuple[str, int, int, int]:
        return self._host, 8094, 0, 0


@pytest.mark.parametrize("host", ["::1", "::"])
def test_an_ipv6_address_stands_in_brackets(host: str):
    assert url_of(_Six(host)) == "http://[::1]:8094"  # pyright: ignore[reportArgumentType] -- it asks for the name only


async def test_a_server_answers_inside_the_block_and_not_after_it():
    bound = bind("127.0.0.1", 0)
    url = url_of(bound)
    with anyio.fail_after(5):
        async with serving(hello, bound), httpx2.AsyncClient() as client:
            assert (await client.get(url)).text == "hello"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(bound_address(url), timeout=1)


async def test_a_stream_that_never_ends_does_not_hold_the_server():
    """SIGTERM ends it within seconds even with open streams (the command line's contract)."""
    streaming = anyio.Event()

    async def endless(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        streaming.set()
        await anyio.sleep_forever()

    bound = bind("127.0.0.1", 0)
    host, port = bound_address(url_of(bound))
    with anyio.fail_after(10):
        async with serving(endless, bound):
            client = await anyio.connect_tcp(host, port)
            await client.send(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            await streaming.wait()
        await client.aclose()


def test_what_uvicorn_says_of_a_refused_websocket_is_not_logged(monkeypatch: pytest.MonkeyPatch):
    """A wrong key is nothing that whoever runs the server must look at."""
    logger, heard = logging.getLogger("uvicorn.error"), Heard()
    monkeypatch.setattr(logger, "handlers", [heard])
    monkeypatch.setattr(logger, "disabled", False)  # a server of another test may have set up its own logging
    monkeypatch.setattr(logger, "level", logging.WARNING)
    set_up_logging()
    logger.error("ASGI callable returned without completing handshake.")
    logger.error("something else")
    assert heard.messages == ["something else"]


class Heard(logging.Handler):
    """Remembers what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def bound_address(url: str) -> tuple[str, int]:
    parts = httpx2.URL(url)
    assert parts.port is not None
    return parts.host, parts.port
