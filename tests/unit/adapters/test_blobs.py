"""What the files on disk promise beyond the contract of the `Blobs` port."""

import os
import stat
from pathlib import Path

import pytest

from toolwire.adapters.blobs import LocalBlobs
from toolwire.core.errors import StoreUnavailable


def files(directory: Path) -> list[str]:
    return sorted(
        os.path.relpath(os.path.join(where, name), directory)
        for where, _, names in os.walk(directory)
        for name in names
    )


async def test_content_is_a_file_of_its_own_and_nothing_else_stays(tmp_path: Path):
    blobs = await LocalBlobs.open_directory(tmp_path / "data" / "blobs")
    await blobs.put("results/call_1", b"one")
    await blobs.put("results/call_1", b"two")
    await blobs.put("files/a", b"three")

    assert files(tmp_path) == ["data/blobs/files/a", "data/blobs/results/call_1"]
    assert stat.filemode(os.stat(tmp_path / "data/blobs").st_mode) == "drwx------"
    assert [piece async for piece in (await LocalBlobs.open_directory(tmp_path / "data/blobs")).open("files/a")] == [
        b"three"
    ]


async def test_a_write_that_fails_says_so_and_leaves_what_was_there(tmp_path: Path):
    blobs = await LocalBlobs.open_directory(tmp_path)
    await blobs.put("results/call_1", b"one")

    with pytest.raises(StoreUnavailable, match=f"cannot use the files in '{tmp_path}'"):
        await blobs.put("results", b"a key that is the directory of another")
    with pytest.raises(StoreUnavailable):
        await blobs.put("results/call_1/x", b"a key below another")
    assert files(tmp_path) == ["results/call_1"]


async def test_a_directory_that_cannot_be_made_is_refused(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"")

    with pytest.raises(StoreUnavailable, match="cannot keep files in"):
        await LocalBlobs.open_directory(tmp_path / "file" / "blobs")
