"""What the contract tests of the stores share: a clock that is set by hand, and short ways to say things."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVarTuple

import anyio
from anyio.abc import TaskGroup

from toolwire.core.ports import Leased, Row, Stored

Args = TypeVarTuple("Args")


class SettableClock:
    """The `Clock` port: stands still at `time`."""

    def __init__(self, time: float = 1000.0) -> None:
        self.time = time

    def now(self) -> float:
        return self.time


def keys(page: Sequence[Stored]) -> list[str]:
    return [stored.key for stored in page]


def values(rows: Sequence[Row]) -> list[bytes]:
    return [row.value for row in rows]


def ids(leased: Sequence[Leased]) -> list[str]:
    return [work.id for work in leased]


async def begin(tasks: TaskGroup, call: Callable[[*Args], Awaitable[object]], *args: *Args) -> None:
    """Start a task, and come back when it waits for the first time: task groups alone start tasks in any order."""
    called = anyio.Event()

    async def go() -> None:
        called.set()
        await call(*args)

    tasks.start_soon(go)
    await called.wait()
