"""The services under test and how each is started.  It does not say what is measured on them: cases.py does."""

import contextlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.launcher import (
    START_LIMIT_S,
    Endpoint,
    Launcher,
    LaunchError,
    free_port,
    last_output,
    log_path,
    read_json,
)
from benchmarks.paths import SERVERS, TOOLWIRE
from benchmarks.toolchain import peer_python

# The same server program and options for every peer: the fastest ones that each documents.
UVICORN = ("--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning")

# Rate limits are for the internet; a benchmark would measure nothing but them.


@dataclass(frozen=True, slots=True)
class Service:
    """Processes that together answer at one endpoint.

    Attributes:
        name: names the log files, so it has no spaces.
        launch: starts them and returns once the port accepts connections.
    """

    name: str
    launch: Callable[[Launcher], Endpoint]


def peer(name: str, package: str, mode: str) -> Service:
    """Return a peer's echo server; `mode` is "stateless", "session" or "sse" and chooses its transport options."""

    def launch(launcher: Launcher) -> Endpoint:
        port = free_port()
        command = (str(peer_python(package)), "-m", "uvicorn", f"{package}_echo:app", *UVICORN, "--port", str(port))
        pid = launcher.start(name, command, core=launcher.server_core, cwd=SERVERS, env={"MODE": mode})
        launcher.wait_listening(name, port)
        return Endpoint(port, "/mcp", frozenset({pid}))

    return Service(name, launch)


def toolwire_served(name: str) -> Service:
    """Return the echo tool served by `toolwire tools serve --http`, in one process and without a gateway."""

    def launch(launcher: Launcher) -> Endpoint:
        port = free_port()
        command = (str(TOOLWIRE), "tools", "serve", str(SERVERS / "toolwire_echo.py"), "--http", "--port", str(port))
        pid = launcher.start(name, command, core=launcher.server_core)
        launcher.wait_listening(name, port)
        return Endpoint(port, "/mcp", frozenset({pid}))

    return Service(name, launch)


def toolwire_keyed(name: str) -> Service:
    """Return the gateway's door, keys, store and record before the echo tool of the same process."""

    def launch(launcher: Launcher) -> Endpoint:
        port, data = free_port(), str(launcher.folder())
        command = (sys.executable, "-m", "benchmarks.servers.toolwire_keyed", str(port), data)
        pid = launcher.start(name, command, core=launcher.server_core)
        ready = ready_line(launcher, name)
        return Endpoint(port, str(ready["path"]), frozenset({pid}), (f"X-Agent-API-Key: {ready['key']}",))

    return Service(name, launch)


def mcp_stdio(name: str) -> Service:
    """Return the official SDK's echo server on stdin and stdout."""

    def launch(launcher: Launcher) -> Endpoint:
        command = (str(peer_python("mcp")), str(SERVERS / "mcp_stdio.py"))
        return Endpoint(0, "", frozenset(), command=command, core=launcher.server_core)

    return Service(name, launch)


def toolwire_stdio(name: str) -> Service:
    """Return the echo tool served by `toolwire tools serve --stdio`."""

    def launch(launcher: Launcher) -> Endpoint:
        command = (str(TOOLWIRE), "tools", "serve", str(SERVERS / "toolwire_echo.py"), "--stdio")
        return Endpoint(0, "", frozenset(), command=command, core=launcher.server_core)

    return Service(name, launch)


def toolwire_gateway(name: str) -> Service:
    """Return a gateway with its default store and the echo tool in an agent process attached to it."""

    def launch(launcher: Launcher) -> Endpoint:
        port, data = free_port(), str(launcher.folder())
        up = (str(TOOLWIRE), "up", "--host", "127.0.0.1", "--port", str(port), "--data", data, "--json")
        unlimited = {"TOOLWIRE_RATE_LIMIT_PER_MINUTE": "0"}
        gateway = launcher.start(name, up, core=launcher.server_core, env=unlimited)
        ready_line(launcher, name)
        agent = read_json(name, (str(TOOLWIRE), "agent", "create", "bench", "--data", data, "--json"))
        agent_id, agent_key = str(agent["agent_id"]), str(agent["agent_key"])
        key = read_json(name, (str(TOOLWIRE), "key", "create", "--agent", agent_id, "--data", data, "--json"))
        run = (
            str(TOOLWIRE),
            "agent",
            "run",
            "benchmarks.servers.toolwire_agent:agent",
            "--url",
            f"http://127.0.0.1:{port}",
        )
        attached = launcher.start(f"{name}-agent", run, core=launcher.agent_core, env={"TOOLWIRE_AGENT_KEY": agent_key})
        return Endpoint(port, f"/{agent_id}/mcp", frozenset({gateway, attached}), (f"X-Agent-API-Key: {key['key']}",))

    return Service(name, launch)


def ready_line(launcher: Launcher, name: str) -> dict[str, Any]:
    """Wait for the one JSON line that a server prints once it is ready."""
    end = time.monotonic() + START_LIMIT_S
    while time.monotonic() < end:
        launcher.check_alive(name)
        for line in log_path(name).read_text(errors="replace").splitlines():
            with contextlib.suppress(ValueError):  # a line may be half written, or not JSON
                if line.startswith("{") and "url" in (ready := json.loads(line)):
                    return ready
        time.sleep(0.05)
    raise LaunchError(f"{name} printed no ready line within {START_LIMIT_S:.0f} s{last_output(name)}")
