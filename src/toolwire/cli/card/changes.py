"""Notices that something in a card's folder has changed, by looking at it; it reads no file."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

import anyio
import anyio.to_thread

from toolwire.canvas.package_tree import PASSED_OVER

LOOK_EVERY_S: Final = 0.3

Seen: TypeAlias = Mapping[str, tuple[int, int]]
"""When each file was last written (nanoseconds) and its size, by its path."""


def look(folder: Path) -> Seen:
    """The files of a folder as they are now, without those that are never part of a package."""
    seen: dict[str, tuple[int, int]] = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in PASSED_OVER]
        for name in names:
            path = os.path.join(root, name)
            try:
                about = os.stat(path)
            except OSError:  # it went away while we looked
                continue
            seen[path] = about.st_mtime_ns, about.st_size
    return seen


async def changed(folder: Path, since: Seen, look_every_s: float = LOOK_EVERY_S) -> None:
    """Wait until the folder is not as it was, and has come to rest: whoever writes one file often writes another."""
    before = since
    while True:
        await anyio.sleep(look_every_s)
        now = await anyio.to_thread.run_sync(look, folder)
        if now == before and now != since:
            return
        before = now
