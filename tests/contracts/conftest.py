"""The stores and blobs that every contract test runs on."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.contracts.stores import SettableClock
from toolwire.adapters.blobs import LocalBlobs
from toolwire.adapters.memory import MemoryStore
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.adapters.sqlite import SqliteStore
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


@pytest.fixture(params=["memory", "local"])
async def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> Blobs:
    return MemoryBlobs() if request.param == "memory" else await LocalBlobs.open_directory(tmp_path / "blobs")
