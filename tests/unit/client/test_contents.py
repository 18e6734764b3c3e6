"""Files go and come in pieces through both doors, and reading goes on where a connection has broken off."""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from toolwire.client import ApiError, AsyncClient, Client
from toolwire.client.contents import PIECE_BYTES

URL = "http://host.test"
CONTENT = b"0123456789"
FILE = {
    "file_id": "file_1",
    "filename": "a",
    "content_type": "text/plain",
    "size": len(CONTENT),
    "created_at": "",
    "expires_at": "",
    "download_url": f"{URL}/api/v1/files/file_1/content?signature=s",
    "download_expires_in": 1,
}
ANNOUNCED = {
    **{name: FILE[name] for name in ("file_id", "filename", "content_type", "download_url", "download_expires_in")},
    "upload_url": f"{URL}/api/v1/files/file_1/content?signature=s",
    "upload_expires_in": 1,
    "max_bytes": 1,
}
DOORS = ["Client", "AsyncClient"]


class Broken(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """Gives some bytes and breaks off."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __iter__(self) -> Iterator[bytes]:
        yield self.content
        raise httpx2.ReadError("reset")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self.content
        raise httpx2.ReadError("reset")


class Host:
    """Has one file; the first reads of its content break off after as many bytes as `breaks` says."""

    def __init__(self, *breaks: int, honest: bool = True) -> None:
        self.breaks = list(breaks)
        self.honest = honest
        self.ranges: list[str | None] = []
        self.uploaded: httpx2.Request | None = None

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "POST":
            return httpx2.Response(200, json={"data": ANNOUNCED})
        if request.method == "PUT":
            self.uploaded = request
            return httpx2.Response(200, json={"data": FILE})
        if not request.url.path.endswith("/content"):
            return httpx2.Response(200, json={"data": FILE})
        asked = request.headers.get("range")
        self.ranges.append(asked)
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked and self.honest else 0
        status = 206 if start else 200
        if self.breaks:
            return httpx2.Response(status, stream=Broken(CONTENT[start : start + self.breaks.pop(0)]))
        return httpx2.Response(status, content=CONTENT[start:])


async def read(door: str, host: Host, **more: Any) -> bytes:
    transport = httpx2.MockTransport(host)
    if door == "Client":
        with Client(URL, "oag_1", transport=transport, tries=2) as client:
            return b"".join(client.files.stream("file_1", **more))
    async with AsyncClient(URL, "oag_1", transport=transport, tries=2) as client:
        return b"".join([piece async for piece in client.files.stream("file_1", **more)])


async def sent(door: str, content: Any) -> httpx2.Request:
    host = Host()
    transport = httpx2.MockTransport(host)
    if door == "Client":
        with Client(URL, "oag_1", transport=transport) as client:
            client.files.upload("a", "text/plain", content)
    else:
        async with AsyncClient(URL, "oag_1", transport=transport) as client:
            await client.files.upload("a", "text/plain", content)
    assert host.uploaded is not None
    return host.uploaded


@pytest.mark.parametrize("door", DOORS)
async def test_a_file_that_breaks_off_is_read_on_from_there(door: str):
    host = Host(4, 3)
    assert await read(door, host) == CONTENT
    assert host.ranges == [None, "bytes=4-", "bytes=7-"]


@pytest.mark.parametrize("door", DOORS)
async def test_a_file_is_read_from_a_byte_on(door: str):
    assert await read(door, Host(), start=6) == b"6789"
    assert await read(door, Host(), start=len(CONTENT)) == b""


@pytest.mark.parametrize("door", DOORS)
async def test_a_file_that_breaks_off_time_and_again_is_given_up(door: str):
    with pytest.raises(ApiError, match="broke off") as raised:
        await read(door, Host(0, 0, 0))
    assert raised.value.code == "no_answer"


@pytest.mark.parametrize("door", DOORS)
async def test_a_host_that_knows_no_ranges_does_not_give_the_beginning_twice(door: str):
    with pytest.raises(ApiError) as raised:
        await read(door, Host(4, honest=False))
    assert raised.value.code == "no_toolwire"


@pytest.mark.parametrize("door", DOORS)
async def test_a_file_of_this_machine_goes_in_pieces_with_its_size(door: str, tmp_path: Path):
    content = b"x" * (PIECE_BYTES + 1)
    (tmp_path / "a").write_bytes(content)
    request = await sent(door, tmp_path / "a")
    assert request.content == content
    assert request.headers["content-length"] == str(len(content))
    assert request.headers["content-type"] == "text/plain"
    with pytest.raises(FileNotFoundError):
        await sent(door, tmp_path / "b")


@pytest.mark.parametrize("door", DOORS)
async def test_pieces_go_as_they_come(door: str):
    def pieces() -> Generator[bytes]:
        yield b"0"
        yield b"1"

    request = await sent(door, pieces())
    assert request.content == b"01"
    assert request.headers["transfer-encoding"] == "chunked"


async def test_pieces_that_come_asynchronously_go_with_an_async_client_alone():
    async def pieces() -> AsyncGenerator[bytes]:
        yield b"0"
        yield b"1"

    assert (await sent("AsyncClient", pieces())).content == b"01"
    with pytest.raises(TypeError, match="AsyncClient"):
        await sent("Client", pieces())
