"""cards.md §7, 60: a program with all that it starts, what it prints, and its end."""

import os
import sys
from pathlib import Path

import anyio
import pytest

from tests.pids import until_gone
from toolwire.canvas import child_process
from toolwire.canvas.child_process import Source, run_to_end

ENVIRONMENT = {"PATH": os.environ["PATH"]}

FORKING = """
import os, sys, time
if os.fork() == 0:
    {apart}
    print(os.getpid(), flush=True)
    time.sleep(600)
"""


class Printed:
    """The lines of a program."""

    def __init__(self) -> None:
        self.lines: list[tuple[Source, str]] = []
        self._news = anyio.Event()

    def take(self, line: str, source: Source) -> None:
        self.lines.append((source, line))
        self._news.set()

    async def first(self) -> str:
        with anyio.fail_after(10):
            while not self.lines:
                self._news = anyio.Event()
                await self._news.wait()
        return self.lines[0][1]

    def of(self, source: Source) -> list[str]:
        return [line for printed, line in self.lines if printed == source]


async def run(code: str, printed: Printed, folder: Path) -> int:
    with anyio.fail_after(30):
        return await run_to_end((sys.executable, "-c", code), folder, ENVIRONMENT, printed.take)


async def test_lines_come_as_they_are_printed_and_the_code_at_the_end(tmp_path: Path) -> None:
    printed = Printed()
    code = """
import os, sys
print("one\\r", flush=True)
print("   ", flush=True)
print("two", file=sys.stderr)
sys.stdout.buffer.write(b"\\xff three without an end")
assert os.listdir() == [] and "SECRET" not in os.environ
sys.stdout.flush()
os._exit(7 if sys.stdin.read() == "" else 1)
"""
    assert await run(code, printed, tmp_path) == 7
    assert printed.of("stdout") == ["one", "\ufffd three without an end"]
    assert printed.of("stderr") == ["two"]


async def test_ten_megabytes_come_through_without_being_kept(tmp_path: Path) -> None:
    printed = Printed()
    assert await run("print('x' * 10_000_000); print('last')", printed, tmp_path) == 0
    assert printed.of("stdout") == ["x" * child_process.MAX_LINE_CHARS, "last"]
    assert await run("print('y\\n' * 2_000_000); print('last')", printed, tmp_path) == 0
    assert printed.of("stdout")[-1] == "last"
    assert len(printed.lines) < 1_000_000


@pytest.mark.parametrize("apart", ["pass", "os.setsid()"])
async def test_a_child_that_outlives_the_program_does_not_hold_it_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, apart: str
) -> None:
    monkeypatch.setattr(child_process, "DRAIN_S", 0.2)
    printed = Printed()
    assert await run(FORKING.format(apart=apart) + "\nelse: time.sleep(0.3)", printed, tmp_path) == 0
    pid = int(await printed.first())
    if apart == "pass":
        await until_gone(pid)
    else:  # it has gone its own way, which is its right
        os.kill(pid, 9)


async def test_what_is_cancelled_is_ended_with_its_children_even_if_it_will_not_hear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child_process, "STOP_S", 0.1)
    printed, pid = Printed(), 0
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    code = deaf + FORKING.format(apart="pass") + "\nelse: time.sleep(600)"
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, code, printed, tmp_path)
        pid = int(await printed.first())
        tasks.cancel_scope.cancel()
    await until_gone(pid)


async def test_what_is_cancelled_may_end_by_itself(tmp_path: Path) -> None:
    code = """
import signal, sys, time
def end(*_):
    open("said", "w").write("goodbye")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
time.sleep(600)
"""
    printed = Printed()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run, code, printed, tmp_path)
        await printed.first()
        tasks.cancel_scope.cancel()
    assert (tmp_path / "said").read_text() == "goodbye"


async def test_a_program_that_a_signal_ends_has_its_negative_number(tmp_path: Path) -> None:
    assert await run("import os; os.kill(os.getpid(), 9)", Printed(), tmp_path) == -9


async def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_to_end((str(tmp_path / "gone"),), tmp_path, ENVIRONMENT, Printed().take)
