"""What changed between two versions of a file, as a unified diff and as lines to look at; it touches no files.

`difflib` alone can take minutes over large files, so what both versions begin and end with is set aside first, and a
middle that is still large is shown as replaced in one piece.
"""

import io
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

CONTEXT_LINES = 3
CLOSE_LOOK = 1_000_000
"""Up to this product of old and new lines, the middle is compared line by line."""

MAX_SNIPPET_LINES = 60

_Step: TypeAlias = tuple[str, int, int, int, int]


class Change(NamedTuple):
    """The lines from `start` (0-based) that differ: those of the old version and those of the new one."""

    start: int
    before: list[str]
    after: list[str]


class Diff(NamedTuple):
    """A unified diff, and how many lines it adds and removes."""

    text: str
    added: int
    removed: int


def lines_of(text: str) -> list[str]:
    r"""The lines with their ends; only `\n` ends one, as `Read` counts them."""
    return io.StringIO(text).readlines()


def changed(old: list[str], new: list[str]) -> Change:
    """The smallest stretch of lines outside which both versions are the same."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Change(start, old[start : len(old) - end], new[start : len(new) - end])


def unified(path: str, before: str, after: str) -> Diff:
    """The unified diff of `path`; an empty text when nothing changed."""
    lines = lines_of(before)
    change = changed(lines, lines_of(after))
    first = max(0, change.start - CONTEXT_LINES)
    lead = lines[first : change.start]
    tail = lines[change.start + len(change.before) :][:CONTEXT_LINES]
    old, new = lead + change.before + tail, lead + change.after + tail
    parts: list[str] = []
    added = removed = 0
    for group in _groups(change, old, new, len(lead), len(tail)):
        parts.append(_heading(group, first))
        for kind, low, high, new_low, new_high in group:
            if kind == "equal":
                parts += [_line(" ", line) for line in old[low:high]]
                continue
            parts += [_line("-", line) for line in old[low:high]]
            parts += [_line("+", line) for line in new[new_low:new_high]]
            removed += high - low
            added += new_high - new_low
    if not parts:
        return Diff("", 0, 0)
    return Diff(f"--- a/{path}\n+++ b/{path}\n{''.join(parts)}", added, removed)


def numbered(lines: Iterable[str], first: int) -> str:
    """`lines` as `cat -n` shows them, `first` being the number of the first one."""
    return "\n".join(f"{number:>6}\t{line.rstrip(chr(10))}" for number, line in enumerate(lines, first))


def snippet(before: str, after: str) -> str:
    """The changed lines of the new version with some around them, numbered; the middle of a long stretch left out."""
    lines = lines_of(after)
    change = changed(lines_of(before), lines)
    first = max(0, change.start - CONTEXT_LINES)
    last = min(len(lines), change.start + len(change.after) + CONTEXT_LINES)
    if last - first <= MAX_SNIPPET_LINES:
        return numbered(lines[first:last], first + 1)
    half = MAX_SNIPPET_LINES // 2
    return (
        f"{numbered(lines[first : first + half], first + 1)}\n"
        f"       … {last - first - 2 * half} lines …\n"
        f"{numbered(lines[last - half : last], last - half + 1)}"
    )


def _groups(change: Change, old: list[str], new: list[str], lead: int, tail: int) -> list[list[_Step]]:
    if not change.before and not change.after:
        return []
    if len(change.before) * len(change.after) > CLOSE_LOOK:
        high, new_high = len(old) - tail, len(new) - tail
        return [
            [
                ("equal", 0, lead, 0, lead),
                ("replace", lead, high, lead, new_high),
                ("equal", high, len(old), new_high, len(new)),
            ]
        ]
    from difflib import SequenceMatcher  # noqa: PLC0415 - needed when a file is changed, not at import

    return [*SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES)]


def _heading(group: list[_Step], first: int) -> str:
    _, low, _, new_low, _ = group[0]
    _, _, high, _, new_high = group[-1]
    return f"@@ -{_span(first, low, high)} +{_span(first, new_low, new_high)} @@\n"


def _span(first: int, low: int, high: int) -> str:
    count = high - low
    return f"{first + low + (count > 0)},{count}"


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
