"""Glob patterns for file names, matched in time that grows only with the length of the name; it reads no files."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias

MAX_CHOICES = 1000
"""Patterns that one pattern with braces may stand for."""

ANY_DEPTH = "**"

Segment: TypeAlias = "re.Pattern[str] | None"
"""How one name of a path is matched; `None` stands for any number of names."""

Matcher: TypeAlias = Callable[[Sequence[str]], bool]


class BadPattern(ValueError):
    """A pattern that cannot be; the text says why."""


def compile_glob(pattern: str, ignore_case: bool = False) -> Matcher:
    """A function that tells whether the names of a path, in order, match `pattern`.

    Raises:
        BadPattern: too many choices in braces, or a range that is none.
    """
    choices = [_segments(choice, ignore_case) for choice in expand_braces(pattern)]
    if any(len(segments) != 2 or segments[0] is not None for segments in choices):
        return lambda names: any(match_segments(segments, names) for segments in choices)
    last = [name for _, name in choices if name is not None]  # "**/*.py" and its like: only the last name counts
    return lambda names: any(name.match(names[-1]) for name in last)


def compile_any_name(patterns: Sequence[str]) -> Matcher:
    """A function that tells whether the last name of a path matches one of `patterns`, which have no `/` in them.

    Raises:
        BadPattern: a character range is the wrong way round.
    """
    last = [compile_segment(pattern) for pattern in patterns]
    return lambda names: any(name.match(names[-1]) for name in last)


def expand_braces(pattern: str) -> list[str]:
    """The patterns without braces that `pattern` stands for; a brace that does not close means itself.

    Raises:
        BadPattern: they are too many.
    """
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop()
        found = _first_brace(current)
        if found is None:
            done.append(current)
        else:
            start, commas, end = found
            inner = [current[low + 1 : high] for low, high in pairwise((start, *commas, end))]
            waiting += [current[:start] + choice + current[end + 1 :] for choice in reversed(inner)]
        if len(done) + len(waiting) > MAX_CHOICES:
            raise BadPattern(f"the braces in {pattern!r} stand for more than {MAX_CHOICES} patterns; use fewer")
    return done


def match_segments(segments: Sequence[Segment], names: Sequence[str]) -> bool:
    """Whether `names` match from the first to the last."""
    reached = {0}
    for segment in segments:
        if segment is None:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and segment.match(names[at])}
        if not reached:
            return False
    return len(names) in reached


def compile_segment(text: str, ignore_case: bool = False) -> re.Pattern[str]:
    """The regular expression of one name's pattern.

    After a `*` the first place where the next piece fits is taken for good (an atomic group), because for a glob a
    later place is never better; without it `*a*a*a*a` would take exponential time.

    Raises:
        BadPattern: a character range is the wrong way round.
    """
    pieces = [""]
    at = 0
    while at < len(text):
        piece, at = _atom(text, at)
        if piece is None:
            pieces.append("")
        else:
            pieces[-1] += piece
    first, *rest = pieces
    middle = "".join(f"(?>.*?{piece})" for piece in rest[:-1] if piece)
    last = f".*{rest[-1]}" if rest else ""
    try:
        return re.compile(rf"(?s:{first}{middle}{last})\Z", re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise BadPattern(f"bad pattern {text!r}: {error}") from None


def _segments(pattern: str, ignore_case: bool) -> list[Segment]:
    segments: list[Segment] = []
    for name in pattern.split("/"):
        if name in ("", "."):
            continue
        if name != ANY_DEPTH:
            segments.append(compile_segment(name, ignore_case))
        elif not segments or segments[-1] is not None:
            segments.append(None)
    return segments


def _atom(text: str, at: int) -> tuple[str | None, int]:
    """The next piece as a regular expression, `None` for a star, and where to go on."""
    char = text[at]
    if char == "*":
        while at < len(text) and text[at] == "*":
            at += 1
        return None, at
    if char == "?":
        return ".", at + 1
    if char == "\\" and at + 1 < len(text):
        return re.escape(text[at + 1]), at + 2
    if char == "[":
        return _bracket(text, at)
    return re.escape(char), at + 1


def _bracket(text: str, at: int) -> tuple[str, int]:
    start = at + 1
    negated = text[start : start + 1] in ("!", "^")
    start += negated
    end = text.find("]", start + 1)  # a ] that comes first means itself
    if end == -1:
        return r"\[", at + 1
    inside = text[start:end].replace("\\", r"\\").replace("[", r"\[").replace("]", r"\]").replace("^", r"\^")
    for doubled in ("&&", "||", "~~", "--"):
        inside = inside.replace(doubled, f"\\{doubled[0]}\\{doubled[1]}")
    return f"[{'^' if negated else ''}{inside}]", end + 1


def _first_brace(pattern: str) -> tuple[int, list[int], int] | None:
    """Where the first group in braces begins, its commas and its end; a group without a comma means itself."""
    opened: list[tuple[int, list[int]]] = []
    best: tuple[int, list[int], int] | None = None
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "\\":
            at += 1
        elif char == "{":
            opened.append((at, []))
        elif char == "," and opened:
            opened[-1][1].append(at)
        elif char == "}" and opened:
            start, commas = opened.pop()
            if commas and (best is None or start < best[0]):
                best = (start, commas, at)
        at += 1
    return best
