"""Starts and stops the processes under test, each pinned to a core with its output in a log file.

It does not know what they are: services.py does.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks import machine
from benchmarks.paths import ROOT, WORK

START_LIMIT_S = 30.0
STOP_LIMIT_S = 10.0


class LaunchError(Exception):
    """A process under test did not start or did not answer; the text ends with its last output."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a running service answers, and the processes whose CPU time counts as the server's.

    Attributes:
        command: what is started anew for each measurement and answers on stdin and stdout; then there is no port.
        core: the core of the server that `command` starts.
    """

    port: int
    path: str
    pids: frozenset[int]
    headers: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    core: int = 0


@dataclass(slots=True)
class Launcher:
    """Owns every process it starts and every folder it makes; leaving the context ends and removes them.

    Attributes:
        server_core: core of the services.
        agent_core: core of agents that are attached to a gateway.
        nice: the niceness of what is started.
    """

    server_core: int
    agent_core: int
    nice: int = 0
    _processes: list[tuple[str, "subprocess.Popen[bytes]"]] = field(default_factory=list[Any])
    _folders: list["tempfile.TemporaryDirectory[str]"] = field(default_factory=list[Any])

    def __enter__(self) -> Self:
        WORK.mkdir(exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for _, process in self._processes:
            _signal_group(process, signal.SIGTERM)
        for _, process in self._processes:
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                _signal_group(process, signal.SIGKILL)
                process.wait()
        for folder in self._folders:
            folder.cleanup()

    def start(
        self, name: str, command: Sequence[str], *, core: int, cwd: Path = ROOT, env: Mapping[str, str] | None = None
    ) -> int:
        """Start a process and return its id; its output goes to `.bench/log-NAME`."""
        with log_path(name).open("wb") as log, machine.pinned(core):
            try:
                process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env={**os.environ, **(env or {})},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise LaunchError(f"cannot start {name}: {error}") from error
        self._processes.append((name, process))
        if self.nice:
            machine.set_nice(process.pid, self.nice)
        return process.pid

    def folder(self) -> Path:
        """Make a data directory beside the project, so that durable writes meet the disk the project is on."""
        made = tempfile.TemporaryDirectory(prefix="data-", dir=WORK)
        self._folders.append(made)
        return Path(made.name)

    def wait_listening(self, name: str, port: int) -> None:
        """Wait until something accepts connections on the port.

        Raises:
            LaunchError: a process of that name ended first, or nothing listened in time.
        """
        end = time.monotonic() + START_LIMIT_S
        while time.monotonic() < end:
            self.check_alive(name)
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise LaunchError(f"{name} did not listen on port {port} within {START_LIMIT_S:.0f} s{last_output(name)}")

    def check_alive(self, name: str) -> None:
        """Raise LaunchError if a process of that name has ended."""
        for started, process in self._processes:
            if started == name and process.poll() is not None:
                raise LaunchError(f"{name} ended with {process.returncode}{last_output(name)}")


def read_json(name: str, command: Sequence[str]) -> dict[str, Any]:
    """Run a command that prints one JSON object and return it.

    Raises:
        LaunchError: it fails or prints something else.
    """
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=START_LIMIT_S, check=False)
    try:
        value = json.loads(done.stdout)
    except ValueError:
        value = None
    if done.returncode or not isinstance(value, dict):
        raise LaunchError(f"{name} ended with {done.returncode}:\n{(done.stderr or done.stdout).strip()[-2000:]}")
    return value  # pyright: ignore[reportUnknownVariableType] -- json.loads gives str keys


def free_port() -> int:
    """Return a port of localhost that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def log_path(name: str) -> Path:
    """Return where the output of a process of that name goes."""
    return WORK / f"log-{name}"


def last_output(name: str) -> str:
    """Return the end of a process's output, ready to be put behind a message."""
    text = log_path(name).read_text(errors="replace").strip()[-2000:]
    return f":\n{text}" if text else ""


def _signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
