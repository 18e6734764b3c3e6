"""Runs Python cards: one child process for each package that somebody calls, watched, restarted and ended.

It starts a process when a copy is woken, with a token that opens the link for that package alone. What the process
prints is lines of the card's log. A process that keeps failing is left alone for a while. Contract: cards.md 60, §7.
"""

import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Final

import anyio
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.canvas.card_connections import CardConnection, Waker
from toolwire.canvas.card_log import CardLog
from toolwire.canvas.card_tokens import CardTokens
from toolwire.canvas.child_process import Source, run_to_end
from toolwire.canvas.packages import Package, Packages
from toolwire.card.card import TOKEN_VARIABLE, URL_VARIABLE
from toolwire.card.texts import visible
from toolwire.core.errors import ConsentRequired, PackageNotFound
from toolwire.wire.card_messages import CardRef

logger = logging.getLogger("toolwire.canvas")

QUICK_S: Final = 10.0
"""A process that ends sooner than this after its start has failed to start."""
REST_S: Final = (0.0, 1.0, 5.0, 30.0, 60.0)
"""How long a package rests after so many starts in a row that failed."""
MAX_REASON_CHARS: Final = 200
_INHERITED: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "PYTHONPATH", "VIRTUAL_ENV")
"""What of the host's environment a card gets: nothing that could be a secret."""


class _Running:
    """A package's process, from the moment at which it is wanted until it has ended; `digest` is what it runs.

    It `is_wanted_again` if somebody woke it once more: another one follows it then. It `gives_way` if somebody runs the
    card.
    """

    def __init__(self, digest: str) -> None:
        self.digest = digest
        self.scope = anyio.CancelScope()
        self.last_line = ""
        self.is_wanted_again = False
        self.gives_way = False


class _Failures(Struct, frozen=True):
    """Starts of a version that failed: how many in a row, what became of the last, and until when it rests."""

    digest: str
    count: int
    words: str
    rests_until: float


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
        """Tell `listener` of every package whose process is not to come, so that nobody waits for that any more."""
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
        """See to it that a copy connects, unless its package rests."""
        if package.accepted is None or not package.accepted.manifest.is_python:
            self._pages.wake(package, card)
            return
        running = self._running.get(package.id)
        if running is not None:
            running.is_wanted_again = True  # it may be about to end
        elif not self._start(package):
            self._tell_ended(package.id)

    def why_not(self, package: Package) -> str | None:
        """Why a card that was woken is not there."""
        if package.accepted is None or not package.accepted.manifest.is_python:
            return self._pages.why_not(package)
        failures = self._failures.get(package.id)
        if package.id in self._running or failures is None:
            return "its process has not said host.ready; does the file end with card.run()?"
        left_s = failures.rests_until - anyio.current_time()
        rest = f"; it is tried again in {left_s:.0f} s" if left_s > 0 else ""
        return f"{failures.words}{rest}"

    def stop(self, package_id: str) -> None:
        """End a package's process, if it runs; it starts anew when it is woken."""
        running = self._running.get(package_id)
        if running is not None:
            running.is_wanted_again = False
            running.scope.cancel()

    def make_way(self, connection: CardConnection) -> None:
        """A card is there: where somebody runs it, that the package's process ends now is no failure."""
        running = self._running.get(connection.package.id)
        if running is not None and not connection.is_child:
            running.gives_way = True

    def _on_package(self, package: Package) -> None:
        """A process runs the accepted version alone: with another, it starts anew."""
        digest = None if package.removed or package.accepted is None else package.accepted.digest
        failures, running = self._failures.get(package.id), self._running.get(package.id)
        if failures is not None and failures.digest != digest:
            del self._failures[package.id]
        if running is not None and running.digest != digest:
            running.is_wanted_again = digest is not None
            running.scope.cancel()

    def _start(self, package: Package) -> bool:
        """Start a package's process, unless that rests; says whether it did."""
        failures = self._failures.get(package.id)
        rests = failures is not None and anyio.current_time() < failures.rests_until
        if self._tasks is None or package.accepted is None or rests:
            return False
        running = self._running[package.id] = _Running(package.accepted.digest)
        self._tasks.start_soon(self._run, package, running)
        return True

    async def _run(self, package: Package, running: _Running) -> None:
        """A process, from its start to what comes after its end."""
        began = anyio.current_time()
        try:
            with running.scope:
                self._note_end(package, running, await self._process(package, running), anyio.current_time() - began)
        except (OSError, ConsentRequired) as error:
            self._note_failure(package, running, f"its process cannot be started ({error})")
        except Exception:
            logger.exception("watching the process of package %s failed inside the server", package.id)
            self._note_failure(package, running, "its process was lost by the host")
        finally:
            del self._running[package.id]
            self._tokens.revoke(package.id)
        if not running.is_wanted_again or not self._start_again(package):
            self._tell_ended(package.id)

    async def _process(self, package: Package, running: _Running) -> int:
        tree = self._packages.tree(package).absolute()
        assert package.accepted is not None
        environment = {name: os.environ[name] for name in _INHERITED if name in os.environ}
        environment |= {
            URL_VARIABLE: self._url(),
            TOKEN_VARIABLE: self._tokens.mint(package.id),
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",  # the tree stays what was accepted
            "PYTHONIOENCODING": "utf-8:replace",
        }

        def on_line(line: str, source: Source) -> None:
            running.last_line = visible(line.strip(), MAX_REASON_CHARS)
            self._log.write(package.id, "info" if source == "stdout" else "warn", line)

        return await run_to_end(
            (sys.executable, str(tree / package.accepted.manifest.entry)), tree, environment, on_line
        )

    def _note_end(self, package: Package, running: _Running, code: int, lasted_s: float) -> None:
        if running.gives_way:
            self._log.write(package.id, "info", "the card's process gave way to one that somebody runs")
            return
        words = f"the card's process ended with code {code} after {lasted_s:.1f} s"
        self._log.write(package.id, "error" if code else "info", words)
        if lasted_s >= QUICK_S:
            self._failures.pop(package.id, None)
        else:
            said = running.last_line or "it printed nothing"
            self._note_failure(package, running, f"its process ended with code {code} ({said})")

    def _note_failure(self, package: Package, running: _Running, words: str) -> None:
        """It has failed to start once more."""
        before = self._failures.get(package.id)
        count = 1 if before is None else before.count + 1
        rests_until = anyio.current_time() + REST_S[min(count, len(REST_S)) - 1]
        self._failures[package.id] = _Failures(running.digest, count, words, rests_until)

    def _start_again(self, package: Package) -> bool:
        """Start the version that is accepted now; says whether it did."""
        try:
            return self._start(self._packages.get(package.owner, package.id))
        except PackageNotFound:
            return False

    def _tell_ended(self, package_id: str) -> None:
        for listener in tuple(self._ended):
            listener(package_id)
