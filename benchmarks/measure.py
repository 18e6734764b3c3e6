"""Measures one case at one concurrency: opens sessions, runs the load generator, accounts for CPU time.

It does not choose what is measured or in which order: `__main__` does.
"""

import http.client
import itertools
import json
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.cases import TEXT, Case, Request
from benchmarks.launcher import Endpoint, LaunchError

ANSWER_LIMIT_S = 20.0
NUMBERS_PER_RUN = 20_000_000
"""More requests than one run can send, so that no number, and so no idempotency key, comes twice."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1.0"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@dataclass(frozen=True, slots=True)
class Options:
    """How every measurement is made; durations are in seconds."""

    loadgen: Path
    stdiogen: Path
    duration_s: float
    warmup_s: float
    client_core: int
    tries: int
    quiet_wait_s: float


@dataclass(frozen=True, slots=True)
class Measurement:
    """One case at one concurrency in one round.

    Attributes:
        server_cpu: share of one core that the processes under test used.
        cpu_us: their CPU time for a request, in microseconds: on a busy machine steadier than requests a second.
        user_us: of that, in user mode; on stdin and stdout the two are not told apart.
        other_cpu: share of one core that neither they nor the load generator used: noise.
        detail: every figure of the load generator.
    """

    case: str
    round: int
    conns: int
    rps: float
    p50_ms: float
    p99_ms: float
    errors: int
    first_error: str
    server_cpu: float
    cpu_us: float
    user_us: float
    other_cpu: float
    detail: dict[str, Any]


_first_numbers = itertools.count(1_000_000_000, NUMBERS_PER_RUN)


def check_answers(case: Case, endpoint: Endpoint) -> None:
    """Send the case's request until it is answered rightly; an agent may still be attaching.

    Raises:
        LaunchError: there is no right answer in time; the text has the last one.
    """
    if endpoint.command:
        return  # each measurement has a server of its own, and its first answers are not measured
    end = time.monotonic() + ANSWER_LIMIT_S
    answer = "nothing"
    while time.monotonic() < end:
        with _sessions(case, endpoint, 1) as headers:
            response, body = _post(
                endpoint, case.request.body.replace("%N", str(next(_first_numbers))), [*headers, *case.request.headers]
            )
        if response.status == 200 and TEXT.encode() in body:
            return
        answer = f"{response.status} {body[:500].decode(errors='replace')}"
        time.sleep(0.2)
    raise LaunchError(f"{case.name}: no right answer within {ANSWER_LIMIT_S:.0f} s, but {answer}")


def measure(case: Case, endpoint: Endpoint, round_number: int, conns: int, options: Options) -> Measurement:
    """Measure a case, again while other programs are busy, and return the quietest of at most `tries` runs."""
    best = None
    for _ in range(options.tries):
        machine.wait_quiet(options.quiet_wait_s)
        now = _measure_once(case, endpoint, round_number, conns, options)
        if best is None or now.other_cpu < best.other_cpu:
            best = now
        if best.other_cpu < machine.BUSY_SHARE:
            break
    assert best is not None, "tries is at least 1"
    return best


def _measure_once(case: Case, endpoint: Endpoint, round_number: int, conns: int, options: Options) -> Measurement:
    with tempfile.TemporaryDirectory() as made, _sessions(case, endpoint, conns) as session_headers:
        folder = Path(made)
        command = _command(case.request, endpoint, conns, options, folder)
        if session_headers:
            path = folder / "conn-headers"
            path.write_text("".join(f"{header}\n" for header in session_headers))
            command += ["--conn-headers", str(path)]
        before, busy, start = machine.cpu_seconds(endpoint.pids), machine.busy_seconds(), time.monotonic()
        with machine.pinned(options.client_core):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall = time.monotonic() - start
        after, busy = machine.cpu_seconds(endpoint.pids), machine.busy_seconds() - busy
    if done.returncode not in (0, 1):
        raise LaunchError(f"{case.name}: the load generator failed: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    # A server on stdin and stdout is the load generator's child: it takes that time itself.
    of_child = result.get("server_cpu_s", 0.0) * wall / result["seconds"]
    user, cpu = of_child + after[0] - before[0], of_child + after[1] - before[1]
    return Measurement(
        case=case.name,
        round=round_number,
        conns=conns,
        rps=result["rps"],
        p50_ms=result["p50_ms"],
        p99_ms=result["p99_ms"],
        errors=result["errors"],
        first_error=result.get("first_error", ""),
        server_cpu=round(cpu / wall, 3),
        cpu_us=_micros_each(cpu / wall, result["rps"]),
        user_us=_micros_each(user / wall, result["rps"]),
        other_cpu=round(max(0.0, (busy - cpu) / wall - result["client_cpu"]), 3),
        detail=result,
    )


def _micros_each(share: float, rps: float) -> float:
    return round(share / rps * 1e6, 1) if rps else 0.0


def _command(request: Request, endpoint: Endpoint, conns: int, options: Options, folder: Path) -> list[str]:
    body, headers = folder / "body", folder / "headers"
    body.write_text(request.body)
    shared = (
        *("--duration", str(options.duration_s), "--warmup", str(options.warmup_s)),
        *("--body", str(body), "--expect", TEXT, "--first", str(next(_first_numbers))),
    )
    if endpoint.command:
        opening = folder / "opening"
        opening.write_text(f"{json.dumps(INITIALIZE, separators=(',', ':'))}\n{json.dumps(INITIALIZED)}\n")
        own = ("--depth", str(conns), "--core", str(endpoint.core), "--opening", str(opening))
        return [str(options.stdiogen), *shared, *own, "--", *endpoint.command]
    headers.write_text("".join(f"{header}\n" for header in (*request.headers, *endpoint.headers)))
    return [
        str(options.loadgen),
        *("--port", str(endpoint.port), "--path", endpoint.path, "--conns", str(conns), "--headers", str(headers)),
        *shared,
    ]


@contextmanager
def _sessions(case: Case, endpoint: Endpoint, count: int) -> Generator[list[str]]:
    """Open sessions if the case wants them and yield one header for each; end them afterwards."""
    if not case.sessions:
        yield []
        return
    opened: list[str] = []
    try:
        opened.extend(_open_session(endpoint) for _ in range(count))
        yield [f"Mcp-Session-Id: {session}" for session in opened]
    finally:
        for session in opened:
            _request("DELETE", endpoint, None, _session_headers(session))


def _open_session(endpoint: Endpoint) -> str:
    response, body = _post(endpoint, json.dumps(INITIALIZE), ["Accept: application/json, text/event-stream"])
    session = response.getheader("mcp-session-id")
    if response.status != 200 or session is None:
        raise LaunchError(f"initialize was answered {response.status} without a session id: {body[:300]!r}")
    _post(endpoint, json.dumps(INITIALIZED), _session_headers(session))
    return session


def _session_headers(session: str) -> list[str]:
    return [
        "Accept: application/json, text/event-stream",
        f"Mcp-Session-Id: {session}",
        "MCP-Protocol-Version: 2025-11-25",
    ]


def _post(endpoint: Endpoint, body: str, headers: list[str]) -> tuple[http.client.HTTPResponse, bytes]:
    return _request("POST", endpoint, body, ["Content-Type: application/json", *headers])


def _request(
    method: str, endpoint: Endpoint, body: str | None, headers: list[str]
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", endpoint.port, timeout=ANSWER_LIMIT_S)
    pairs = dict(header.split(": ", 1) for header in (*headers, *endpoint.headers))
    connection.request(method, endpoint.path, body, pairs)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response, data
