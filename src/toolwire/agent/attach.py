"""Attaches an agent for as long as a block or a process lasts; it does not know what the agent does.

`attached` is for an event loop that is there already, `run_attached` for a process that is the agent.
"""

import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from typing import Final, NoReturn, TypeAlias

import anyio
from msgspec import Struct

from toolwire.agent.journal import Journal, MemoryJournal
from toolwire.agent.journal_file import FileJournal
from toolwire.agent.link import Link, OpenSocket
from toolwire.agent.worker import Worker
from toolwire.core.errors import InvalidParam, ToolwireError, Unauthorized

DEFAULT_URL: Final = "http://127.0.0.1:8094"
URL_VARIABLE: Final = "TOOLWIRE_URL"
KEY_VARIABLE: Final = "TOOLWIRE_AGENT_KEY"
GRACE_S: Final = 30.0

Prepare: TypeAlias = Callable[[], AbstractAsyncContextManager[tuple[Worker, OpenSocket]]]

_log = logging.getLogger("toolwire.agent")


class Target(Struct, frozen=True):
    """Where and as whom an agent attaches. `grace_s` is how long it finishes what it has when it is told to stop."""

    url: str
    key: str
    grace_s: float = GRACE_S

    def __repr__(self) -> str:
        return f"Target({self.url!r}, {self.key[:12]!r}…)"


def target_of(url: str | None, key: str | None, grace_s: float = GRACE_S) -> Target:
    """Fill in from the environment what is not given.

    Raises:
        Unauthorized: there is no key, or something that can be none.
    """
    key = (key or os.environ.get(KEY_VARIABLE) or "").strip()
    if not key:
        raise Unauthorized(
            f"an agent needs its key: pass key=, or set {KEY_VARIABLE}; `toolwire agent create NAME` makes one"
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise Unauthorized("the agent's key has characters that no key has; copy it again, it begins with 'agk_'")
    return Target(url or os.environ.get(URL_VARIABLE) or DEFAULT_URL, key, grace_s)


def open_journal(journal: Journal | str | os.PathLike[str] | None) -> Journal:
    """The journal that is meant: one in memory for `None`, one in a file for a path.

    Raises:
        Conflict: another process has the file, or it is not a journal.
        InvalidParam: the file cannot be read or written.
    """
    match journal:
        case None:
            return MemoryJournal()
        case str() | os.PathLike():
            try:
                return FileJournal(journal)
            except OSError as error:
                raise InvalidParam(f"the journal cannot be kept in {os.fspath(journal)!r}: {error}") from None
        case _:
            return journal


@asynccontextmanager
async def attached(
    worker: Worker, open_socket: OpenSocket, target: Target, *, wait: bool = True
) -> AsyncGenerator[Link]:
    """Keep `worker` attached inside the block; at its end, finish what was taken.

    Args:
        worker: answers the messages.
        open_socket: opens a link.
        target: where it attaches, and for how long it may finish.
        wait: begin the block once the agent is attached, and not before.

    Raises:
        ToolwireError: the gateway refuses this agent; out of the block's start, or of its middle.
    """
    link = Link(worker, open_socket, target.url)
    failures: list[Exception] = []  # raised outside the task groups, so that they come out as they are
    async with worker.working(), anyio.create_task_group() as tasks:

        async def keep() -> None:
            try:
                await link.keep()
            except Exception as error:  # noqa: BLE001
                failures.append(error)
                tasks.cancel_scope.cancel("the gateway refuses this agent")

        tasks.start_soon(keep)
        tasks.start_soon(link.watch_loop)
        try:
            if wait:
                await link.wait_attached()
            yield link
        except Exception as error:  # noqa: BLE001
            failures.append(error)
        finally:
            if not tasks.cancel_scope.cancel_called:
                with anyio.CancelScope(shield=True, deadline=anyio.current_time() + target.grace_s):
                    await worker.drain()
            tasks.cancel_scope.cancel("the agent stops")
    if failures:
        raise failures[0]


def run_attached(prepare: Prepare, target: Target) -> int:
    """Be the agent until SIGTERM or Ctrl-C: finish what was taken, and return the process' exit code.

    A second Ctrl-C ends the process at once. So does the end of the grace if something is at work even then, because
    a thread that blocks cannot be stopped in another way.

    Args:
        prepare: gives the worker and what opens its links, for as long as a block lasts.
        target: where it attaches.

    Raises:
        ToolwireError: the gateway refuses this agent.
    """
    uvloop = sys.platform != "win32" and find_spec("uvloop") is not None
    given_up = anyio.run(_main, prepare, target, backend="asyncio", backend_options={"use_uvloop": uvloop})
    if given_up:
        _log.warning("%d messages were not finished within %.0f s", given_up, target.grace_s)
        _exit_now(1)
    return 0


async def _main(prepare: Prepare, target: Target) -> int:
    stop = anyio.Event()
    failures: list[ToolwireError] = []
    async with prepare() as (worker, open_socket), anyio.create_task_group() as tasks:
        tasks.start_soon(_watch_signals, stop, worker)
        try:
            async with attached(worker, open_socket, target, wait=False):
                await stop.wait()
        except ToolwireError as error:
            failures.append(error)
        tasks.cancel_scope.cancel("the agent has stopped")
    if failures:
        raise failures[0]
    return worker.unfinished


async def _watch_signals(stop: anyio.Event, worker: Worker) -> None:
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
        return  # Ctrl-C is then a KeyboardInterrupt, which the event loop turns into a cancellation
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        async for received in signals:
            if stop.is_set():
                _exit_now(128 + received)
            stop.set()
            _log.info("stopping; %d messages to finish, press Ctrl-C again to stop at once", worker.held)


def _exit_now(code: int) -> NoReturn:
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
