"""Starts real `toolwire` processes for tests, asks them, and stops them; it asserts nothing of what they answer."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import anyio
import httpx2
from msgspec import Struct

TOOLWIRE = str(Path(sys.executable).with_name("toolwire"))
STOP_LIMIT_S = 20.0
POLL_S = 0.02


class Ready(Struct, frozen=True):
    """The line that `up --demo --json` prints."""

    url: str
    owner_key: str
    data: str
    pid: int
    sign_in: str = ""
    agent_id: str = ""
    agent_key: str = ""
    bak: str = ""


class Done(Struct, frozen=True):
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """The one line of JSON on stdout."""
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


class Process:
    """A long-running `toolwire` command. Use it in a `with` block, whose end kills it if it runs then."""

    def __init__(self, tokens: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None) -> None:
        self.errors = cwd / f"{tokens[0]}-{os.urandom(4).hex()}.err"
        with self.errors.open("wb") as errors:
            self.popen = subprocess.Popen(
                [TOOLWIRE, *tokens],
                cwd=cwd,
                env=environment({**home_beside(cwd), **(env or {})} if tokens[0] == "up" else env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.popen.kill()
        self.popen.wait(STOP_LIMIT_S)
        if self.popen.stdout is not None:
            self.popen.stdout.close()

    def line(self) -> Any:
        """The next line it prints, as JSON; raises with its errors if it ends instead."""
        assert self.popen.stdout is not None
        line = self.popen.stdout.readline()
        if not line:
            raise AssertionError(f"it ended with {self.popen.wait(STOP_LIMIT_S)}: {self.errors.read_text()}")
        return json.loads(line)

    def errors_say(self, text: str, times: int = 1) -> None:
        """Wait until its errors have `text` so many times; raises when it ends without."""
        while self.errors.read_text().count(text) < times:
            if self.popen.poll() is not None and self.errors.read_text().count(text) < times:
                raise AssertionError(self.errors.read_text())
            time.sleep(POLL_S)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait; the exit code."""
        self.popen.send_signal(number)
        return self.popen.wait(STOP_LIMIT_S)


class Host(Process):
    """`toolwire up --demo --json` on a free port; `ready` is what it printed."""

    def __init__(self, cwd: Path, *flags: str, port: int = 0, env: Mapping[str, str] | None = None) -> None:
        super().__init__(["up", "--demo", "--json", "--port", str(port), *flags], cwd, env)
        try:
            line = self.line()
            if "error" in line:
                raise AssertionError(f"it did not start: {line}; {self.errors.read_text()}")
            self.ready = Ready(**line)
        except BaseException:
            self.__exit__()
            raise
        self.cwd = cwd
        self.client = httpx2.Client(base_url=self.ready.url, timeout=30, trust_env=False)

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "client"):
            self.client.close()
        super().__exit__()

    @property
    def port(self) -> int:
        return httpx2.URL(self.ready.url).port or 0

    def toolwire(self, *tokens: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Done:
        """Run another command beside it, in the same folder."""
        return toolwire(*tokens, cwd=self.cwd, env=env, stdin=stdin)

    def attached(self, name: str) -> str:
        """Wait until the owner's agent of that name is attached; its id."""
        headers = {"authorization": f"Bearer {self.ready.owner_key}"}
        for _ in range(int(STOP_LIMIT_S / POLL_S)):
            answer = self.client.get(f"/api/v1/agents/{name}", headers=headers)
            if answer.status_code == 200 and answer.json()["data"]["attached"]:
                return answer.json()["data"]["agent_id"]
            time.sleep(POLL_S)
        raise AssertionError(f"agent {name!r} is not attached")

    def rpc(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """One JSON-RPC request to the demo agent's endpoint, as curl would send it; the parsed body."""
        request = {"jsonrpc": "2.0", "id": 1, "method": method, **({} if params is None else {"params": params})}
        sent = {"x-agent-api-key": self.ready.bak, **headers}
        return self.client.post(f"/{self.ready.agent_id}/mcp", json=request, headers=sent).json()


def toolwire(*tokens: str, cwd: Path, env: Mapping[str, str] | None = None, stdin: str = "") -> Done:
    """Run a command to its end."""
    done = subprocess.run(
        [TOOLWIRE, *tokens],
        cwd=cwd,
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Our environment without settings of Toolwire, and with the commands of this Python first on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TOOLWIRE_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), kept.get("PATH", "")])
    return {**kept, "PATH": path, **(more or {})}


def home_beside(folder: Path) -> dict[str, str]:
    """An empty home for the shells of a host: what ours says in ~/.bashrc may take long, and may not be cut off."""
    home = folder.with_name(f"{folder.name}-home")
    home.mkdir(exist_ok=True)
    return {"HOME": str(home)}


async def eventually(condition: Callable[[], bool]) -> None:
    """Wait until another process has made something true."""
    for _ in range(int(STOP_LIMIT_S / POLL_S)):
        if condition():
            return
        await anyio.sleep(POLL_S)
    raise AssertionError("it has not come true in time")


@contextlib.contextmanager
def shell(script: str, cwd: Path, env: Mapping[str, str] | None = None) -> Generator["subprocess.Popen[str]"]:
    """A bash script that runs while the block lasts, with all that it starts."""
    process = subprocess.Popen(
        ["bash", script],
        cwd=cwd,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(STOP_LIMIT_S)
        if process.stdout is not None:
            process.stdout.close()
