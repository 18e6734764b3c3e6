"""The shells of one client: started, found again by their ids, and stopped with everything when the client closes."""

import itertools
import os
import re
import secrets
import threading
import weakref
from collections.abc import Mapping

import anyio

from toolwire.sdk.builtin.processes import kill_marked
from toolwire.sdk.builtin.shell import GRACE_S, Shell
from toolwire.sdk.result import ToolError

MAX_ALIVE = 64
"""Shells that may be under way at once."""

MAX_KEPT = 256
"""Shells whose output can still be read; of the ended ones the oldest go first."""

_SECRET = re.compile(
    r"(^|_)(KEY|KEYS|APIKEY|TOKEN|TOKENS|SECRET|SECRETS|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIAL|CREDENTIALS|AUTH|"
    r"COOKIE|DSN)($|_)|^(AWS|AZURE|GOOGLE|GCP|TOOLWIRE)_|CONNECTION_STRING|(DATABASE|REDIS|MONGO\w*|AMQP|POSTGRES\w*)_UR[LI]$"
)
_HARMLESS = frozenset({"PWD", "OLDPWD", "SSH_AUTH_SOCK"})
_SHELL_HOOKS = frozenset({"BASH_ENV", "ENV", "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS"})
_QUIET = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "DEBIAN_FRONTEND": "noninteractive",
}
"""Nobody sits at a terminal: nothing may page, prompt or open an editor."""


class Shells:
    """A registry of shells. Safe to use from several threads and event loops."""

    def __init__(self, env: Mapping[str, str | None], max_bytes: int) -> None:
        """Shells whose environment has `env` set, or left out where a value is `None`."""
        self._changes = dict(env)
        self._max_bytes = max_bytes
        self._mark = f"{secrets.token_hex(8)}."
        self._numbers = itertools.count(1)
        self._shells: dict[str, Shell] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._used = threading.Event()
        self._finalizer = weakref.finalize(self, _kill_all, self._shells, self._used, self._mark, os.getpid())

    def start(self, command: str, cwd: str, owner: str) -> Shell:
        """Start a command in `cwd`.

        Raises:
            ToolError: there are too many already, or the client is closed.
        """
        with self._lock:
            if self._closed:
                raise ToolError("the client is closed, so no command can be started")
            if sum(not shell.ended.is_set() for shell in self._shells.values()) >= MAX_ALIVE:
                raise ToolError(f"{MAX_ALIVE} shells are running already; stop some with KillShell")
            self._forget_old()
            number = next(self._numbers)
            shell = Shell(f"bash_{number}", owner, f"{self._mark}{number}", self._max_bytes)
            self._shells[shell.id] = shell
            self._used.set()
        shell.start(command, cwd, environment(os.environ, self._changes))
        return shell

    def find(self, shell_id: str, owner: str) -> Shell:
        """A shell of this task.

        Raises:
            ToolError: there is none of that id; the text names those there are.
        """
        with self._lock:
            shell = self._shells.get(shell_id)
            known = [other.id for other in self._shells.values() if other.owner == owner]
        if shell is None or shell.owner != owner:
            there = f"there are {', '.join(known)}" if known else "none was started in the background"
            raise ToolError(f"there is no shell {shell_id[:100]!r}; {there}")
        return shell

    def forget(self, shell: Shell) -> None:
        """Take an ended shell off the list."""
        with self._lock:
            self._shells.pop(shell.id, None)

    def stop_of(self, owner: str) -> None:
        """Stop the shells of one task, without waiting for their end."""
        with self._lock:
            found = [shell for shell in self._shells.values() if shell.owner == owner]
        for shell in found:
            shell.stop()

    async def aclose(self) -> None:
        """Stop every shell, wait for their end, and end what they left behind; further commands are refused.

        Cancellation: does not cut it short, as it takes no more than moments.
        """
        found = self._shut()
        for shell in found:
            shell.stop()
        with anyio.move_on_after(GRACE_S + 2, shield=True):
            for shell in found:
                await shell.ended.wait()
        self._finalizer()

    def close(self) -> None:
        """End every shell at once and wait for that a moment; for threads without an event loop."""
        found = self._shut()
        self._finalizer()
        for shell in found:
            shell.ended.wait_on_thread(1)

    def _shut(self) -> list[Shell]:
        with self._lock:
            self._closed = True
            return [shell for shell in self._shells.values() if not shell.ended.is_set()]

    def _forget_old(self) -> None:
        ended = [shell.id for shell in self._shells.values() if shell.ended.is_set()]
        for shell_id in ended[: max(0, len(self._shells) - MAX_KEPT + 1)]:
            del self._shells[shell_id]


def environment(base: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of commands: that of this process without what looks like a secret, and with the changes."""
    kept = {name: value for name, value in base.items() if not _is_secret(name) and name not in _SHELL_HOOKS}
    kept.update(_QUIET)
    kept.update({name: value for name, value in changes.items() if value is not None})
    return {name: value for name, value in kept.items() if name not in changes or changes[name] is not None}


def _is_secret(name: str) -> bool:
    return name not in _HARMLESS and _SECRET.search(name.upper()) is not None


def _kill_all(shells: dict[str, Shell], used: threading.Event, mark: str, process: int) -> None:
    """End everything at once: when the registry is closed, or nobody has it any more, or the program ends."""
    if os.getpid() != process:
        return  # a fork of the process that started them
    for shell in list(shells.values()):
        shell.kill()
    if used.is_set():
        kill_marked(mark)  # daemons of commands that have long ended among them
