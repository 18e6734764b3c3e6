"""A text file as a model reads it, a window of numbered lines at a time; it does not know what was asked of `Read`."""

import os
from collections.abc import Generator, Iterator
from typing import BinaryIO, NamedTuple

from toolwire.sdk.builtin.diffing import lines_of

SNIFFED_BYTES = 8192
MAX_LINES = 2000
"""Lines of a window unless more are asked for."""

MAX_LINE = 2000
"""Characters of a line that are shown."""

MAX_TOKENS = 25_000
MAX_COUNTED_BYTES = 2 * 1024**3
"""Of a larger file, nobody counts the lines."""

_CHUNK = 1024 * 1024
_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Decoded(NamedTuple):
    """The text of a file; `exact` says that encoding it again gives the very same bytes.

    `newline` is the end of line that the file uses, and `text` has a bare line feed in its place when it uses one only.
    """

    text: str
    encoding: str
    newline: str
    exact: bool

    def encode(self, text: str) -> bytes:
        """Another text as a file of this kind.

        Raises:
            UnicodeEncodeError: it has lone surrogates.
        """
        if self.newline != "\n":
            text = text.replace("\n", self.newline)
        return text.encode(self.encoding)


class Window(NamedTuple):
    """Lines of a file: the number of the first, their texts (cut where long), and how many lines the file has.

    `total` is `None` when that is not known. `ended_early` says that fewer came than were asked for.
    """

    first: int
    lines: list[str]
    total: int | None
    ended_early: bool

    @property
    def next(self) -> int:
        """The number of the line after the last one shown."""
        return self.first + len(self.lines)


def is_text(head: bytes) -> bool:
    """Whether a file that begins so is text."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" not in head


def decode(body: bytes) -> Decoded:
    """The text of a whole file; what is not in its encoding becomes U+FFFD, and the text is not exact then."""
    encoding = encoding_of(body)
    text = body.decode(encoding, "replace")
    crlf = text.count("\r\n")
    newline = "\r\n" if crlf and crlf == text.count("\n") else "\n"
    if newline == "\r\n":
        text = text.replace("\r\n", "\n")
    decoded = Decoded(text, encoding, newline, True)
    return decoded._replace(exact=_same(decoded, body))


def encoding_of(head: bytes) -> str:
    """The encoding by the mark at the beginning; UTF-8 without one."""
    return next((encoding for mark, encoding in _BOMS if head.startswith(mark)), "utf-8")


def window_of(text: str, offset: int, limit: int) -> Window:
    """The lines from `offset` (1 is the first) on: at most `limit`, and no more than a model takes at once."""
    lines = lines_of(text)
    shown, ended_early = _fitting(iter(lines[offset - 1 : offset - 1 + limit]))
    return Window(offset, shown, len(lines), ended_early)


def window_of_file(file: BinaryIO, offset: int, limit: int) -> Window:
    """The same of an open file that is too large to be taken into memory; it must be UTF-8."""
    for _ in range(offset - 1):
        if not _next_line(file):
            break
    shown, ended_early = _fitting(_decoded_lines(file, limit))
    counted = _count_lines(file)
    return Window(offset, shown, counted, ended_early)


def shown_line(line: str) -> str:
    """A line without its end, cut where it is too long to be shown."""
    line = line.rstrip("\n").removesuffix("\r")
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… [{len(line) - MAX_LINE} more characters]"


def tokens(text: str) -> float:
    """About how many tokens a model takes for `text`: four ASCII characters make one, any other character is one."""
    if text.isascii():
        return len(text) / 4
    ascii_count = len(text.encode("ascii", "ignore"))
    return ascii_count / 4 + (len(text) - ascii_count)


def _same(decoded: Decoded, body: bytes) -> bool:
    try:
        return decoded.encode(decoded.text) == body
    except UnicodeEncodeError:
        return False


def _fitting(lines: Iterator[str]) -> tuple[list[str], bool]:
    """As many lines as a model takes at once, the first one always; and whether there were more."""
    shown: list[str] = []
    size = 0.0
    for line in lines:
        text = shown_line(line)
        size += tokens(text) + 2  # the number and the tab
        if shown and size > MAX_TOKENS:
            return shown, True
        shown.append(text)
    return shown, False


def _decoded_lines(file: BinaryIO, limit: int) -> Generator[str]:
    for _ in range(limit):
        line = _next_line(file)
        if not line:
            return
        yield line.decode("utf-8", "replace")


def _next_line(file: BinaryIO) -> bytes:
    """The next line, of which no more than a piece is kept; empty at the end of the file."""
    kept = line = file.readline(_CHUNK)
    while line and not line.endswith(b"\n"):
        line = file.readline(_CHUNK)
    return kept if not line else kept.rstrip(b"\n") + b"\n"


def _count_lines(file: BinaryIO) -> int | None:
    """The lines of the whole file, or `None` where that would take long."""
    size = os.fstat(file.fileno()).st_size
    if size > MAX_COUNTED_BYTES:
        return None
    file.seek(0)
    count, last = 0, b""
    while chunk := file.read(_CHUNK):
        count += chunk.count(b"\n")
        last = chunk[-1:]
    return count + (last not in (b"", b"\n"))
