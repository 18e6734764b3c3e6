"""Signals for everything that a command started, whatever group or session it moved to; it starts nothing.

A process group is not enough: a command may start others in sessions of their own. So each command has a mark in its
environment, which its descendants inherit, and on Linux they are found by it.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress

MARK = "TOOLWIRE_SHELL"
FINDS_MARKED = sys.platform == "linux"

_ROUNDS = 20
"""A process may fork while it is looked for; after so many rounds the rest has to be a bomb that nothing stops."""


def signal_group(leader: int, number: int) -> None:
    """Send a signal to the group of `leader`, which must not have been waited for yet, or the id may be another's."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def signal_marked(mark: str, number: int) -> None:
    """Send a signal to every process whose mark is `mark`, or begins with it when that ends in a dot."""
    for pid in marked(mark):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def kill_marked(mark: str) -> None:
    """End every such process, also those that appear meanwhile."""
    killed: set[int] = set()
    for _ in range(_ROUNDS):
        found = set(marked(mark)) - killed
        if not found:
            return
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed |= found


def marked(mark: str) -> Iterator[int]:
    """The ids of the living processes with such a mark; none where the system does not tell."""
    if not FINDS_MARKED:
        return
    wanted = f"{MARK}={mark}".encode()
    wanted = wanted if mark.endswith(".") else wanted + b"\0"
    own = os.getpid()
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == own:
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read()
        except OSError:
            continue  # it has ended, or is somebody else's
        if environment.startswith(wanted) or b"\0" + wanted in environment:
            yield int(name)
