"""The machine's Chromium for the benchmark of the page: signs in, and loads a board with nothing cached."""

import contextlib
import os
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import machine
from benchmarks.board_traffic import Board
from benchmarks.launcher import LaunchError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SCREEN = {"width": 1280, "height": 800}
PATIENCE_MS = 60_000

READY = """(cards) => new Promise((done) => {
  const look = () => {
    const shown = document.querySelectorAll(".react-flow__node").length;
    if (shown < cards) requestAnimationFrame(look);
    else requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)); // drawn, with nothing before it
  };
  look();
})"""
LOADED = """() => performance.getEntriesByType("resource").map((entry) =>
  [entry.name, entry.transferSize, entry.initiatorType])"""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A page after a cold load.

    Attributes:
        ready_s: seconds from the navigation until all cards were drawn and the page was idle enough to take an event.
        script_bytes: the size of the scripts that came first, as they were transferred.
        all_bytes: the same of everything.
    """

    page: Page
    ready_s: float
    script_bytes: int
    all_bytes: int


@contextmanager
def browser() -> Generator[Browser]:
    """A Chromium without a screen of its own.

    Raises:
        LaunchError: the machine has none.
    """
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise LaunchError("no Chromium is installed; on Debian and Ubuntu: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info", "--js-flags=--expose-gc"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield started
        finally:
            started.close()


def hurry(nice: int) -> None:
    """Give all processes of the browser that niceness; it has its own idea of it whenever a page comes or goes."""
    if nice:
        for pid in _below(os.getpid()):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                machine.set_nice(pid, nice)


def _below(pid: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have."""
    for task in Path("/proc").glob(f"{pid}/task/*/children"):
        with contextlib.suppress(OSError):
            for child in task.read_text().split():
                yield int(child)
                yield from _below(int(child))


def signed_in(started: Browser, board: Board) -> Any:
    """The cookies of a browser in which the owner has signed in."""
    context = started.new_context()
    page = context.new_page()
    page.goto(board.ask("POST", "/sign-in-links")["url"])
    page.get_by_role("button").first.click()
    page.wait_for_url(lambda url: "/sign-in" not in url)
    state = context.storage_state()
    context.close()
    return state


def cold_load(started: Browser, board: Board, state: Any, nice: int = 0) -> Loaded:
    """Load a board in a browser that has never been here, but for its cookies."""
    context = started.new_context(storage_state=state, viewport=SCREEN)  # pyright: ignore[reportArgumentType]
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    hurry(nice)
    page.goto(f"{board.url}/w/{board.workspace}", wait_until="commit")
    hurry(nice)
    ready_ms = page.evaluate(READY, board.cards)
    entries: list[tuple[str, int, str]] = page.evaluate(LOADED)
    scripts = sum(size for name, size, _ in entries if name.endswith(".js"))
    return Loaded(page, ready_ms / 1000, scripts, sum(size for _, size, _ in entries))
