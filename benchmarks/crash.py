"""`python -m benchmarks crash`: what a gateway loses that is killed while it works.

Every call has an idempotency key and brings a webhook. The gateway is killed (`kill -9`) and started again, several
times, evenly over the calls; callers send what they got no answer to again, under the same key. In the end it is
counted how often each call was executed, and whose webhook never came.
"""

import argparse
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from benchmarks import machine
from benchmarks.launcher import Launcher, LaunchError, free_port, read_json
from benchmarks.paths import TOOLWIRE
from benchmarks.services import ready_line

SECRET = "0123456789abcdef0123456789abcdef"
AGAIN_S = 0.05
POLL_S = 0.005
MAX_HEAD = 16 * 1024
MAX_BODY = 1024 * 1024
SETTINGS = {
    "TOOLWIRE_WEBHOOK_ALLOW_CIDRS": "127.0.0.0/8",
    "TOOLWIRE_WEBHOOK_TIMEOUT_S": "2",
    "TOOLWIRE_WEBHOOK_SCHEDULE_S": "1,2,5,5,5",
    "TOOLWIRE_RATE_LIMIT_PER_MINUTE": "0",
}
"""The defaults but for time-outs, so that what a killed gateway had in its hands is sent again within seconds."""


@dataclass
class Tally:
    """What came of the calls.

    Attributes:
        answered: by the call's number, the id of its task.
        failed: numbers of calls that ended badly, with the code.
        told: how often each task's webhook came.
        again: how many requests had to be sent again.
    """

    answered: dict[int, str] = field(default_factory=dict[int, str])
    failed: dict[int, str] = field(default_factory=dict[int, str])
    told: Counter[str] = field(default_factory=Counter[str])
    again: int = 0

    @property
    def done(self) -> int:
        """How many calls have an end."""
        return len(self.answered) + len(self.failed)

    def reached(self, calls: int) -> bool:
        """Whether so many calls have an end."""
        return self.done >= calls

    @property
    def lost(self) -> list[str]:
        """Tasks whose callers know their end and whose webhook has not come."""
        return [task for task in self.answered.values() if task not in self.told]


@dataclass
class Bench:
    """One measurement under way."""

    launcher: Launcher
    folder: Path
    port: int
    tally: Tally = field(default_factory=Tally)
    starts: int = 0
    pid: int = 0
    cpu_s: float = 0.0
    away_s: float = 0.0
    path: str = ""
    key: str = ""
    hook: str = ""

    def start(self) -> None:
        """Start the gateway, for the first time or again."""
        self.starts += 1
        name = f"crash-{self.starts}"
        data = str(self.folder / "data")
        up = (str(TOOLWIRE), "up", "--port", str(self.port), "--data", data, "--json")
        self.pid = self.launcher.start(name, up, core=self.launcher.server_core, env=SETTINGS)
        ready_line(self.launcher, name)

    def kill(self) -> None:
        """Kill the gateway; it has no moment left to do anything."""
        self.count_cpu()
        os.killpg(self.pid, signal.SIGKILL)

    def count_cpu(self) -> None:
        """Add the CPU time that the gateway of now has used since it was started."""
        self.cpu_s += machine.cpu_seconds((self.pid,))[1]

    def attach(self) -> None:
        """Make an agent and start its process, which lives until the end."""
        data, ran = str(self.folder / "data"), str(self.folder / "ran.log")
        made = read_json("crash", (str(TOOLWIRE), "agent", "create", "counted", "--data", data, "--json"))
        key = ("key", "create", "--agent", str(made["agent_id"]), "--data", data, "--json")
        self.key = str(read_json("crash", (str(TOOLWIRE), *key))["key"])
        self.path = f"/{made['agent_id']}/mcp"
        url = f"http://127.0.0.1:{self.port}"
        run = (str(TOOLWIRE), "agent", "run", "benchmarks.servers.toolwire_counted:agent", "--url", url)
        env = {"TOOLWIRE_AGENT_KEY": str(made["agent_key"]), "BENCH_RAN": ran}
        self.launcher.start("crash-agent", run, core=self.launcher.agent_core, env=env)

    def executed(self) -> Counter[int]:
        """How often each call was executed."""
        log = self.folder / "ran.log"
        return Counter(int(line) for line in log.read_text().split()) if log.exists() else Counter()


