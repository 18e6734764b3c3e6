"""The files below a directory that a search looks at; it opens none of them."""

import os
import time
from collections.abc import Generator, Sequence
from typing import NamedTuple

from toolwire.sdk.builtin.isolated.ignores import Ignores, is_ignored, read_ignores, rules_above


class Found(NamedTuple):
    """A regular file: where it is, and its names below the root of the walk."""

    path: str
    names: tuple[str, ...]


class Walk:
    """One way through a tree, in the order of names. Links are not followed, so it ends.

    Attributes:
        stopped: whether the time was over before everything was seen.
        unreadable: how many directories could not be listed.
    """

    def __init__(self, root: str, *, hidden: bool, ignored: bool, until: float) -> None:
        """Walk `root`, with `hidden` and with git-`ignored` files or without, until this moment of `time.monotonic`."""
        self.stopped = False
        self.unreadable = 0
        self._root = root
        self._hidden = hidden
        self._ignored = ignored
        self._until = until

    def files(self) -> Generator[Found]:
        """The files, one by one."""
        above = [] if self._ignored else rules_above(self._root)
        waiting: list[tuple[str, tuple[str, ...], list[Ignores]]] = [(self._root, (), above)]
        while waiting:
            if time.monotonic() > self._until:
                self.stopped = True
                return
            directory, names, stack = waiting.pop()
            own = None if self._ignored else read_ignores(directory, len(names))
            stack = stack if own is None else [*stack, own]
            below: list[tuple[str, tuple[str, ...], list[Ignores]]] = []
            for entry in self._entries(directory):
                inner = (*names, entry.name)
                if not self._wanted(entry, inner, stack):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    below.append((entry.path, inner, stack))
                elif entry.is_file(follow_symlinks=False):
                    yield Found(entry.path, inner)
            waiting += reversed(below)

    def _entries(self, directory: str) -> "list[os.DirEntry[str]]":
        try:
            with os.scandir(directory) as listed:
                return sorted(listed, key=lambda entry: entry.name)
        except OSError:
            self.unreadable += 1
            return []

    def _wanted(self, entry: "os.DirEntry[str]", names: tuple[str, ...], stack: Sequence[Ignores]) -> bool:
        if entry.name == ".git":
            return False
        if entry.name.startswith(".") and not self._hidden:
            return False
        return not stack or not is_ignored(stack, names, entry.is_dir(follow_symlinks=False))
