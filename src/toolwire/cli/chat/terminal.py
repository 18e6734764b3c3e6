"""The terminal that a person talks at: lines in, text out; it knows nothing of agents.

What is printed may come from a model or a tool, so control characters are taken out of it: a text must not move the
cursor, recolour what stands above it, or pass for a question of ours.
"""

import contextlib
import io
import os
import re
import sys
from collections.abc import Generator
from typing import Final, Protocol, TextIO

PLAIN: Final = ""
BOLD: Final = "1"
DIM: Final = "2"
RED: Final = "31"
YELLOW: Final = "33"
CYAN: Final = "36"

_CONTROL: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[^\S\n\t ]|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
)
_BIDI: Final = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


class Terminal(Protocol):
    """Where a conversation takes place."""

    def read(self, prompt: str, draft: str = "") -> str:
        """The next line, without its end; `draft` stands there to be edited where the terminal can do that.

        Raises:
            EOFError: there are no more.
            KeyboardInterrupt: Ctrl-C.
        """
        ...

    def write(self, text: str, style: str = PLAIN) -> None:
        """Show a text as it is, without an end of line of its own."""
        ...


class Tty:
    """Standard input and output: a terminal with line editing, or pipes.

    Args:
        source: where lines come from.
        out: where text goes; without colours unless it is a terminal, or if `NO_COLOR` is set.
    """

    def __init__(self, source: TextIO | None = None, out: TextIO | None = None) -> None:
        self._source = source or sys.stdin
        self._out = out or sys.stdout
        self._styled = self._out.isatty() and not os.environ.get("NO_COLOR")
        self._edits = source is None and self._source.isatty() and self._out.isatty()
        for stream in (self._source, self._out):
            if isinstance(stream, io.TextIOWrapper):  # a locale without these letters must not end the conversation
                stream.reconfigure(errors="replace")

    def read(self, prompt: str, draft: str = "") -> str:
        """See `Terminal`."""
        if self._edits:
            with _drafted(draft):
                return input(prompt)
        line = self._source.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")

    def write(self, text: str, style: str = PLAIN) -> None:
        """See `Terminal`."""
        self._out.write(f"\x1b[{style}m{text}\x1b[0m" if style and self._styled else text)
        self._out.flush()


def clean(text: str) -> str:
    """The text without control characters other than line ends and tabs."""
    return _BIDI.sub("", _CONTROL.sub("", text.replace("\r\n", "\n").replace("\u2028", "\n").replace("\u2029", "\n")))


@contextlib.contextmanager
def _drafted(draft: str) -> Generator[None]:
    """Let `input` begin with a text that can be edited; without readline it begins empty."""
    try:
        import readline
    except ImportError:  # not everywhere
        yield
        return
    if draft:
        readline.set_startup_hook(lambda: readline.insert_text(draft))
    try:
        yield
    finally:
        readline.set_startup_hook()
