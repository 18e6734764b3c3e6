"""Runs Python cards: one child process for each package that somebody calls, watched, restarted and ended.

It starts a process when a copy is woken, with a token that opens the link for that package alone. What the process
prints is lines of the card's log. A process that keeps failing is left alone for a while. Contract: cards.md 60, §7.
"""

import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.abc import ByteReceiveStream, Process, TaskGroup
from anyio.streams.text import TextReceiveStream

from toolwire.canvas.card_connections import Waker
from toolwire.canvas.card_link import CardTokens
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.packages import Package, Packages
from toolwire.card.card import TOKEN_VARIABLE, URL_VARIABLE
from toolwire.core.errors import ConsentRequired
from toolwire.wire.card_messages import CardRef, LogLevel

logger = logging.getLogger("toolwire.canvas")

STOP_S: Final = 3.0
"""How long a process may take to end by itself."""
QUICK_S: Final = 10.0
"""A process that ends sooner than this after its start has failed to start."""
REST_S: Final = (0.0, 1.0, 5.0, 30.0, 60.0)
"""How long a package rests after so many starts in a row that failed."""
MAX_LINE_CHARS: Final = 2_000
_INHERITED: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV")
"""What of the host's environment a card gets: nothing that could be a secret."""


class CardProcesses:
    """Brings Python cards to life, and asks `pages` to do so for web cards; see `card_connections.Waker`.

    Args:
        packages: all packages.
        tokens: opens the link for them.
        log: gets what they print.
        pages: wakes the others.
        url: where the host is; asked for at each start.
    """

    def __init__(
        self, packages: Packages, tokens: CardTokens, log: CardLog, pages: Waker, url: Callable[[], str]
    ) -> None:
        self._packages = packages
        self._tokens = tokens
        self._log = log
        self._pages = pages
        self._url = url
        self._tasks: TaskGroup | None = None
        self._running: dict[str, _Running] = {}
        self._failures: dict[str, _Failures] = {}
        self._ended: list[Callable[[str], None]] = []
        packages.on_changed(self._on_package)

    def on_ended(self, listener: Callable[[str], None]) -> None:
        """Tell `listener` of every package whose process has ended, so that nobody waits for that any more."""
        self._ended.append(listener)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Own the processes until the block ends; then end them."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()

    def wake(self, package: Package, card: CardRef) -> None:
        """See to it that a copy connects."""
        if package.accepted is None or not package.accepted.manifest.is_python:
            self._pages.wake(package, card)
            return
        failures = self._failures.get(package.id)
        resting = failures is not None and anyio.current_time() < failures.rests_until
        if package.id not in self._running and self._tasks is not None and not resting:
            running = self._running[package.id] = _Running()
            self._tasks.start_soon(self._run, package, running)

    def why_not(self, package: Package) -> str | None:
        """Why a card that was woken is not there."""
        if package.accepted is None or not package.accepted.manifest.is_python:
            return self._pages.why_not(package)
        failures = self._failures.get(package.id)
        if failures is None:
            return "its process has not said host.ready; does the file end with card.run()?"
        left = failures.rests_until - anyio.current_time()
        rest = f"; it is tried again in {left:.0f} s" if left > 0 else ""
        return f"its process ended with code {failures.code} ({failures.last_line or 'it printed nothing'}){rest}"

    def stop(self, package_id: str) -> None:
        """End a package's process, if it runs; it starts anew when it is woken."""
        running = self._running.get(package_id)
        if running is not None:
            running.scope.cancel()

    def _on_package(self, package: Package) -> None:
        """A process runs the accepted version alone."""
        running = self._running.get(package.id)
        digest = None if package.removed or package.accepted is None else package.accepted.digest
        if running is not None and running.digest not in (digest, ""):
            running.scope.cancel()
        if digest != getattr(running, "digest", digest):
            self._failures.pop(package.id, None)

    async def _run(self, package: Package, running: "_Running") -> None:
        began = anyio.current_time()
        code: int | None = None
        try:
            with running.scope:
                code = await self._process(package, running)
        except (OSError, ConsentRequired) as error:
            logger.warning("package %s cannot be started: %s", package.id, error)
            running.last_line = str(error)
        finally:
            self._running.pop(package.id, None)
            self._tokens.revoke(package.id)
        if code is not None or not running.scope.cancelled_caught:
            self._note_end(package, running, code, anyio.current_time() - began)
        for listener in tuple(self._ended):
            listener(package.id)

    def _note_end(self, package: Package, running: "_Running", code: int | None, lasted_s: float) -> None:
        level: LogLevel = "info" if code == 0 else "error"
        self._log.write(package.id, level, f"the card's process ended with code {code} after {lasted_s:.1f} s")
        if lasted_s >= QUICK_S:
            self._failures.pop(package.id, None)
            return
        before = self._failures.get(package.id)
        count = 1 if before is None else before.count + 1
        rests_until = anyio.current_time() + REST_S[min(count, len(REST_S)) - 1]
        self._failures[package.id] = _Failures(count, code, running.last_line, rests_until)

    async def _process(self, package: Package, running: "_Running") -> int | None:
        """Start the process, take what it prints, and wait for its end; says its exit code."""
        assert package.accepted is not None
        tree = self._packages.tree(package).absolute()
        running.digest = package.accepted.digest
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= {
            URL_VARIABLE: self._url(),
            TOKEN_VARIABLE: self._tokens.mint(package.id),
            "PYTHONUNBUFFERED": "1",
            "PYTHONIOENCODING": "utf-8:replace",
        }
        command = (sys.executable, str(tree / package.accepted.manifest.entry))
        process = await anyio.open_process(command, stdin=-3, cwd=str(tree), env=environment, start_new_session=True)
        try:
            async with anyio.create_task_group() as tasks:
                assert process.stdout is not None
                assert process.stderr is not None
                tasks.start_soon(self._take_lines, package, running, process.stdout, "info")
                tasks.start_soon(self._take_lines, package, running, process.stderr, "warn")
                await process.wait()
            return process.returncode
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)

    async def _take_lines(
        self, package: Package, running: "_Running", stream: ByteReceiveStream, level: LogLevel
    ) -> None:
        held = ""
        with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for text in TextReceiveStream(stream, errors="replace"):
                *lines, held = (held + text).split("\n")
                for line in lines:
                    self._take_line(package, running, line, level)
                held = held[-MAX_LINE_CHARS:]
        if held:
            self._take_line(package, running, held, level)

    def _take_line(self, package: Package, running: "_Running", line: str, level: LogLevel) -> None:
        if line.strip():
            running.last_line = line.strip()[:200]
            self._log.write(package.id, level, line)


class _Running:
    """A package's process, from the moment at which it is wanted."""

    def __init__(self) -> None:
        self.scope = anyio.CancelScope()
        self.digest = ""
        self.last_line = ""


class _Failures:
    """Starts of a package that failed, in a row."""

    def __init__(self, count: int, code: int | None, last_line: str, rests_until: float) -> None:
        self.count = count
        self.code = code
        self.last_line = last_line
        self.rests_until = rests_until


async def _end(process: Process) -> None:
    """End a process with everything it has started: politely, and after a moment for good."""
    if process.returncode is None:
        _signal_group(process, signal.SIGTERM)
        with anyio.move_on_after(STOP_S):
            await process.wait()
    _signal_group(process, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    await process.wait()
    await process.aclose()


def _signal_group(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.send_signal(number)
        else:
            os.killpg(process.pid, number)
