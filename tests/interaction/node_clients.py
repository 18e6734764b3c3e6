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
    """The scripts that talk to a server; `server` is the command of one to talk to, of 2025-11-25."""

    def __init__(self, found: Installed) -> None:
        self._found = found
        self.server = (str(found.node), str(found.folder / "serve.mjs"))

    async def talk(self, client: str, mode: str, target: Sequence[str]) -> dict[str, Any]:
        """Let one client talk to a server and return what it saw; see `ts/talk.mjs`."""
        return await self._run("talk.mjs", client, mode, *target)

    async def resume(self, client: str, url: str, tool: str) -> dict[str, Any]:
        """Let one client call a tool while its connection breaks; see `ts/resume.mjs`."""
        return await self._run("resume.mjs", client, url, tool)

    def scenario(self, client: str, mode: str) -> list[str]:
        """The command that goes through the scenario; a target is still to follow. See `ts/scenario.mjs`."""
        return [str(self._found.node), str(self._found.folder / "scenario.mjs"), client, mode]

    def lists(self, client: str, mode: str, url: str, key: str) -> list[str]:
        """The command that prints the list of tools at first and after each change of it; see `ts/lists.mjs`."""
        return [str(self._found.node), str(self._found.folder / "lists.mjs"), client, mode, url, key]

    def oauth(self, client: str, url: str, tool: str, arguments: str) -> list[str]:
        """The command that signs in and calls a tool. See `ts/oauth.mjs`."""
        return [str(self._found.node), str(self._found.folder / "oauth.mjs"), client, url, tool, arguments]

    async def _run(self, script: str, *arguments: str) -> dict[str, Any]:
        command = [str(self._found.node), str(self._found.folder / script), *arguments]
        with anyio.fail_after(PATIENCE_S):
            done = await anyio.run_process(command, check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


def installed() -> Talker:
    """The clients, installed with npm if this version of them is not there yet."""
    scripts = ("talk.mjs", "serve.mjs", "resume.mjs", "scenario.mjs", "lists.mjs", "oauth.mjs")
    return Talker(install(HERE, "clients", scripts))
