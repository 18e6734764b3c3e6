"""A process that writes to the store named on its command line until it is killed, and tells what was answered.

python -m tests.contracts.writing_process STORE
"""

import os
import sys

import anyio

from tests.contracts.stores import SettableClock
from toolwire.adapters.sqlite import SqliteStore
from toolwire.core.ports import Append, Put

WRITERS = 20


async def main(path: str) -> None:
    store = await SqliteStore.open(path, SettableClock())

    async def write(writer: int) -> None:
        for n in range(1_000_000):
            name = f"{writer}:{n}"
            await store.tx([Append("s", name.encode()), Put("call", "", name, b"x" * 100)])
            os.write(sys.stdout.fileno(), f"{name}\n".encode())

    async with anyio.create_task_group() as tasks:
        for writer in range(WRITERS):
            tasks.start_soon(write, writer)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
