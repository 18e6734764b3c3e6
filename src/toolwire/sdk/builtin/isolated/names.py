"""Search for files by name; it opens none."""

import os
import time

from toolwire.sdk.builtin.isolated.globs import compile_glob
from toolwire.sdk.builtin.isolated.request import GlobRequest, Reply
from toolwire.sdk.builtin.isolated.walk import Found, Walk

_WILD = frozenset("*?[{\\")


def glob(request: GlobRequest) -> Reply:
    """The files whose path below the target matches the pattern, those changed last first.

    Raises:
        BadPattern: the pattern is none.
    """
    matches = compile_glob(request.pattern)
    names = [name for name in request.pattern.split("/") if name not in ("", ".")]
    literal = _literal_start(names)
    root = os.path.join(request.target.path, *literal)
    hidden = any(name.startswith(".") for name in names)
    walk = Walk(root, hidden=hidden, ignored=False, until=time.monotonic() + request.budget_s)
    found = [
        (_changed_at(file), "/".join((*literal, *file.names)))
        for file in walk.files()
        if matches((*literal, *file.names))
    ]
    found.sort(key=lambda item: (-item[0], item[1]))
    lines = [show(request.target.shown, name) for _, name in found[: request.limit]]
    notes: list[str] = []
    if len(found) > len(lines):
        notes.append(f"showing the {len(lines)} files changed last of {len(found)}; use a narrower pattern")
    return Reply(lines, notes + walk_notes(walk))


def show(shown: str, name: str) -> str:
    """A path below the target, in the words of the workspace."""
    return f"{shown.rstrip('/')}/{name}" if shown else name


def walk_notes(walk: Walk) -> list[str]:
    """What a walk has to say about itself."""
    notes: list[str] = []
    if walk.stopped:
        notes.append("the time was over before everything was searched; give a narrower path or pattern")
    if walk.unreadable:
        notes.append(f"{walk.unreadable} directories could not be listed")
    return notes


def _literal_start(names: list[str]) -> list[str]:
    """The directories that the pattern names outright: the walk can begin below them."""
    literal: list[str] = []
    for name in names[:-1]:
        if _WILD & set(name):
            break
        literal.append(name)
    return literal


def _changed_at(file: Found) -> float:
    try:
        return os.lstat(file.path).st_mtime
    except OSError:
        return 0.0
