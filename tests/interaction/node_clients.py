"""The official TypeScript clients, installed from the lock file of `ts/` into the cache; it starts no server."""

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio

from tests.conformance.suite import find_node

HERE = Path(__file__).resolve().parent / "ts"
ROOT = HERE.parents[2]
CACHE = ROOT / ".cache" / "clients"
FILES = ("package.json", "package-lock.json", ".npmrc", "talk.mjs")
PATIENCE_S = 60.0


class Talker:
    """The script that talks to a server."""

    def __init__(self, node: Path, folder: Path) -> None:
        self._command = [str(node), str(folder / "talk.mjs")]

    async def talk(self, client: str, mode: str, target: Sequence[str]) -> dict[str, Any]:
        """Let one client talk to a server and return what it saw; see `ts/talk.mjs`."""
        with anyio.fail_after(PATIENCE_S):
            done = await anyio.run_process([*self._command, client, mode, *target], check=False, cwd=ROOT)
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)


def installed() -> Talker:
    """The clients, installed with npm if this version of them is not there yet."""
    node = find_node()
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest()[:12]
    folder = CACHE / digest
    if not folder.exists():
        _install(node, folder)
    return Talker(node, folder)


def _install(node: Path, folder: Path) -> None:
    CACHE.mkdir(parents=True, exist_ok=True)
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"  # npm starts `node` by its name
    # Installed aside and renamed, so that what is there is whole, whoever else installs at the same time.
    with tempfile.TemporaryDirectory(prefix="new-", dir=CACHE) as made:
        for name in FILES:
            shutil.copy(HERE / name, made)
        command = [str(node.with_name("npm")), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(
            command, cwd=made, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"npm could not install the clients: {done.stderr}"
        try:
            Path(made).rename(folder)
        except OSError:
            if not folder.exists():
                raise
