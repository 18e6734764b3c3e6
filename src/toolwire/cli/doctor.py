"""`toolwire doctor`: looks at what Toolwire needs here and says what to do about what is wrong; it repairs nothing."""

import os
import platform
import socket
import sys
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Literal

import httpx2
from msgspec import Struct

from toolwire import __version__, config
from toolwire.cli.data_folder import DataFolder, HostInfo
from toolwire.cli.environment import variable
from toolwire.cli.failure import DONE, TOOL_FAILED, Failed
from toolwire.cli.output import print_json, print_text
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import URL_VARIABLE, Target, checked_url, optional_key
from toolwire.config import Config, ConfigError

HERE = HostFlags()
TIMEOUT_S: Final = 10.0
CLOCK_SKEW_S: Final = 5.0

State = Literal["ok", "note", "wrong"]
_MARKS: Final = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}


class Finding(Struct, frozen=True, omit_defaults=True):
    """What one look has found, and what to do about it."""

    check: str
    state: State
    found: str
    advice: str = ""


def doctor(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """Look at what Toolwire needs here, and say what to do about what is wrong.

    Ends with 1 when something is wrong. With `--json`: `{"ok", "findings": [{"check", "state", "found", "advice"?}]}`,
    where `state` is `ok`, `note` or `wrong`.
    """
    findings = list(look(host))
    well = all(finding.state != "wrong" for finding in findings)
    if json:
        print_json({"ok": well, "findings": findings})
    else:
        for finding in findings:
            advice = f"\n        {finding.advice}" if finding.advice else ""
            print_text(f"{_MARKS[finding.state]} {finding.check}: {finding.found}{advice}")
    return DONE if well else TOOL_FAILED


def look(host: HostFlags) -> Iterator[Finding]:
    """Everything there is to see, one finding after the other."""
    yield _python()
    yield _mcp_client()
    named = host.url or variable(URL_VARIABLE)
    try:
        settings = config.load(environ=os.environ).config
    except ConfigError as error:
        yield Finding(
            "settings", "wrong", str(error).replace("\n", "; "), "correct them; see `toolwire config explain`"
        )
        return
    yield Finding("settings", "ok", "all keys are known and fit")
    folder = DataFolder(host.data or Path(settings.data))
    if named is not None:
        yield from _host(checked_url(named), host)
        return
    yield _data(folder)
    info = folder.host()
    if info is None or not _lives(info):
        yield Finding("host", "note", f"none runs on {str(folder.path)!r}", "start one with `toolwire up`")
        yield _port(settings)
        return
    yield from _host(info.url, host)


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} on {sys.platform}, Toolwire {__version__}")


def _mcp_client() -> Finding:
    if find_spec("mcp") is None:
        return Finding(
            "mcp client",
            "note",
            "not installed; `toolwire call` and `toolwire tools list` need it",
            'pip install "mcp>=2.3"',
        )
    return Finding("mcp client", "ok", "installed")


def _data(folder: DataFolder) -> Finding:
    if not folder.path.exists():
        return Finding("data folder", "note", f"{str(folder.path)!r} is not there yet", "`toolwire up` makes it")
    try:
        folder.prepare()
    except Failed as failed:
        return Finding("data folder", "wrong", failed.message, "`toolwire up` cannot run on it")
    if folder.owner_key() is None:
        return Finding(
            "data folder",
            "note",
            f"{str(folder.path)!r} can be written and has no owner.key we may read",
            "`toolwire up` makes one at its next start",
        )
    return Finding("data folder", "ok", f"{str(folder.path)!r} can be written; it has the owner's key")


def _lives(info: HostInfo) -> bool:
    try:
        os.kill(info.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


def _port(settings: Config) -> Finding:
    where = f"{settings.host}:{settings.port}"
    try:
        with socket.create_connection((settings.host, settings.port), timeout=1):
            return Finding(
                "port",
                "wrong",
                f"another program listens on {where}",
                "stop it, or choose another port with --port or TOOLWIRE_PORT",
            )
    except OSError:
        return Finding("port", "ok", f"{where} is free")


def _host(url: str, flags: HostFlags) -> Iterator[Finding]:
    try:
        alive = httpx2.get(f"{url}/healthz", timeout=TIMEOUT_S, trust_env=False)
        ready = httpx2.get(f"{url}/readyz", timeout=TIMEOUT_S, trust_env=False)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        advice = "is it still starting, or has it been killed? Start one with `toolwire up`"
        yield Finding("host", "wrong", f"nobody answers at {url}: {error}", advice)
        return
    if alive.status_code != 200:
        yield Finding("host", "wrong", f"{url} answers HTTP {alive.status_code}", "is the address right?")
        return
    yield Finding("host", "ok", f"answers at {url}")
    yield _store(ready)
    yield _clock(alive)
    key = optional_key(flags)
    if key is None:
        yield Finding("agents", "note", "not looked at: no key to ask with", "pass --key, or set TOOLWIRE_KEY")
    else:
        yield from _agents(Target(url, key))


def _store(ready: httpx2.Response) -> Finding:
    if ready.status_code == 200:
        return Finding("store", "ok", "can be written")
    try:
        problem = str(ready.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        problem = f"/readyz answers HTTP {ready.status_code}"
    return Finding(
        "store", "wrong", problem, "free some space or make the data folder writable; no calls are taken now"
    )


def _clock(response: httpx2.Response) -> Finding:
    """Deadlines and times are compared between machines, so the clocks must agree."""
    date = response.headers.get("date")
    if date is None:
        return Finding("clock", "note", "the host tells no time")
    skew_s = time.time() - parsedate_to_datetime(date).timestamp()
    if abs(skew_s) > CLOCK_SKEW_S:
        return Finding(
            "clock", "wrong", f"this machine's differs from the host's by {skew_s:.0f} s", "set both by a time server"
        )
    return Finding("clock", "ok", "agrees with the host's")


def _agents(target: Target) -> Iterator[Finding]:
    try:
        with Rest(target) as rest:
            agents: list[dict[str, Any]] = rest.ask("GET", "/api/v1/agents")
    except Failed as failed:
        yield Finding("agents", "note", failed.message, "ask with an owner's key (oag_)")
        return
    if not agents:
        yield Finding("agents", "note", "none are registered", "run one with `toolwire agent run MODULE:NAME`")
    for agent in agents:
        name = f"{agent['name']} ({agent['agent_id']})"
        if agent["attached"]:
            count = len(agent["skills"])
            yield Finding("agent", "ok", f"{name} is attached with {count} {'tool' if count == 1 else 'tools'}")
        else:
            advice = "start its process; calls to it are refused until then"
            yield Finding("agent", "note", f"{name} is not attached", advice)
