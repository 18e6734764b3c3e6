"""One shell command with everything it starts: its output, its end, and how it is stopped; it knows no tools.

A thread of its own starts the command, reads what it prints and waits for its end. So a shell does not depend on an
event loop, and one that goes on in the background needs no task.
"""

import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from toolwire.sdk.builtin.flag import Flag
from toolwire.sdk.builtin.processes import FINDS_MARKED, MARK, kill_marked, signal_group, signal_marked
from toolwire.sdk.builtin.shell_output import Output

GRACE_S = 1.0
"""From SIGTERM to SIGKILL."""

LINGER_S = 0.2
"""How long output is waited for that others still may print when the command itself has ended."""

_STEP_S = 0.1
_SHORT_STEP_S = 0.001
_CHUNK = 65536

_SCRIPT = "; ".join(
    (
        "exec 3>&0 0</dev/null",
        "__toolwire_end() { { __toolwire_status=$?; set +eux; trap - EXIT; } 2>/dev/null",
        r"""printf '%s\000%s\000' "$__toolwire_status" "$(pwd -P 2>/dev/null)" >&3 2>/dev/null""",
        "exec 3>&-",
        "wait",
        'exit "$__toolwire_status"',
        "}",
        "trap __toolwire_end EXIT",
        "__toolwire_command=$1",
        "shift",
        'eval "$__toolwire_command"',
    )
)
"""Runs the command, and tells its status and directory on descriptor 3, which comes as standard input.

Afterwards it waits for what the command has put into the background, so that the shell lives as long as that does. It
is one line, so that the shell's complaints give the line of the command.
"""


class Report(NamedTuple):
    """How a command ended: its status, and the directory it ended in, "" when that is not known."""

    status: int
    cwd: str


