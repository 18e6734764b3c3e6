"""Bytes on a connection as they come, HTTP or not: what comes back is well-formed answers, no more than requests.

It holds what is promised of bodies in targets.py, and looks at heads and at where answers begin and end.
"""

import re
from contextlib import suppress

import anyio

from tests.fuzz.site import PATIENCE_S, Site

STATUS = re.compile(rb"HTTP/1\.1 (\d{3})[^\r\n]*\r\n")
LENGTH = re.compile(rb"\r\ncontent-length: (\d+)\r\n", re.IGNORECASE)
MOMENT_S = 0.005
"""How long a server that says nothing is listened to before the input ends."""


def connection(site: Site, data: bytes) -> None:
    """All that one client sends on a connection, which then ends; `$SESSION` stands for the id of a session."""
    said: bytes = site.run(_talk, site.port, data.replace(b"$SESSION", site.session.encode()))
    statuses = answers_in(said)
    assert all(status < 500 or status == 501 for status in statuses), said
    assert len(statuses) <= data.count(b"HTTP/") + 1, said  # one more tells that what came is no HTTP
    assert site.mistakes.found == []


async def _talk(port: int, data: bytes) -> bytes:
    said = b""
    with anyio.fail_after(PATIENCE_S):
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            with suppress(anyio.BrokenResourceError):  # what is no HTTP is not read to its end
                middle = len(data) // 2
                await stream.send(data[:middle])
                await anyio.lowlevel.checkpoint()
                await stream.send(data[middle:])
                with anyio.move_on_after(MOMENT_S):
                    said += await stream.receive()
                await stream.send_eof()
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    said += await stream.receive()
    return said


def answers_in(said: bytes) -> list[int]:
    """The statuses of the answers, each of which must end where its head says; the last may be cut."""
    statuses: list[int] = []
    at = 0
    while at < len(said):
        found = STATUS.match(said, at)
        assert found is not None, f"no answer begins at {at}: {said!r}"
        status = int(found[1])
        end = said.find(b"\r\n\r\n", at)
        if status >= 200:
            statuses.append(status)
        if end < 0:
            break
        head = said[at : end + 2]
        at = _end_of(said, end + 4, head, status)
    return statuses


def _end_of(said: bytes, at: int, head: bytes, status: int) -> int:
    length = LENGTH.search(head)
    if length is not None:
        return at + int(length[1])
    if b"transfer-encoding: chunked" not in head.lower():
        assert status in (100, 101, 204, 400) or at == len(said), said
        return len(said) if status == 400 else at
    while True:
        line = said.find(b"\r\n", at)
        if line < 0:
            return len(said)
        size = int(said[at:line], 16)
        at = line + 2 + size + 2
        if size == 0 or at >= len(said):
            return at
