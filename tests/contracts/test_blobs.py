"""The contract of the `Blobs` port (core/ports.py): every store of blobs passes all of it, on asyncio and on trio."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from toolwire.core.errors import BlobNotFound
from toolwire.core.ports import Blobs

pytestmark = pytest.mark.both_backends

MAX_PIECE_BYTES = 256 * 1024


async def pieces(blobs: Blobs, key: str) -> list[bytes]:
    return [piece async for piece in blobs.open(key)]


async def content(blobs: Blobs, key: str) -> bytes:
    return b"".join(await pieces(blobs, key))


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("size", [0, 1, MAX_PIECE_BYTES, MAX_PIECE_BYTES + 1, 3_000_000])
async def test_content_is_read_back_in_pieces_of_bounded_size(blobs: Blobs, size: int):
    data = bytes(n % 251 for n in range(size))
    await blobs.put("results/call_1", data)

    found = await pieces(blobs, "results/call_1")
    assert b"".join(found) == data
    assert all(0 < len(piece) <= MAX_PIECE_BYTES for piece in found)


async def test_the_same_key_again_replaces_the_content(blobs: Blobs):
    await blobs.put("a", b"a long first content")
    await blobs.put("a", b"second")
    await blobs.put("b", b"other")

    assert await content(blobs, "a") == b"second"


async def test_what_comes_in_pieces_is_stored_as_one(blobs: Blobs):
    async def pieces_of() -> AsyncGenerator[bytes]:
        for n in range(300):
            yield b"%03d" % n * 5_000

    await blobs.write("files/blob_1", pieces_of())
    assert await content(blobs, "files/blob_1") == b"".join(b"%03d" % n * 5_000 for n in range(300))

    async def nothing() -> AsyncGenerator[bytes]:
        for piece in ():
            yield piece

    await blobs.write("files/blob_2", nothing())
    assert await content(blobs, "files/blob_2") == b""


async def test_what_breaks_off_on_its_way_in_leaves_no_trace(blobs: Blobs, tmp_path: Path):
    async def broken() -> AsyncGenerator[bytes]:
        yield b"x" * 3_000_000
        raise ConnectionError("the client went away")

    await blobs.put("files/kept", b"before")
    for key in ("files/blob_1", "files/kept"):
        with pytest.raises(ConnectionError):
            await blobs.write(key, broken())

    with pytest.raises(BlobNotFound):
        await content(blobs, "files/blob_1")
    assert await content(blobs, "files/kept") == b"before"
    assert files_in(tmp_path) in ([], ["kept"])


async def test_a_part_of_the_content_can_be_read(blobs: Blobs):
    data = bytes(n % 251 for n in range(1_000_000))
    await blobs.put("a", data)
    for start, end in ((0, 1), (5, 10), (999_999, 1_000_000), (300_000, 900_000), (700_000, None)):
        found = b"".join([piece async for piece in blobs.open("a", start, end)])
        assert found == data[start:end], (start, end)


async def test_a_reader_keeps_the_content_it_began_with(blobs: Blobs):
    await blobs.put("a", b"x" * 1_000_000)
    found = b""
    async for piece in blobs.open("a"):
        if not found:
            await blobs.put("a", b"y" * 1_000_000)
        found += piece

    assert found == b"x" * 1_000_000
    assert await content(blobs, "a") == b"y" * 1_000_000


async def test_what_is_not_there_is_told_at_the_first_step(blobs: Blobs):
    await blobs.put("results/call_1", b"")

    for key in ("call_1", "results", "results/call_2", "results/call_1.new"):
        reader = blobs.open(key)
        with pytest.raises(BlobNotFound, match=f"nothing is stored under '{key}'"):
            await anext(reader)


async def test_removed_content_is_gone_and_removing_it_again_is_fine(blobs: Blobs):
    await blobs.put("results/a", b"1")
    await blobs.put("results/b", b"2")
    await blobs.delete("results/a")
    await blobs.delete("results/a")
    await blobs.delete("never/was")

    with pytest.raises(BlobNotFound):
        await content(blobs, "results/a")
    assert await content(blobs, "results/b") == b"2"


async def test_writers_of_one_key_leave_the_content_of_one_of_them(blobs: Blobs):
    async with anyio.create_task_group() as tasks:
        for n in range(10):
            tasks.start_soon(blobs.put, "a", b"%d" % n * 100_000)

    found = await content(blobs, "a")
    assert len(found) == 100_000
    assert len(set(found)) == 1


ODD_KEYS = [
    "",
    ".",
    "..",
    "../up",
    "a/../b",
    "a/./b",
    "/etc/passwd",
    "a//b",
    "a/",
    ".hidden",
    "a/.hidden",
    "a\\b",
    "a b",
    "a\x00b",
    "a\nb",
    "a\n",
    "é",
    "a%2e%2e",
    "a#1",
    "c:d",
    "~",
    "x" * 201,
    "x/" * 256 + "x",
]


@pytest.mark.parametrize("key", ODD_KEYS, ids=repr)
async def test_a_key_that_could_be_read_as_a_path_is_refused(blobs: Blobs, key: str):
    with pytest.raises(ValueError, match="is no blob key"):
        await blobs.put(key, b"")
    with pytest.raises(ValueError, match="is no blob key"):
        await content(blobs, key)
    with pytest.raises(ValueError, match="is no blob key"):
        await blobs.delete(key)


@pytest.mark.parametrize("key", ["a", "results/call_0a1b", "A-1/b_2/c.d..e", "x" * 200])
async def test_plain_keys_are_fine(blobs: Blobs, key: str):
    await blobs.put(key, b"data")
    assert await content(blobs, key) == b"data"
