"""MCP Inspector's command line, installed from the lock file of `inspector/`; it asserts nothing of what it prints.

`package.json` keeps vite, which the command line does not use, below 8.4: that one wants an optional package for
Windows which not every registry has, and without it `npm ci` refuses the lock file.
"""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.node_packages import Installed, install

HERE = Path(__file__).resolve().parent / "inspector"
PROGRAM = Path("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
LIMIT_S = 60.0


class Seen(Struct, frozen=True):
    """What one run printed; `json` is `None` where it printed no result."""

    code: int
    json: Any
    errors: str


class Inspector:
    """Runs the command line; what it keeps is kept in `home`."""

    def __init__(self, found: Installed, home: Path) -> None:
        self._command = [str(found.node), str(found.folder / PROGRAM), "--cli"]
        self._environment = {**found.environment(), "HOME": str(home), "MCP_CATALOG_PATH": str(home / "mcp.json")}

    def inspect(self, target: Sequence[str], era: str, method: str, *options: str) -> Seen:
        """Ask `target`, a command or what goes before a URL and the URL, for one method.

        Args:
            target: as the command line takes it.
            era: "legacy", "modern" or "auto".
            method: such as "tools/list".
            options: more of its options.
        """
        # A command of several words ends its own options where ours begin.
        command = [*self._command, *target, "--protocol-era", era, "--method", method, *options, "--format", "json"]
        done = subprocess.run(
            command, env=self._environment, capture_output=True, text=True, check=False, timeout=LIMIT_S
        )
        return Seen(done.returncode, json.loads(done.stdout) if done.stdout.strip() else None, done.stderr)

    def signing_in(self, url: str, callback: str, *options: str) -> "subprocess.Popen[str]":
        """Ask `url`, which wants OAuth, and say on stderr where a browser must go; the client waits at `callback`."""
        command = [*self._command, "--server-url", url, "--transport", "http", "--callback-url", callback, *options]
        # It signs in only where there is a person: a terminal, or a browser that it may open, which does nothing here.
        person = {"MCP_AUTO_OPEN_ENABLED": "true", "BROWSER": "true", "MCP_INSPECTOR_SECRET_STORE": "memory"}
        return subprocess.Popen(
            [*command, "--format", "json"],
            env={**self._environment, **person},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def installed(home: Path) -> Inspector:
    """The Inspector, installed with npm if this version of it is not there yet."""
    return Inspector(install(HERE, "inspector"), home)
