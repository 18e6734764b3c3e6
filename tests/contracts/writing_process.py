"""A process that writes to the store named on its command line until it is killed, and tells what was answered.

python -m tests.contracts.writing_process STORE
"""

import os
import sys
from contextlib import suppress

import anyio

from tests.contracts.stores import SettableClock
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.errors import StoreConflict
from toolwire.core.ports import Append, Put

WRITERS = 20


async def main(path: str) -> None:
    store = await SqliteStore.open(path, SettableClock())

    async def write(writer: int) -> None:
        for n in range(1_000_000):
            name = f"{writer}:{n}"
            size = 600_000 if n % 40 == writer else 100  # a large one does not go the way of the others
            await store.tx([Append("s", name.encode()), Put("call", "", name, b"x" * size, expect=0)])
            if n % 10 == 0:
                with suppress(StoreConflict):
                    await store.tx([Append("s", b"never"), Put("call", "", name, b"", expect=0)])
            os.write(sys.stdout.fileno(), f"{name}\n".encode())

    async with anyio.create_task_group() as tasks:
        for writer in range(WRITERS):
            tasks.start_soon(write, writer)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
