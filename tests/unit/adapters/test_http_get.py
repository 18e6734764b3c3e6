"""Documents that strangers name: what may be asked for, and what counts as an answer (gateway.md D23, D26)."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from toolwire.adapters.http_get import HttpDocuments
from toolwire.core.errors import ServiceUnavailable

pytestmark = pytest.mark.anyio

LOCAL = ("127.0.0.0/8",)
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + 2 * (b"40\r\n" + 64 * b"x" + b"\r\n") + b"0\r\n\r\n"
)


@asynccontextmanager
async def listening(answer: bytes) -> AsyncGenerator[tuple[str, list[bytes]]]:
    """A server on this machine that gives one answer; its URL, and the heads of what it was asked."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)
    heads: list[bytes] = []

    async def handle(stream: SocketStream) -> None:
        async with stream:
            heads.append(await stream.receive())
            if answer:
                await stream.send(answer)
            else:
                await anyio.sleep_forever()

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, handle)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/client.json", heads
        tasks.cancel_scope.cancel()


def whole(body: bytes, head: bytes = b"") -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n%s\r\n%s" % (len(body), head, body)


async def test_a_document_is_fetched_without_what_would_tell_of_us():
    async with listening(whole(b'{"a":1}')) as (url, heads):
        assert await HttpDocuments(5.0, LOCAL)(url, 100) == b'{"a":1}'
    head = heads[0].lower()
    assert head.startswith(b"get /client.json http/1.1\r\n")
    assert b"cookie" not in head
    assert b"authorization" not in head
    assert b"accept-encoding: identity" in head


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n", "HTTP 302"),
        (b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n", "HTTP 404"),
        (b"HTTP/1.1 206 Partial\r\ncontent-length: 0\r\n\r\n", "HTTP 206"),
        (whole(b"x" * 101), "larger than 100 bytes"),
        (CHUNKED, "larger than 100 bytes"),
        (whole(b"\x1f\x8b", b"content-encoding: gzip\r\n"), "compressed"),
        (b"nonsense\r\n\r\n", "no answer"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx", "no answer"),
    ],
)
async def test_anything_else_is_no_document(answer: bytes, why: str):
    async with listening(answer) as (url, _):
        with pytest.raises(ServiceUnavailable, match=why):
            await HttpDocuments(5.0, LOCAL)(url, 100)


async def test_a_server_that_does_not_answer_is_given_up():
    async with listening(b"") as (url, _):
        with pytest.raises(ServiceUnavailable, match=r"within 0\.05 s"):
            await HttpDocuments(0.05, LOCAL)(url, 100)


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/c.json",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::ffff:10.0.0.1]/c.json",
        "https://localhost/c.json",
        "http://93.184.215.14/c.json",
        "https://93.184.215.14:22/c.json",
        "file:///etc/passwd",
    ],
)
async def test_addresses_inside_a_network_are_not_asked(url: str):
    with pytest.raises(ServiceUnavailable):
        await HttpDocuments(1.0)(url, 100)
