"""The official TypeScript clients, installed from the lock file of `ts/` into the cache; it starts no server."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from tests.node_packages import ROOT, Installed, install

HERE = Path(__file__).resolve().parent / "ts"
PATIENCE_S = 60.0


class Talker:
    """The script that talks to a server; `server` is the command of one to talk to, of 2025-11-25."""

    def __init__(self, found: Installed) -> None:
        self._command = [str(found.node), str(found.folder / "talk.mjs")]
        self.server = (str(found.node), str(found.folder / "serve.mjs"))

    async def talk(self, client: str, mode: str, target: Sequence[str]) -> dict[str, Any]:
        """Let one client talk to a server and return what it saw; see `ts/talk.mjs`."""
        with anyio.fail_after(PATIENCE_S):
            done = await anyio.run_process([*self._command, client, mode, *target], check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


def installed() -> Talker:
    """The clients, installed with npm if this version of them is not there yet."""
    return Talker(install(HERE, "clients", ("talk.mjs", "serve.mjs")))
