"""What a terminal shows, as plain text: escape sequences are carried out as far as text needs them, and left out.

It is no screen: lines are as long as they were written, and colours do not exist.
"""

import re
from typing import Final

_ROWS: Final = 60
"""Of the largest screen whose cells a program can mean."""
_COLUMNS: Final = 300
_TOKENS: Final = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<params>[0-?]*)[ -/]*(?P<final>[@-~])"
    r"|\x1b[\]PX^_](?:[^\x07\x1b]{0,4096}(?:\x07|\x1b\\))?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])"
)
MAX_LINE_CHARS: Final = 20_000
"""Of a line; what is written beyond it is not kept."""


def rendered(data: bytes) -> str:
    """The text that was printed: lines as they are in the end, however often they were written over."""
    if b"\x1b" not in data and b"\b" not in data and data.count(b"\r") == data.count(b"\r\n"):
        return _without_controls(data.decode("utf-8", "replace").replace("\r\n", "\n"))
    paper = _Paper()
    for token in _TOKENS.finditer(data.decode("utf-8", "replace")):
        if token["text"] is not None:
            paper.write(token["text"])
        elif token["control"] is not None:
            paper.control(token["control"])
        elif token["final"] is not None:
            paper.sequence(token["final"], token["params"])
    return paper.text()


class Kept:
    """Output of which the beginning and the end are kept.

    Attributes:
        left_out: how many bytes between them are not.
    """

    def __init__(self, max_bytes: int) -> None:
        self._half = max_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0

    def append(self, data: bytes) -> None:
        """Keep what was printed."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        if len(self._tail) > 2 * self._half:
            self._trim()

    def text(self) -> str:
        """What was printed, as text, with a line where something was left out."""
        self._trim()
        if not self.left_out:
            return rendered(bytes(self._head + self._tail))
        words = f"… {self.left_out} bytes of output were left out here …"
        return f"{rendered(bytes(self._head))}\n{words}\n{rendered(_whole_characters(bytes(self._tail)))}"

    def _trim(self) -> None:
        too_many = len(self._tail) - self._half
        if too_many > 0:
            del self._tail[:too_many]
            self.left_out += too_many


def _whole_characters(data: bytes) -> bytes:
    """Without the last bytes of a character whose first ones were left out."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


_CONTROLS: Final = dict.fromkeys((*range(9), *range(11, 32), *range(127, 160)))


def _without_controls(text: str) -> str:
    return text.translate(_CONTROLS)


class _Paper:
    """Lines, and where the next character goes. `top` is the line at the upper edge of the screen."""

    def __init__(self) -> None:
        self._lines = [""]
        self._row = 0
        self._column = 0
        self._top = 0
        self._saved = (0, 0)
        self._beside: tuple[int, int] | None = None

    def text(self) -> str:
        return "\n".join(line.rstrip(" ") if line.endswith("  ") else line for line in self._lines)

    def write(self, text: str) -> None:
        text = text[: max(MAX_LINE_CHARS - self._column, 0)]
        line, end = self._lines[self._row], self._column + len(text)
        self._lines[self._row] = f"{line[: self._column].ljust(self._column)}{text}{line[end:]}"
        self._column = end

    def control(self, control: str) -> None:
        match control:
            case "\n" | "\x0b" | "\x0c":  # the terminal driver sends \r before it where a line begins anew
                self._to(self._row + 1, self._column)
            case "\r":
                self._column = 0
            case "\b":
                self._column = max(self._column - 1, 0)
            case "\t":
                self.write(" " * (8 - self._column % 8))
            case _:
                pass

    def sequence(self, final: str, params: str) -> None:
        if params[:1] in ("?", ">", "=", "<"):
            if params in ("?1049", "?1047", "?47") and final in "hl":
                self._switch(final == "h")
            return
        numbers = [int(part) if part.isdigit() and len(part) < 6 else 0 for part in params.split(";")]
        if final in "ABCDEFGHfsu":
            self._move(final, numbers)
        elif final in "JKP":
            self._erase(final, numbers[0])

    def _move(self, final: str, numbers: list[int]) -> None:
        count = max(numbers[0], 1)
        match final:
            case "A" | "F":
                self._to(max(self._row - count, self._top), self._column if final == "A" else 0)
            case "B" | "E":
                self._to(min(self._row + count, len(self._lines) - 1), self._column if final == "B" else 0)
            case "C" | "D":
                wanted = self._column + (count if final == "C" else -count)
                self._column = min(max(wanted, 0), max(self._column, _COLUMNS))
            case "G":
                self._column = min(count - 1, _COLUMNS)
            case "s":
                self._saved = (self._row, self._column)
            case "u":
                self._to(*self._saved)
            case _:
                self._home(count, max(numbers[1], 1) if len(numbers) > 1 else 1)

    def _erase(self, final: str, number: int) -> None:
        if final == "J":
            self._erase_screen(number)
        elif final == "K":
            self._erase_line(number)
        else:
            line = self._lines[self._row]
            self._lines[self._row] = line[: self._column] + line[self._column + max(number, 1) :]

    def _to(self, row: int, column: int) -> None:
        while row >= len(self._lines):
            self._lines.append("")
        self._column = column if row == self._row else min(column, _COLUMNS)
        self._row = row

    def _home(self, row: int, column: int) -> None:
        self._top = max(self._top, len(self._lines) - _ROWS)
        self._to(self._top + min(row, _ROWS) - 1, min(column - 1, _COLUMNS))

    def _erase_line(self, how: int) -> None:
        line = self._lines[self._row]
        if how == 0:
            self._lines[self._row] = line[: self._column]
        elif how == 1:
            self._lines[self._row] = " " * self._column + line[self._column :]
        else:
            self._lines[self._row] = ""

    def _erase_screen(self, how: int) -> None:
        """What a cleared screen has shown stays above, as in a scrolling window."""
        if how == 0:
            del self._lines[self._row + 1 :]
            self._erase_line(0)
        elif how >= 2 and any(self._lines[self._top :]):
            self._to(len(self._lines), self._column)
            self._top = self._row

    def _switch(self, begins: bool) -> None:
        """A program takes the whole screen, and gives it back as it was."""
        if begins and self._beside is None:
            self._beside = (self._row, self._column)
            self._lines.append("")
            self._row = self._top = len(self._lines) - 1
            self._column = 0
        elif not begins and self._beside is not None:
            del self._lines[max(self._top, self._beside[0] + 1) :]
            self._row, self._column = self._beside
            self._top, self._beside = max(0, len(self._lines) - _ROWS), None
