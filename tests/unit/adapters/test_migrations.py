"""A database that an earlier version wrote is brought to today's schema with all that is in it."""

import sqlite3
from importlib.resources import files
from pathlib import Path

from toolwire.adapters.clock import SystemClock
from toolwire.adapters.database import SCHEMA_VERSION
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.ports import Put, Row, Stored

ROWS = [
    ("agent", "own_1", "agent_1", 3, None, b"one"),
    ("agent", "own_2", "agent_1", 1, None, b"two"),
    ("call", "own_1", "call_1", 2, 4e9, b"kept"),
    ("call", "own_1", "call_2", 2, 1.0, b"expired"),
]


def written_by_the_first_version(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(files("toolwire.adapters").joinpath("migrations/001.sql").read_text("utf-8"))
    connection.executemany("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", ROWS)
    connection.execute("INSERT INTO rows VALUES ('channel/ch_1', 1, ?)", (b"hello",))
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()


async def test_a_database_of_the_first_version_keeps_records_versions_and_streams(tmp_path: Path):
    written_by_the_first_version(tmp_path / "store.db")
    async with await SqliteStore.open(tmp_path / "store.db", SystemClock()) as store:
        assert await store.get("agent", "own_1", "agent_1") == Stored("agent_1", "own_1", b"one", 3)
        assert [row.value for row in await store.scan("agent", None)] == [b"one", b"two"]
        assert [row.value for row in await store.scan("agent", "own_2")] == [b"two"]
        assert [row.key for row in await store.scan("call", "own_1")] == ["call_1"]
        assert await store.read("channel/ch_1") == [Row(1, b"hello")]
        await store.tx([Put("call", "own_1", "call_1", b"again", expect=2), Put("call", "own_1", "call_2", b"", 0)])
    connection = sqlite3.connect(tmp_path / "store.db")
    assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()
    async with await SqliteStore.open(tmp_path / "store.db", SystemClock()) as store:
        versions = [(row.key, row.version) for row in await store.scan("call", "own_1")]
        assert versions == [("call_1", 3), ("call_2", 1)]
