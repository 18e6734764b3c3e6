"""Starts the child process and waits for its reply; it does none of the work itself."""

import json
import os
import sys
from subprocess import PIPE

import anyio

from toolwire.sdk.builtin.isolated.request import Reply, Request, to_json

LIMIT_S = 30.0
"""A child that has not answered by then is stopped."""

_BOOT = """
import sys, types
for name, path in zip(sys.argv[1::2], sys.argv[2::2]):
    module = sys.modules[name] = types.ModuleType(name)
    module.__path__ = [path]
from toolwire.sdk.builtin.isolated.child import main
main()
"""


class NoReply(Exception):
    """The child gave no reply; the text says why."""


async def reply_to(request: Request, limit_s: float = LIMIT_S) -> Reply:
    """The reply of a child process to `request`.

    Raises:
        NoReply: the child cannot be started, took longer than `limit_s` seconds, or died.

    Cancellation: stops the child.
    """
    with anyio.move_on_after(limit_s):
        try:
            done = await anyio.run_process(
                _command(), input=json.dumps(to_json(request)).encode(), stdout=PIPE, stderr=PIPE, check=False
            )
        except OSError as error:
            raise NoReply(f"cannot start a process for this: {error.strerror or error}") from None
        if done.returncode == 0:
            return Reply(**json.loads(done.stdout))
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise NoReply(f"it broke off with status {done.returncode}: {last[:500]}")
    raise NoReply(f"it took longer than {limit_s:g} s and was stopped")


def _command() -> list[str]:
    if not sys.executable:
        raise NoReply("cannot start a process for this: this program does not know its Python interpreter")
    here = os.path.dirname(os.path.abspath(__file__))
    packages: list[str] = []
    directory = here
    for name in reversed(("toolwire", "toolwire.sdk", "toolwire.sdk.builtin", "toolwire.sdk.builtin.isolated")):
        packages += [name, directory]
        directory = os.path.dirname(directory)
    return [sys.executable, "-I", "-S", "-X", "utf8", "-c", _BOOT, *packages]