async def receive(bench: Bench, stream: SocketStream) -> None:
    """Take one delivery of a webhook."""
    async with stream:
        try:
            _, body = await _read(BufferedByteReceiveStream(stream))
            await stream.send(b"HTTP/1.1 204 No Content\r\n\r\n")
        except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.EndOfStream, anyio.DelimiterNotFound):
            return
        bench.tally.told[json.loads(body)["task_id"]] += 1


async def caller(bench: Bench, numbers: list[int]) -> None:
    """Make calls until none is left; each is sent again, under its key, until it is answered."""
    connection: _Connection | None = None
    while numbers:
        n = numbers.pop()
        while True:
            try:
                connection = connection or await _Connection.open(bench.port)
                if _settle(bench.tally, n, await connection.call(bench, n)):
                    break
            except (OSError, anyio.IncompleteRead, anyio.BrokenResourceError, anyio.EndOfStream):
                if connection is not None:
                    await connection.close()
                connection = None
            bench.tally.again += 1
            await anyio.sleep(AGAIN_S)
    if connection is not None:
        await connection.close()


def _settle(tally: Tally, n: int, answer: dict[str, Any]) -> bool:
    """Note an answer; `False` says that the call is to be sent again."""
    if "result" in answer:
        tally.answered[n] = answer["result"]["_meta"]["toolwire/task_id"]
        return True
    data = answer["error"].get("data", {})
    if data.get("retryable"):
        return False
    tally.failed[n] = str(data.get("code", answer["error"]["code"]))
    return True


class _Connection:
    """A connection to the gateway that is kept open."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._buffer = BufferedByteReceiveStream(stream)

    @classmethod
    async def open(cls, port: int) -> "_Connection":
        return cls(await anyio.connect_tcp("127.0.0.1", port))

    async def call(self, bench: Bench, n: int) -> dict[str, Any]:
        meta = {"toolwire/webhook": {"url": bench.hook, "secret": SECRET}}
        arguments = {"n": n, "idempotency_key": f"crash {n}"}
        params = {"name": "count", "arguments": arguments, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}).encode()
        head = (
            f"POST {bench.path} HTTP/1.1\r\nhost: 127.0.0.1:{bench.port}\r\ncontent-type: application/json\r\n"
            f"x-agent-api-key: {bench.key}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        await self._stream.send(head.encode() + body)
        _, answer = await _read(self._buffer)
        return json.loads(answer)

    async def close(self) -> None:
        await self._stream.aclose()


async def _read(buffer: BufferedByteReceiveStream) -> tuple[bytes, bytes]:
    head = (await buffer.receive_until(b"\r\n\r\n", MAX_HEAD)).lower()
    length = head.partition(b"content-length:")[2].partition(b"\r\n")[0].strip()
    return head, await buffer.receive_exactly(int(length)) if length else b""


async def measure(bench: Bench, calls: int, kills: int, callers: int, patience_s: float) -> float:
    """Make the calls; the seconds until the last had its answer, with the restarts in between."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    bench.hook = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/hook"

    async def taking(stream: SocketStream) -> None:
        await receive(bench, stream)

    numbers, elapsed = list(range(calls)), 0.0
    async with listener, anyio.create_task_group() as receiving:
        receiving.start_soon(listener.serve, taking)
        await _first_call(bench)
        began = time.monotonic()
        async with anyio.create_task_group() as working:
            for _ in range(callers):
                working.start_soon(caller, bench, numbers)
            for kill in range(1, kills + 1):
                at = calls * kill // (kills + 1)
                await _until(partial(bench.tally.reached, at), None)
                killed = time.monotonic()
                bench.kill()
                await anyio.to_thread.run_sync(bench.start)
                bench.away_s += time.monotonic() - killed
                print(f"killed and started again after {bench.tally.done} calls", file=sys.stderr)
        elapsed = time.monotonic() - began
        await _until(lambda: not bench.tally.lost, patience_s)
        receiving.cancel_scope.cancel()
    return elapsed


