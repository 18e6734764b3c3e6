"""A program on a pseudo-terminal of its own: its bytes in both directions, signals, and its end with all it started.

It knows no shell and keeps nothing of what is printed.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio
import anyio.lowlevel
import anyio.to_thread

from toolwire.core.errors import AgentBusy, ServiceUnavailable
from toolwire.sdk.builtin.processes import MARK, kill_marked, marked, signal_group

if sys.platform != "win32":
    import fcntl
    import struct
    import termios

GRACE_S: Final = 1.0
"""How long programs may take to end by themselves when they are told to."""
CLEAN_S: Final = 0.5
"""How much of that the program itself waits for all that it has started."""
WRITE_S: Final = 5.0
"""How long a program may leave unread what is typed."""
MAX_READ_BYTES: Final = 65_536
_STEP_S: Final = 0.02
_TAKES_TERMINAL: Final = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, ())
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Makes the terminal the new session's own, then becomes the program; a fork hook could not do so beside threads.

What ignores Ctrl-C, as everything does that a script has put into the background, would have programs ignore it, too.
"""


class PtyProcess:
    """A running program. Read from one task."""

    def __init__(self, process: "subprocess.Popen[bytes]", master: int, mark: str) -> None:
        self._process = process
        self._master = master
        self._mark = mark
        self._writing = anyio.Lock()
        self._ending = anyio.Lock()
        self._closed = False

    @classmethod
    async def start(
        cls, command: Sequence[str], cwd: str, environment: Mapping[str, str], columns: int, rows: int, mark: str
    ) -> "PtyProcess":
        """Start a program, which leads a session of its own.

        Args:
            command: the program and its arguments.
            cwd: its folder.
            environment: all of its variables.
            columns: the width of its window, in characters.
            rows: its height.
            mark: by what it and all that it starts is found, also after its end; nobody else's.

        Raises:
            ServiceUnavailable: the program or its folder is not there, or this system has no pseudo-terminals.
        """
        if sys.platform == "win32":
            raise ServiceUnavailable("terminals need a system with pseudo-terminals; run the host on Linux or macOS")
        master, slave = os.openpty()
        try:
            _set_size(master, columns, rows)
            os.set_blocking(master, False)
            process = await anyio.to_thread.run_sync(
                lambda: subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _TAKES_TERMINAL, *command],
                    stdin=slave,
                    stdout=slave,
                    stderr=slave,
                    cwd=cwd,
                    env={**environment, MARK: mark},
                    start_new_session=True,
                )
            )
        except OSError as error:
            os.close(master)
            raise ServiceUnavailable(f"the terminal cannot be started in {cwd!r}: {error.strerror or error}") from None
        except BaseException:
            os.close(master)
            raise
        finally:
            os.close(slave)
        return cls(process, master, mark)

    @property
    def pid(self) -> int:
        """The id of the program, and of its session."""
        return self._process.pid

    async def read(self) -> bytes:
        """What has been printed since the last time, once there is some; nothing when the program has ended."""
        data = bytearray()
        while len(data) < MAX_READ_BYTES and not self._closed:
            try:
                chunk = os.read(self._master, MAX_READ_BYTES)
            except BlockingIOError:
                if data:
                    break
                with suppress(anyio.ClosedResourceError):
                    await anyio.wait_readable(self._master)
                continue
            except OSError:  # nobody has the other end any more, or we have let go of ours
                break
            if not chunk:
                break
            data += chunk
        await anyio.lowlevel.checkpoint()
        return bytes(data)

    async def write(self, data: bytes) -> None:
        """Type.

        Raises:
            AgentBusy: the program does not read.
        """
        left = memoryview(data)
        async with self._writing:
            with anyio.move_on_after(WRITE_S) as waiting:
                while left and not self._closed:
                    try:
                        left = left[os.write(self._master, left) :]
                    except BlockingIOError:
                        with suppress(anyio.ClosedResourceError):
                            await anyio.wait_writable(self._master)
                    except OSError:  # it has just ended
                        return
        if waiting.cancelled_caught:
            raise AgentBusy("the program in the terminal does not read what is typed; wait, or end it")

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program that its terminal has another size."""
        if not self._closed:
            _set_size(self._master, columns, rows)

    def interrupt(self) -> None:
        """What Ctrl-C does, also where the program has switched that off."""
        self._signal_foreground(signal.SIGINT)

    def kill_foreground(self) -> None:
        """End what is in the foreground at once, if that is not the program itself, which is interrupted instead."""
        if sys.platform == "win32":
            return
        self._signal_foreground(signal.SIGKILL if self._foreground() != self.pid else signal.SIGINT)
        if self._process.returncode is None:
            signal_group(self.pid, signal.SIGINT)

    async def exited(self) -> None:
        """Wait until the program itself has ended; others may have its terminal still."""
        await anyio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1))

    async def end(self) -> int:
        """End the program and everything it has started, politely and after a moment for good; says its exit code."""
        code = 0
        with anyio.CancelScope(shield=True):
            async with self._ending:
                code = await self._end_once()
        return code if code >= 0 else 128 - code

    async def _end_once(self) -> int:
        if not self._closed:
            await self._end_all()
            await anyio.to_thread.run_sync(self._process.wait)
            self._closed = True
            anyio.notify_closing(self._master)
            os.close(self._master)
        return self._process.wait(0)

    async def _end_all(self) -> None:
        if sys.platform == "win32":
            return
        # A trap cleans up with programs that it only starts then, so they are not told as well. And what is in the
        # foreground is hung up when the leader of the session ends: that is stopped until the others are done.
        if self._process.poll() is None:
            _send(self.pid, signal.SIGSTOP)
        with anyio.move_on_after(GRACE_S):
            for spared, patience_s in (({self.pid}, CLEAN_S), (set[int](), GRACE_S)):
                await anyio.to_thread.run_sync(self._tell_to_end, spared)
                with anyio.move_on_after(patience_s):
                    while await anyio.to_thread.run_sync(self._is_left, spared):
                        self._drain()
                        await anyio.sleep(_STEP_S)
        await anyio.to_thread.run_sync(self._kill_all)

    def _tell_to_end(self, spared: set[int]) -> None:
        for pid in set(self._alive()) - spared:
            for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGCONT):
                _send(pid, number)

    def _is_left(self, spared: set[int]) -> bool:
        """Whether somebody is there besides those."""
        return not spared.issuperset(self._alive()) or (self.pid not in spared and self._process.poll() is None)

    def _kill_all(self) -> None:
        if self._process.poll() is None:
            signal_group(self.pid, signal.SIGKILL)
        for pid in self._alive():
            _send(pid, signal.SIGKILL)
        kill_marked(self._mark)

    def _alive(self) -> Iterator[int]:
        """All processes of the session, and those that have left it with their mark."""
        yield from marked(self._mark)
        yield from _in_session(self.pid)

    def _drain(self) -> None:
        """Let go who waits for room to print: it cannot end before that."""
        with suppress(OSError):
            while os.read(self._master, MAX_READ_BYTES):
                pass

    def _foreground(self) -> int:
        if sys.platform == "win32" or self._closed:
            return 0
        try:
            return os.tcgetpgrp(self._master)
        except OSError:
            return 0

    def _signal_foreground(self, number: int) -> None:
        group = self._foreground()
        if group > 1:
            signal_group(group, number)


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _set_size(descriptor: int, columns: int, rows: int) -> None:
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def _in_session(leader: int) -> Iterator[int]:
    """The processes of a session, where the system lists them; those that have ended are left out."""
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, _, _, session, *_ = file.read().rpartition(b")")[2].split()
        except (OSError, ValueError):
            continue
        if int(session) == leader and state not in (b"Z", b"X"):
            yield int(name)
