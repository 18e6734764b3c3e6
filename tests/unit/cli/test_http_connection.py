"""Clients that send no end, do not come on, or do not read: each costs its own connection and nobody else's."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from anyio.abc import SocketStream
from anyio.lowlevel import checkpoint

from toolwire.cli.http_connection import OVERHEAD_BYTES, Patience
from toolwire.cli.listening import bind, serving, url_of

HASTY = Patience(idle_s=0.05, coming_s=0.05, min_bytes_per_s=1e9, stuck_s=0.05, look_every_s=0.02)
HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\n"


class Site:
    """A server that answers a POST with what was posted, and a GET with much of an answer that does not end."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.gone = anyio.Event()

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        body = b""
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.gone.set()
                return
            body += message["body"]
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["method"] == "POST":
            await send({"type": "http.response.body", "body": body})
            return
        await send({"type": "http.response.body", "body": b"x" * 20_000_000, "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        self.gone.set()

    async def connect(self) -> SocketStream:
        return await anyio.connect_tcp("127.0.0.1", self.port)


@asynccontextmanager
async def open_site(patience: Patience) -> AsyncGenerator[Site]:
    bound = bind("127.0.0.1", 0)
    site = Site(int(url_of(bound).rpartition(":")[2]))
    with anyio.fail_after(10):
        async with serving(site.app, bound, patience):
            yield site


async def rest_of(stream: SocketStream) -> bytes:
    """All that still comes until the other side closes."""
    said = b""
    try:
        while True:
            said += await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return said


async def send_without_end(stream: SocketStream, part: bytes, least_bytes: int) -> None:
    """Send `part` again and again until the other side has had enough, which must be after `least_bytes`."""
    sent = 0
    try:
        while True:
            await stream.send(part)
            sent += len(part)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        assert sent >= least_bytes


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (HEAD + b"X-Large: ", b"a" * 4096),
        (HEAD, b"X-More: header\r\n" * 256),
        (b"POST /", b"a" * 4096),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1;ext=" + b"e" * 4096 + b"\r\na\r\n"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X-Trailer: " + b"t" * 4096 + b"\r\n"),
    ],
)
async def test_what_is_not_body_has_an_end(begin: bytes, part: bytes):
    async with open_site(Patience()) as site:
        async with await site.connect() as stream, anyio.create_task_group() as tasks:
            await stream.send(begin)
            tasks.start_soon(send_without_end, stream, part, OVERHEAD_BYTES)
            await rest_of(stream)
        async with await site.connect() as stream:
            await stream.send(HEAD + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi")
            assert (await rest_of(stream)).startswith(b"HTTP/1.1 200 OK")


async def test_a_large_head_that_ends_soon_after_the_limit_is_told_so():
    async with open_site(Patience()) as site, await site.connect() as stream:
        for _ in range(3):
            await stream.send(HEAD + b"X-Large: " + b"a" * OVERHEAD_BYTES)
        assert (await rest_of(stream)).startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")


@pytest.mark.parametrize("size", [1, 4096])
async def test_a_body_may_come_in_chunks_of_any_size(size: int):
    """As long as they are chunks, and not frames around nothing."""
    body = b"b" * 40_000
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    async with open_site(Patience()) as site, await site.connect() as stream:
        await stream.send(HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        for chunk in chunks[:10_000]:
            await stream.send(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        await stream.send(b"0\r\n\r\n")
        assert (await rest_of(stream)).count(b"b") >= min(len(body), 10_000 * size)


@pytest.mark.parametrize("begun", [b"P", HEAD, HEAD + b"Content-Length: 500\r\n\r\n{"])
async def test_a_request_that_does_not_come_on_is_given_up(begun: bytes):
    async with open_site(HASTY) as site, await site.connect() as stream:
        await stream.send(begun)
        assert (await rest_of(stream)).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        if b"{" in begun:
            await site.gone.wait()


async def test_a_second_request_that_does_not_come_on_is_given_up_too():
    async with open_site(HASTY) as site, await site.connect() as stream:
        await stream.send(HEAD + b"Content-Length: 2\r\n\r\nhi" + b"POST /")
        answers = await rest_of(stream)
        assert answers.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"HTTP/1.1 408 Request Timeout\r\n" in answers


async def test_a_connection_on_which_nothing_is_asked_is_closed():
    async with open_site(HASTY) as site, await site.connect() as stream:
        assert await rest_of(stream) == b""


async def test_a_client_that_does_not_read_is_given_up():
    async with open_site(HASTY) as site, await site.connect() as stream:
        stream.extra(anyio.abc.SocketAttribute.raw_socket).setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        await stream.send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await site.gone.wait()


async def test_a_patient_server_waits():
    request = HEAD + b"Content-Length: 2\r\nConnection: close\r\n\r\nhi"
    async with open_site(Patience(look_every_s=0)) as site, await site.connect() as stream:
        for at in range(0, len(request), 10):
            await stream.send(request[at : at + 10])
            for _ in range(5):  # it looks each time the loop turns
                await checkpoint()
        assert (await rest_of(stream)).endswith(b"2\r\nhi\r\n0\r\n\r\n")
