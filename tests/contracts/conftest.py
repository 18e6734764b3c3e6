"""The stores and blobs that every contract test runs on."""

from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from tests.contracts.s3_server import BUCKET, KEYS, s3_server
from tests.contracts.stores import SettableClock
from toolwire.adapters.blobs import LocalBlobs
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.adapters.s3_blobs import open_bucket
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.ids import new_id
from toolwire.core.ports import Blobs, Store


@pytest.fixture
def clock() -> SettableClock:
    return SettableClock()


@pytest.fixture(params=["memory", "sqlite"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: SettableClock) -> AsyncGenerator[Store]:
    if request.param == "memory":
        yield MemoryStore(clock)
        return
    opened = await SqliteStore.open(tmp_path / "store.db", clock)
    yield opened
    await opened.close()


@pytest.fixture(scope="session")
def s3_url() -> Generator[str]:
    """The address of an S3 server; what it cannot start fails the tests that want it."""
    with s3_server() as url:
        yield url


@pytest.fixture(params=["memory", "local", "s3"])
async def blobs(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Blobs:
    if request.param == "memory":
        return MemoryBlobs()
    if request.param == "local":
        return await LocalBlobs.open_directory(tmp_path / "blobs")
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    return open_bucket(f"s3://{BUCKET}/{new_id('test')}", request.getfixturevalue("s3_url"))