async def _until(condition: Callable[[], bool], limit_s: float | None) -> None:
    """Wait for something, at most that many seconds."""
    with anyio.move_on_after(limit_s):
        while True:
            if condition():
                return
            await anyio.sleep(POLL_S)


async def _first_call(bench: Bench) -> None:
    """Wait for the agent: a call of its own that is answered, and not counted."""
    with anyio.move_on_after(30):
        while not bench.tally.answered:  # it has no such tool before its agent is there
            await caller(bench, [-1])
            await anyio.sleep(AGAIN_S)
    if not bench.tally.answered:
        raise LaunchError(f"no call is answered: {bench.tally.failed}")
    await _until(lambda: not bench.tally.lost, 30)
    bench.tally.answered.clear()
    bench.tally.failed.clear()
    bench.tally.told.clear()
    bench.tally.again = 0


def main(tokens: Sequence[str]) -> int:
    """Measure; the status is 0, 1 when something was lost or executed twice, 2 if it could not run."""
    arguments = _parser().parse_args(tokens)
    cores = machine.cores()
    try:
        if arguments.nice:
            machine.set_nice(os.getpid(), arguments.nice)
        with Launcher(server_core=cores[0], agent_core=cores[-1], nice=arguments.nice) as launcher:
            bench = Bench(launcher, launcher.folder(), free_port())
            bench.start()
            bench.attach()
            elapsed = anyio.run(measure, bench, arguments.calls, arguments.kills, arguments.callers, arguments.patience)
            bench.count_cpu()
            executed = bench.executed()
    except (LaunchError, OSError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    return report(bench, executed, arguments, elapsed)


def report(bench: Bench, executed: Counter[int], arguments: argparse.Namespace, elapsed: float) -> int:
    """Print what was found; the exit status."""
    tally = bench.tally
    twice = [n for n, times in executed.items() if times > 1]
    lost = tally.lost
    found = {
        "calls": arguments.calls,
        "kills": arguments.kills,
        "calls_per_second": round(arguments.calls / elapsed, 1),
        "calls_per_second_up": round(arguments.calls / (elapsed - bench.away_s), 1),
        "gateway_cpu_us_per_call": round(1e6 * bench.cpu_s / arguments.calls),
        "answered": len(tally.answered),
        "failed": dict(Counter(tally.failed.values())),
        "lost_webhooks": len(lost),
        "double_executions": len(twice),
        "requests_sent_again": tally.again,
        "webhooks_told_again": sum(times - 1 for times in tally.told.values()),
    }
    if arguments.json:
        print(json.dumps(found))
    else:
        print(f"{machine.description()}; {time.strftime('%Y-%m-%d')}\n")
        for name, value in found.items():
            print(f"{name.replace('_', ' '):24} {value}")
    good = not lost and not twice and len(tally.answered) + len(tally.failed) == arguments.calls
    return 0 if good else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks crash", description=__doc__)
    parser.add_argument("--calls", type=int, default=10_000, help="keyed calls, each with a webhook (default: 10000)")
    parser.add_argument("--kills", type=int, default=5, help="how often the gateway is killed (default: 5)")
    parser.add_argument("--callers", type=int, default=32, help="connections, one call each at a time (default: 32)")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds to wait for webhooks in the end")
    parser.add_argument("--nice", type=int, default=0, help="niceness of all processes (default: 0)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    return parser
