"""What the SQLite store promises beyond the contract of the port: durability, one process at a time, clear refusals."""

import gc
import os
import sqlite3
import stat
import sys
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tests.contracts.stores import SettableClock, begin, ids, keys, values
from tests.contracts.writing_process import WRITERS
from toolwire.adapters.database import SCHEMA_VERSION
from toolwire.adapters.group import Ticket
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.errors import StoreConflict, StoreUnavailable
from toolwire.core.ports import Append, Del, Enqueue, Put, Row, Stored

ROOT = Path(__file__).parents[2]


class HeldClock(SettableClock):
    """Holds the store's thread in the middle of its work: `now` waits there until `go` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self._loop = threading.current_thread()

    def now(self) -> float:
        if threading.current_thread() is not self._loop:
            assert self.go.wait(5)
        return self.time


@asynccontextmanager
async def writing_process(path: Path) -> AsyncGenerator[tuple[Process, BufferedByteReceiveStream]]:
    """Another process that writes to the store at `path`, and the lines in which it tells what was answered."""
    command = [sys.executable, "-m", "tests.contracts.writing_process", str(path)]
    async with await anyio.open_process(command, cwd=ROOT, stderr=None) as process:
        assert process.stdout is not None
        try:
            yield process, BufferedByteReceiveStream(process.stdout)
        finally:
            with suppress(ProcessLookupError):
                process.kill()


async def test_everything_is_there_after_opening_again(tmp_path: Path):
    clock = SettableClock()
    async with await SqliteStore.open(tmp_path / "store.db", clock) as store:
        await store.tx([Put("call", "ann", "k", b"1"), Put("call", "ann", "k", b"2", expires_at=1010.0)])
        await store.tx([Append("s", b"a"), Append("s", b"b", seq=7), Enqueue("q", "w", 1000.0, b"body")])
        await store.claim("q", "me", 1, lease_s=5)

    async with await SqliteStore.open(tmp_path / "store.db", clock) as store:
        with pytest.raises(StoreConflict):
            await store.tx([Put("call", "ann", "k", b"3", expect=1)])
        await store.tx([Append("s", b"c")])
        assert await store.read("s") == [Row(1, b"a"), Row(7, b"b"), Row(8, b"c")]
        assert await store.claim("q", "me", 1, 5) == []
        clock.time = 1005.0
        assert [work.attempts for work in await store.claim("q", "me", 1, 5)] == [2]
        clock.time = 1010.0
        assert await store.get("call", "ann", "k") is None


async def test_a_killed_process_leaves_what_it_answered_and_otherwise_whole_transactions(tmp_path: Path):
    path = tmp_path / "store.db"
    answered: set[bytes] = set()
    with anyio.fail_after(30):
        async with writing_process(path) as (process, lines):
            for _ in range(300):
                answered.add(await lines.receive_until(b"\n", 100))
            process.kill()  # SIGKILL
            while True:
                try:
                    answered.add(await lines.receive_until(b"\n", 100))
                except (anyio.EndOfStream, anyio.IncompleteRead):
                    break

    async with await SqliteStore.open(path, SettableClock()) as store:
        rows = await store.read("s", limit=1_000_000)
        records = await store.scan("call", "", limit=1_000_000)
    assert answered <= set(values(rows))
    assert sorted(keys(records)) == sorted(value.decode() for value in values(rows))
    assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
    for writer in range(WRITERS):
        own = [value for value in values(rows) if value.startswith(b"%d:" % writer)]
        assert own == [b"%d:%d" % (writer, n) for n in range(len(own))]


async def test_a_second_process_is_refused_and_told_who_is_there(tmp_path: Path):
    path = tmp_path / "store.db"
    with anyio.fail_after(30):
        async with writing_process(path) as (process, lines):
            await lines.receive_until(b"\n", 100)
            with pytest.raises(StoreUnavailable, match=f"process {process.pid} is using '.*store.db': stop it, or"):
                await SqliteStore.open(path, SettableClock())
            process.kill()
            await process.wait()

    async with await SqliteStore.open(path, SettableClock()) as store:
        assert await store.read("s", limit=1)
        with pytest.raises(StoreUnavailable, match="is using"):
            await SqliteStore.open(path, SettableClock())


async def test_the_files_are_for_this_user_alone(tmp_path: Path):
    async with await SqliteStore.open(tmp_path / "store.db", SettableClock()) as store:
        await store.tx([Append("s", b"a")])
        with os.scandir(tmp_path) as entries:
            modes = {entry.name: stat.filemode(entry.stat().st_mode) for entry in entries}
    assert modes == dict.fromkeys(
        ("store.db", "store.db-redo-0", "store.db-shm", "store.db-wal", "store.db.lock"), "-rw-------"
    )


async def test_a_full_store_takes_nothing_until_there_is_room_again(tmp_path: Path):
    async with await SqliteStore.open(tmp_path / "store.db", SettableClock(), max_bytes=400_000) as store:
        written = 0

        async def fill() -> None:
            nonlocal written
            while True:
                await store.tx([Put("call", "", f"{written:04}", b"x" * 4000), Append("s", b"")])
                written += 1

        with pytest.raises(StoreUnavailable, match=r"the disk of '.*store.db' is full: free some space .*SQLITE_FULL"):
            await fill()
        assert written > 0
        assert len(await store.read("s")) == len(await store.scan("call", "")) == written

        with pytest.raises(StoreUnavailable) as refused:
            await store.tx([Put("call", "", "more", b"x" * 20_000)])
        assert refused.value.told == "the disk of the store is full: free some space and try again"
        await store.tx([Del("call", "", f"{n:04}") for n in range(written)])
        await store.tx([Put("call", "", "more", b"x" * 20_000)])
        assert keys(await store.scan("call", "")) == ["more"]


async def test_what_a_full_store_has_refused_is_not_kept_in_memory(tmp_path: Path):
    """A store that is tried again and again would else fill the memory: an idle process seldom looks for cycles."""
    async with await SqliteStore.open(tmp_path / "store.db", SettableClock(), max_bytes=100_000) as store:
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for _ in range(3):
                with suppress(StoreUnavailable):
                    await store.tx([Put("call", "", "large", b"x" * 200_000)])
                with suppress(ValueError):
                    await store.tx([Put("call", "", "\ud800", b"")])
            gc.collect()
            assert [kept for kept in gc.garbage if isinstance(kept, Ticket)] == []
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()


async def test_a_newer_schema_is_refused(tmp_path: Path):
    path = tmp_path / "store.db"
    async with await SqliteStore.open(path, SettableClock()):
        pass
    newer = sqlite3.connect(path)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()

    with pytest.raises(StoreUnavailable, match=rf"newer Toolwire \(schema {SCHEMA_VERSION + 1}, this one"):
        await SqliteStore.open(path, SettableClock())


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path):
    path = tmp_path / "store.db"
    path.write_bytes(b"# not a database\n" * 100)

    with pytest.raises(StoreUnavailable, match="damaged, or not a database"):
        await SqliteStore.open(path, SettableClock())
    assert path.read_bytes() == b"# not a database\n" * 100

    path.unlink()
    async with await SqliteStore.open(path, SettableClock()):
        pass  # the refusal has let go of the lock


async def test_a_place_that_cannot_be_opened_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    (tmp_path / "directory.db").mkdir()

    for path in ("absent/store.db", "file/store.db", "directory.db"):
        with pytest.raises(StoreUnavailable, match="cannot open"):
            await SqliteStore.open(tmp_path / path, SettableClock())


async def test_a_damaged_database_is_reported_by_reads_and_writes(tmp_path: Path):
    path = tmp_path / "store.db"
    async with await SqliteStore.open(path, SettableClock()) as store:
        await store.tx([Put("call", "", f"{n}", b"x" * 1000) for n in range(500)])
    content = path.read_bytes()
    path.write_bytes(content[:65536] + b"\xa5" * (len(content) - 65536))

    async with await SqliteStore.open(path, SettableClock()) as store:
        with pytest.raises(StoreUnavailable, match="damaged"):
            await store.get("call", "", "1")
        with pytest.raises(StoreUnavailable, match="damaged"):
            await store.tx([Put("call", "", "1", b"")])


async def test_a_database_that_is_damaged_at_its_beginning_is_refused(tmp_path: Path):
    path = tmp_path / "store.db"
    async with await SqliteStore.open(path, SettableClock()):
        pass
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))

    with pytest.raises(StoreUnavailable, match="damaged"):
        await SqliteStore.open(path, SettableClock())


async def test_what_was_logged_is_read_at_once_whatever_looks_for_it(tmp_path: Path):
    async with await SqliteStore.open(tmp_path / "store.db", SettableClock()) as store:
        await store.tx([Put("call", "", "a", b"1")])
        await store.tx([Put("call", "", "b", b"2"), Append("s", b"row"), Enqueue("q", "w", 0.0, b"")])
        assert await store.get("call", "", "b") == Stored("b", "", b"2", 1)
        await store.tx([Del("call", "", "b")])
        assert await store.get("call", "", "b") is None
        await store.tx([Put("call", "", "c", b"3")])
        assert keys(await store.scan("call", None)) == ["a", "c"]
        await store.tx([Append("s", b"next")])
        assert values(await store.read("s")) == [b"row", b"next"]
        await store.tx([Enqueue("q", "x", 1.0, b"")])
        assert ids(await store.claim("q", "me", 9, 60)) == ["w", "x"]


async def test_a_closed_store_leaves_nothing_beside_the_database_but_the_lock(tmp_path: Path):
    async with await SqliteStore.open(tmp_path / "store.db", SettableClock()) as store:
        await store.tx([Append("s", b"a")])
    assert sorted(os.listdir(tmp_path)) == ["store.db", "store.db.lock"]


@pytest.mark.both_backends
async def test_a_cancelled_caller_of_a_busy_store_leaves_its_batch_whole(tmp_path: Path):
    clock = HeldClock()
    async with await SqliteStore.open(tmp_path / "store.db", clock) as store:
        async with anyio.create_task_group() as tasks:
            await begin(tasks, store.tx, [Append("s", b"a"), Append("s", b"b")])
            tasks.cancel_scope.cancel()
        assert await store.read("s") == []

        clock.go.set()
        await store.tx([Append("s", b"c")])
        assert values(await store.read("s")) == [b"a", b"b", b"c"]


@pytest.mark.both_backends
async def test_when_much_is_waiting_callers_wait_in_line_before_they_hand_in_more(tmp_path: Path):
    clock = HeldClock()
    async with await SqliteStore.open(tmp_path / "store.db", clock, max_waiting_bytes=3000) as store:
        async with anyio.create_task_group() as tasks:
            await begin(tasks, store.tx, [Append("s", b"large".ljust(2900))])
            gives_up = anyio.CancelScope()

            async def give_up() -> None:
                with gives_up:
                    await store.tx([Append("s", b"given up")])

            await begin(tasks, give_up)
            await begin(tasks, store.tx, [Append("s", b"beyond all".ljust(5000))])
            await begin(tasks, store.tx, [Append("s", b"small")])
            gives_up.cancel()
            clock.go.set()

        assert [value.strip() for value in values(await store.read("s"))] == [b"large", b"beyond all", b"small"]


async def test_callers_who_wait_in_line_are_told_when_the_store_closes(tmp_path: Path):
    clock = HeldClock()
    store = await SqliteStore.open(tmp_path / "store.db", clock, max_waiting_bytes=300)

    async def refused() -> None:
        with pytest.raises(StoreUnavailable, match="closed"):
            await store.tx([Append("s", b"b")])

    async with anyio.create_task_group() as tasks:
        await begin(tasks, store.tx, [Append("s", b"a")])
        await begin(tasks, refused)
        await begin(tasks, store.close)
        clock.go.set()


async def test_values_that_sqlite_cannot_hold_are_their_callers_mistake_alone(tmp_path: Path):
    clock = HeldClock()
    async with await SqliteStore.open(tmp_path / "store.db", clock) as store:

        async def refused(op: Put | Append | Enqueue) -> None:
            with pytest.raises(ValueError, match="the store cannot hold this batch"):
                await store.tx([Append("s", b"no"), op])

        async with anyio.create_task_group() as tasks:
            await begin(tasks, store.tx, [Append("s", b"a")])
            await begin(tasks, refused, Put("call", "", "\ud800", b""))
            await begin(tasks, refused, Append("s", b"", seq=2**70))
            await begin(tasks, refused, Enqueue("q", "w", float("nan"), b""))
            await begin(tasks, store.tx, [Append("s", b"b"), Enqueue("q", "x", 0.0, b"")])
            clock.go.set()

        assert await store.read("s") == [Row(1, b"a"), Row(2, b"b")]
        assert ids(await store.claim("q", "me", 9, 60)) == ["x"]
        with pytest.raises(ValueError, match="surrogates"):
            await store.get("call", "", "\ud800")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_loop_that_ends_without_closing_the_store_leaves_what_was_handed_in(tmp_path: Path, backend: str):
    clock = HeldClock()

    async def open_and_leave() -> SqliteStore:
        store = await SqliteStore.open(tmp_path / "store.db", clock)
        async with anyio.create_task_group() as tasks:
            await begin(tasks, store.tx, [Append("s", b"a")])
            tasks.cancel_scope.cancel()
        return store

    async def close_and_read() -> list[bytes]:
        await store.close()
        async with await SqliteStore.open(tmp_path / "store.db", clock) as again:
            return values(await again.read("s"))

    store = anyio.run(open_and_leave, backend=backend)
    clock.go.set()
    assert anyio.run(close_and_read, backend=backend) == [b"a"]
