"""Search for lines in files; which files, the walk says."""

import os
import re
import stat
import time
from bisect import bisect_right
from collections.abc import Generator, Iterable
from itertools import islice
from typing import NamedTuple

from toolwire.sdk.builtin.isolated.filetypes import FILE_TYPES, globs_of
from toolwire.sdk.builtin.isolated.globs import BadPattern, Matcher, compile_any_name, compile_glob
from toolwire.sdk.builtin.isolated.names import show, walk_notes
from toolwire.sdk.builtin.isolated.request import MAX_OUTPUT, FilterRequest, GrepRequest, Reply
from toolwire.sdk.builtin.isolated.walk import Walk

MAX_FILE_BYTES = 64 * 1024 * 1024
"""Larger files are not searched, and a note says so."""

MAX_LINE = 1000
"""Characters of a line that are shown."""

SNIFFED_BYTES = 8192
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LOOKS_AROUND = re.compile(r"\\[AZzB]|\(\?[^:P#]|[*+?}]\+")
"""Patterns that may be found in a line although they are not found in the whole text."""


class Line(NamedTuple):
    """A line to show: its number (1 is the first), its text, whether something matched in it."""

    number: int
    text: str
    matched: bool


class _Skipped:
    """Why files were not searched."""

    def __init__(self) -> None:
        self.large = 0
        self.unreadable = 0

    def notes(self) -> list[str]:
        notes: list[str] = []
        if self.large:
            notes.append(f"{self.large} files of more than {MAX_FILE_BYTES // 2**20} MiB were not searched")
        if self.unreadable:
            notes.append(f"{self.unreadable} files could not be read")
        return notes


def grep(request: GrepRequest) -> Reply:
    """The files or lines in which the pattern is found.

    Raises:
        BadPattern: the pattern, `glob` or `file_type` is none.
    """
    pattern = compile_pattern(request.pattern, ignore_case=request.ignore_case, multiline=request.multiline)
    walk = Walk(
        request.target.path,
        hidden=request.unrestricted,
        ignored=request.unrestricted,
        until=time.monotonic() + request.budget_s,
    )
    skipped = _Skipped()
    texts = _texts(request, walk, skipped)
    show_lines = {"content": _content, "count": _counts}.get(request.show, _files)
    lines, more = _window(show_lines(request, pattern, texts), request)
    notes = [more] if more else []
    return Reply(lines, notes + walk_notes(walk) + skipped.notes())


def filter_lines(request: FilterRequest) -> Reply:
    """The lines in which the pattern is found.

    Raises:
        BadPattern: the pattern is none.
    """
    pattern = compile_pattern(request.pattern)
    return Reply([line for line in request.lines if pattern.search(line)], [])


