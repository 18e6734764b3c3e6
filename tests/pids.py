"""Waits for processes that are not children of the test's; it ends none."""

import os
from contextlib import suppress

import anyio


async def until_gone(pid: int) -> None:
    """Wait for the end of a process; fine if it has ended."""
    with suppress(ProcessLookupError):
        watched = os.pidfd_open(pid)
        try:
            with anyio.fail_after(20):
                await anyio.wait_readable(watched)
        finally:
            os.close(watched)
