"""Starts the server under test on a free port of localhost and stops it; it knows nothing of the suite.

The suite itself starts the client under test; its command is here too.
"""

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import IO

from tests.conformance.suite import ROOT

START_LIMIT_S = 30.0
STOP_LIMIT_S = 10.0
POLL_S = 0.05

EVERYTHING = shlex.join(
    [
        str(Path(sys.executable).with_name("toolwire")),
        *("tools", "serve", "tests.conformance.everything:server", "--http", "--port", "{port}"),
    ]
)
"""The command of our everything-server; `{port}` stands for the port."""

CLIENT = shlex.join(["env", f"PYTHONPATH={ROOT}", sys.executable, "-m", "tests.conformance.client"])
"""The command of our client; the suite adds the URL of its server."""


class ServerError(Exception):
    """The server under test ended or did not listen; the text ends with its last output."""


@contextlib.contextmanager
def serving(command: str, path: str = "/mcp") -> Generator[str]:
    """Run a server while the context lasts and yield its URL.

    Args:
        command: as for a shell, without one; `{port}` is replaced by a free port.
        path: where the server's endpoint is.

    Raises:
        ServerError: it ended, or did not accept connections in time.
    """
    port = _free_port()
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [word.format(port=port) for word in shlex.split(command)],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_listening(process, port, log)
            # The suite accepts localhost by this name only: the rebinding scenario compares it with Host and Origin.
            yield f"http://localhost:{port}{path}"
        finally:
            _stop(process)


def _wait_listening(process: "subprocess.Popen[bytes]", port: int, log: IO[bytes]) -> None:
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end:
        try:
            socket.create_connection(("localhost", port), timeout=1).close()
        except OSError:
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise ServerError(f"the server ended with {process.wait(POLL_S)}{_last_output(log)}") from None
        else:
            return
    raise ServerError(f"the server did not listen on port {port} within {START_LIMIT_S:.0f} s{_last_output(log)}")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _last_output(log: IO[bytes]) -> str:
    log.seek(0)
    text = log.read().decode(errors="replace").strip()[-2000:]
    return f":\n{text}" if text else ""
