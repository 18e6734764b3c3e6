"""`python -m benchmarks memory`: what sessions take of a server's memory, idle ones and those that vanish.

A session is opened as clients do: `initialize`, then `notifications/initialized`, on a connection that is then closed.
One that vanishes has called a tool besides, and its connection is reset: no DELETE, no goodbye. What is counted is the
growth of the server processes' resident memory, after as much of the same has warmed them up.
"""

import argparse
import json
import socket
import struct
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import machine
from benchmarks.cases import GATEWAY, MCP_SESSION, SERVED, TEXT, call_2025
from benchmarks.launcher import Endpoint, Launcher, LaunchError
from benchmarks.measure import INITIALIZE, INITIALIZED
from benchmarks.services import Service
from benchmarks.toolchain import ToolchainError

IDLE = 10_000
FEW = 2_000
"""Sessions of each kind for the official SDK, which refuses to open more than 10,000."""
SETTLE_S = 3.0
"""What is written behind, and what is let go of a moment later, is done by then; channels stay for some minutes."""
WARM_S = 1.0
IDLE_LIMIT_BYTES = 2048
VANISHED_LIMIT_BYTES = 256
"""A session, counted as nothing: the pages of an allocator are not given back one by one."""
SERVICES = (("mcp 2.3.0", MCP_SESSION), ("toolwire tools serve", SERVED), ("toolwire gateway and agent", GATEWAY))
_RESET = struct.pack("ii", 1, 0)


@dataclass(frozen=True, slots=True)
class Growth:
    """Bytes a session: opened and left alone, and opened, used and vanished."""

    name: str
    idle: float
    vanished: float


def main(tokens: Sequence[str]) -> int:
    """Measure; the status is 0, 1 with --strict after a missed target, 2 if it could not run."""
    arguments = _parser().parse_args(tokens)
    try:
        with Launcher(server_core=machine.cores()[0], agent_core=machine.cores()[0]) as launcher:
            chosen = [(name, service) for name, service in SERVICES if arguments.only in name]
            found = [_growth(name, service, launcher, arguments) for name, service in chosen]
    except (ToolchainError, LaunchError, OSError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    print(f"{machine.description()}; {time.strftime('%Y-%m-%d')}; bytes of resident memory for each session\n")
    print(f"| {arguments.sessions:,} sessions each | idle | vanished | asked |\n|---|--:|--:|---|")
    for row in found:
        verdict = _verdict(row) if "toolwire" in row.name else ""
        print(f"| {row.name} | {row.idle:,.0f} | {row.vanished:,.0f} | {verdict} |")
    missed = any("MISSED" in _verdict(row) for row in found if "toolwire" in row.name)
    return 1 if arguments.strict and missed else 0


def _verdict(row: Growth) -> str:
    idle = "met" if row.idle <= IDLE_LIMIT_BYTES else "MISSED"
    vanished = "met" if row.vanished <= VANISHED_LIMIT_BYTES else "MISSED"
    return f"idle ≤ {IDLE_LIMIT_BYTES} {idle}, vanished back to zero (≤ {VANISHED_LIMIT_BYTES}) {vanished}"


def _growth(name: str, service: Service, launcher: Launcher, arguments: argparse.Namespace) -> Growth:
    endpoint = service.launch(launcher)
    _wait_answering(name, endpoint)
    count = arguments.sessions if "toolwire" in name else min(arguments.sessions, FEW)
    idle, vanished = (_grown(endpoint, count, vanish, arguments.settle) for vanish in (False, True))
    print(f"{name}: {idle:,.0f} and {vanished:,.0f} bytes a session", file=sys.stderr, flush=True)
    return Growth(name, idle, vanished)


def _grown(endpoint: Endpoint, count: int, vanish: bool, settle_s: float) -> float:
    """Bytes for each of `count` sessions, after as many before them that warm up."""
    before = 0
    for warming_up in (True, False):
        before = _resident(endpoint.pids)
        for _ in range(count):
            _open(endpoint, vanish)
        time.sleep(WARM_S if warming_up else settle_s)
    return (_resident(endpoint.pids) - before) / count


def _wait_answering(name: str, endpoint: Endpoint) -> None:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        if TEXT.encode() in _open(endpoint, vanish=True):
            return
        time.sleep(0.2)
    raise LaunchError(f"{name} does not answer")


def _open(endpoint: Endpoint, vanish: bool) -> bytes:
    """Open a session; its last answer, which is that of the tool's call if it is to vanish."""
    with socket.create_connection(("127.0.0.1", endpoint.port), timeout=20) as connection:
        head, _ = _post(connection, endpoint, json.dumps(INITIALIZE), [])
        session = next((line for line in head.split("\r\n") if line.lower().startswith("mcp-session-id:")), "")
        if not session:
            raise LaunchError(f"the server opens no session: {head.partition(chr(13))[0]}")
        headers = [session, "MCP-Protocol-Version: 2025-11-25"]
        _, body = _post(connection, endpoint, json.dumps(INITIALIZED), headers)
        if vanish:
            _, body = _post(connection, endpoint, call_2025(text=TEXT).body.replace("%N", "7"), headers)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        return body


def _post(connection: socket.socket, endpoint: Endpoint, body: str, headers: Sequence[str]) -> tuple[str, bytes]:
    lines = [
        f"POST {endpoint.path} HTTP/1.1",
        f"Host: 127.0.0.1:{endpoint.port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        f"Content-Length: {len(body)}",
        *headers,
        *endpoint.headers,
    ]
    connection.sendall("\r\n".join([*lines, "", body]).encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += _some(connection)
    head, _, rest = received.partition(b"\r\n\r\n")
    text = head.decode("latin-1")
    length = next((int(line[15:]) for line in text.split("\r\n") if line.lower().startswith("content-length:")), 0)
    while len(rest) < length:
        rest += _some(connection)
    return text, rest


def _some(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise LaunchError("the server closed a connection in the middle of an answer")
    return data


def _resident(pids: Collection[int]) -> int:
    """The resident memory of processes, in bytes."""
    kilobytes = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks memory", description="Measure what sessions take of a server's memory."
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="servers whose name has this text")
    parser.add_argument("--sessions", type=int, default=IDLE, help="of each kind (default %(default)s)")
    parser.add_argument(
        "--settle", type=float, default=SETTLE_S, help="seconds before memory is looked at (default %(default)s)"
    )
    parser.add_argument("--strict", action="store_true", help="exit with 1 if Toolwire misses what it asks of itself")
    return parser