def compile_pattern(text: str, *, ignore_case: bool = False, multiline: bool = False) -> re.Pattern[str]:
    """A regular expression as the tools take it.

    Raises:
        BadPattern: it is none; the text says where it goes wrong.
    """
    flags = re.MULTILINE | (re.IGNORECASE if ignore_case else 0) | (re.DOTALL if multiline else 0)
    try:
        return re.compile(text, flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(
            f"{text[:200]!r} is not a regular expression: {error}; to find it as plain text put a backslash before "
            "each of . ^ $ * + ? { } [ ] ( ) | \\"
        ) from None


def _texts(request: GrepRequest, walk: Walk, skipped: _Skipped) -> Generator[tuple[str, str]]:
    """The shown path and the text of each file to search."""
    target = request.target
    if not os.path.isdir(target.path):
        text = _read(target.path, skipped)
        if text is not None:
            yield target.shown, text
        return
    wanted = _chosen(request)
    for file in walk.files():
        if all(choose(file.names) for choose in wanted):
            text = _read(file.path, skipped)
            if text is not None:
                yield show(target.shown, "/".join(file.names)), text


def _chosen(request: GrepRequest) -> list[Matcher]:
    """The conditions on a file's path."""
    conditions: list[Matcher] = []
    if request.file_type is not None:
        globs = globs_of(request.file_type)
        if globs is None:
            raise BadPattern(
                f"there is no file type {request.file_type!r}; use glob, or one of {', '.join(FILE_TYPES)}"
            )
        conditions.append(compile_any_name(globs))
    if request.glob is not None:
        negated = request.glob.startswith("!")
        pattern = request.glob[negated:]
        match = compile_glob(pattern if "/" in pattern else f"**/{pattern}")
        conditions.append((lambda names: not match(names)) if negated else match)
    return conditions


def _read(path: str, skipped: _Skipped) -> str | None:
    """The text of a file, or `None` when it has none."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with os.fdopen(file, "rb") as opened:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                return None
            if status.st_size > MAX_FILE_BYTES:
                skipped.large += 1
                return None
            head = opened.read(SNIFFED_BYTES)
            encoding = "utf-16" if head[:2] in _UTF16 else "utf-8-sig"
            if encoding != "utf-16" and b"\0" in head:
                return None
            return (head + opened.read(MAX_FILE_BYTES)).decode(encoding, "replace").replace("\r\n", "\n")
    except OSError:
        skipped.unreadable += 1
        return None


def _files(request: GrepRequest, pattern: re.Pattern[str], texts: Iterable[tuple[str, str]]) -> Generator[str]:
    for path, text in texts:
        if next(matching_lines(pattern, text, request.multiline), None) is not None:
            yield path


def _counts(request: GrepRequest, pattern: re.Pattern[str], texts: Iterable[tuple[str, str]]) -> Generator[str]:
    for path, text in texts:
        count = sum(1 for _ in matching_lines(pattern, text, request.multiline))
        if count:
            yield f"{path}:{count}"


def _content(request: GrepRequest, pattern: re.Pattern[str], texts: Iterable[tuple[str, str]]) -> Generator[str]:
    apart = bool(request.before or request.after) and not request.only_matching
    first = True
    for path, text in texts:
        for group in _groups(request, pattern, text):
            if apart and not first:
                yield "--"
            first = False
            for line in group:
                mark = ":" if line.matched else "-"
                number = f"{line.number}{mark}" if request.numbers else ""
                yield f"{path}{mark}{number}{_clipped(line.text)}"


def _groups(request: GrepRequest, pattern: re.Pattern[str], text: str) -> Generator[list[Line]]:
    """The lines to show of one file, in stretches without a gap."""
    if request.only_matching:
        yield from ([line] for line in _pieces(pattern, text, request.multiline))
        return
    found = matching_lines(pattern, text, request.multiline)
    lines = split_lines(text)
    if not request.before and not request.after:
        yield from ([Line(index + 1, lines[index], True)] for index in found)
        return
    matched: set[int] = set()
    start = end = 0
    for index in found:
        if matched and index - request.before > end:
            yield _stretch(lines, start, end, matched)
            matched = set()
        if not matched:
            start = max(index - request.before, end)
        matched.add(index)
        end = index + 1 + request.after
    if matched:
        yield _stretch(lines, start, end, matched)


def _stretch(lines: list[str], start: int, end: int, matched: set[int]) -> list[Line]:
    return [Line(at + 1, lines[at], at in matched) for at in range(start, min(end, len(lines)))]


def _pieces(pattern: re.Pattern[str], text: str, multiline: bool) -> Generator[Line]:
    """What matched, without the rest of its line; a piece over several lines is shown as several."""
    if multiline:
        starts = _line_starts(text)
        for match in pattern.finditer(text):
            number = bisect_right(starts, match.start())
            for below, piece in enumerate(match.group().split("\n")):
                if piece:
                    yield Line(number + below, piece, True)
        return
    lines = split_lines(text)
    for index in matching_lines(pattern, text, False):
        for match in pattern.finditer(lines[index]):
            if match.group():
                yield Line(index + 1, match.group(), True)


def matching_lines(pattern: re.Pattern[str], text: str, multiline: bool) -> Generator[int]:
    """The indexes of the lines in which something matches, each once and in order."""
    if multiline:
        starts, after = _line_starts(text), 0
        for match in pattern.finditer(text):
            first = bisect_right(starts, match.start()) - 1
            last = bisect_right(starts, max(match.start(), match.end() - 1)) - 1
            last = min(last, len(starts) - 1)
            yield from range(max(first, after), last + 1)
            after = max(after, last + 1)
        return
    if not _LOOKS_AROUND.search(pattern.pattern) and not pattern.search(text):
        return  # by far the most files: one look at the whole is quicker than one at each line
    for index, line in enumerate(split_lines(text)):
        if pattern.search(line):
            yield index


def split_lines(text: str) -> list[str]:
    """The lines of a text; an end of line at the very end begins no further one."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at != -1:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if len(starts) > 1 and starts[-1] == len(text):
        starts.pop()
    return starts


def _window(lines: Iterable[str], request: GrepRequest) -> tuple[list[str], str]:
    """The lines from `offset` on that fit, and what to do for the rest."""
    shown: list[str] = []
    size = 0
    for line in islice(lines, request.offset, None):
        if (request.head_limit and len(shown) >= request.head_limit) or size > MAX_OUTPUT:
            return shown, f"there is more; go on with offset={request.offset + len(shown)}, or search more narrowly"
        shown.append(line)
        size += len(line) + 1
    return shown, ""


def _clipped(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… [{len(line) - MAX_LINE} more characters]"
