"""What is shown on stderr while a call is waited for."""

import io

import anyio

from toolwire.cli.progress import ProgressLine


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.written = anyio.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if "page 2" in text:
            self.written.set()
        return super().write(text)


async def test_a_terminal_gets_one_line_that_is_redrawn_and_taken_away():
    terminal = Terminal()
    line = ProgressLine("summarize", terminal)

    async with line.shown():
        await line.update(2, 10, "page 2")
        with anyio.fail_after(5):
            await terminal.written.wait()

    shown = terminal.getvalue()
    assert "summarize 2/10 0 s  page 2" in shown
    assert "\n" not in shown
    assert shown.endswith("\r\x1b[K")


async def test_a_long_message_stays_within_the_line():
    terminal = Terminal()
    line = ProgressLine("t", terminal)

    async with line.shown():
        await line.update(1, None, "page 2 " + "x" * 1000)
        with anyio.fail_after(5):
            await terminal.written.wait()

    assert max(len(drawn) for drawn in terminal.getvalue().split("\r\x1b[K")) < 200


async def test_elsewhere_each_message_is_a_line():
    out = io.StringIO()
    line = ProgressLine("t", out)

    async with line.shown():
        await line.update(1, 2, "one\n  line")
        await line.update(2, 2, None)

    assert out.getvalue() == "t 1/2: one line\n"