class Shell:
    """A command under way or ended.

    Attributes:
        id: how the model calls it.
        owner: the task that it belongs to.
        output: what it has printed and nobody has taken yet.
        reported: the command itself has ended, or cannot be started; `report` says how.
        ended: so has all that it left in its background.
    """

    def __init__(self, shell_id: str, owner: str, mark: str, max_bytes: int) -> None:
        self.id = shell_id
        self.owner = owner
        self.output = Output(max_bytes)
        self.reported = Flag()
        self.ended = Flag()
        self.report: Report | None = None
        self.error: str | None = None
        self.stopped = False
        self._mark = mark
        self._told = b""
        self._pid: int | None = None
        self._kill_at: float | None = None
        self._lock = threading.Lock()

    def start(self, command: str, cwd: str, env: Mapping[str, str]) -> None:
        """Start the command on a thread."""
        thread = threading.Thread(
            target=self._work, args=(command, cwd, {**env, MARK: self._mark}), name=f"shell {self.id}", daemon=True
        )
        thread.start()

    def stop(self) -> None:
        """Ask everything to end, and make it end a moment later; does not wait for that."""
        with self._lock:
            if self.ended.is_set() or self._kill_at is not None:
                return
            self.stopped = True
            self._kill_at = time.monotonic() + GRACE_S
            if self._pid is not None:
                signal_marked(self._mark, signal.SIGTERM)
                signal_group(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """End everything at once."""
        with self._lock:
            if self.ended.is_set():
                return
            self.stopped = True
            self._kill_at = time.monotonic()
            if self._pid is not None:
                self._kill(self._pid)

    def _kill(self, pid: int) -> None:
        signal_group(pid, signal.SIGKILL)
        kill_marked(self._mark)

    def _work(self, command: str, cwd: str, env: Mapping[str, str]) -> None:
        output, output_end = os.pipe()
        status, status_end = os.pipe()
        try:
            process = self._begin(command, cwd, env, (output_end, status_end))
        finally:
            os.close(output_end)
            os.close(status_end)
        os.set_blocking(output, False)
        os.set_blocking(status, False)
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(status, selectors.EVENT_READ)
            if process is not None:
                self._follow(process, selector, output)
            self.reported.set()
            self.ended.set()
            while process is not None and output in selector.get_map():  # a daemon that it left behind still has it
                self._read(selector, output, None)
        os.close(output)
        os.close(status)

    def _begin(
        self, command: str, cwd: str, env: Mapping[str, str], ends: tuple[int, int]
    ) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            if self._kill_at is not None:
                self.error = "it was stopped before it began"
                return None
            try:
                process = _started(command, cwd, env, ends)
            except OSError as error:
                self.error = f"the command cannot be started: {error.strerror or error}"
                return None
            self._pid = process.pid
            return process

    def _follow(self, process: "subprocess.Popen[bytes]", selector: selectors.BaseSelector, output: int) -> None:
        """Read until the command has ended, and see to it that what was stopped does end."""
        exited_at: float | None = None
        killed, pause, short_pause = False, _STEP_S, _SHORT_STEP_S
        while True:
            self._read(selector, output, pause)
            now = time.monotonic()
            if not killed and self._kill_at is not None and now >= self._kill_at:
                killed = True
                self._kill(process.pid)
            closed = output not in selector.get_map()
            exit_status = _exit_status(process)
            if exit_status is None:
                pause = _STEP_S
                if closed:  # it ends at this very moment, as a rule
                    pause, short_pause = short_pause, min(short_pause * 2, _STEP_S)
                continue
            if exited_at is None:
                exited_at, pause = now, _SHORT_STEP_S
                self._tell(Report(exit_status, ""))
                continue  # what it printed last may still be on its way
            if closed or (now - exited_at > LINGER_S and (killed or self._kill_at is None)):
                break
        self._finish(process)

    def _finish(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait for the leader, after which its id may be given to another process."""
        with self._lock:
            if self._kill_at is not None:
                self._kill(process.pid)
            elif not FINDS_MARKED:
                signal_group(process.pid, signal.SIGTERM)  # later there would be no way to find what it left
            self._pid = None
            process.wait()

    def _read(self, selector: selectors.BaseSelector, output: int, pause: float | None) -> None:
        if not selector.get_map():
            time.sleep(pause or 0)
            return
        for key, _ in selector.select(pause):
            data = _read(key.fd)
            if not data:
                selector.unregister(key.fd)
            elif key.fd != output:
                self._told += data
                self._hear()
            elif not self.ended.is_set():
                self.output.append(data)

    def _hear(self) -> None:
        status, _, rest = self._told.partition(b"\0")
        cwd, end, _ = rest.partition(b"\0")
        if end and status.isdigit():
            self._tell(Report(int(status), os.fsdecode(cwd)))

    def _tell(self, report: Report) -> None:
        if self.report is None:
            self.report = report
            self.reported.set()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:  # pragma: no cover - a wake-up without cause
        return b""


def _started(command: str, cwd: str, env: Mapping[str, str], ends: tuple[int, int]) -> "subprocess.Popen[bytes]":
    bash = shutil.which("bash", path=env.get("PATH"))
    shell = [bash, "--noprofile", "--norc"] if bash else ["/bin/sh"]
    return subprocess.Popen(
        [*shell, "-c", _SCRIPT, "bash", command],
        stdin=ends[1],
        stdout=ends[0],
        stderr=ends[0],
        cwd=cwd,
        env=dict(env),
        start_new_session=True,
    )


def _exit_status(process: "subprocess.Popen[bytes]") -> int | None:
    """The status of an ended process, 128 and more when a signal ended it; it is not waited for, so its id stays."""
    if not hasattr(os, "waitid"):  # pragma: no cover - macOS before Python 3.13
        status = process.poll()
        return status if status is None or status >= 0 else 128 - status
    try:
        found = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # the program ignores SIGCHLD
        return 0
    if found is None:
        return None
    return found.si_status if found.si_code == os.CLD_EXITED else 128 + found.si_status
