"""Packages of npm for tests, installed from a lock file into the cache; it starts none of them.

To take another version, change `package.json` and run `npm install --package-lock-only` in its folder, whose `.npmrc`
keeps download addresses out of the lock file.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from tests.conformance.suite import find_node

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ("package.json", "package-lock.json", ".npmrc")


class Installed(Struct, frozen=True):
    """A Node and the folder that has `node_modules`."""

    node: Path
    folder: Path

    def environment(self) -> dict[str, str]:
        """npm's programs start `node` by its name, which must mean this one."""
        return {**os.environ, "PATH": f"{self.node.parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def install(here: Path, name: str, more: Sequence[str] = ()) -> Installed:
    """Install what the lock file in `here` names, if it is not there yet.

    Args:
        here: the folder of the package.
        name: of its place in the cache.
        more: files of ours beside the package's that belong to it.
    """
    files = (*PACKAGE, *more)
    node = find_node()
    digest = hashlib.sha256(b"".join((here / file).read_bytes() for file in files)).hexdigest()[:12]
    cache = ROOT / ".cache" / name
    found = Installed(node, cache / digest)
    if found.folder.exists():
        return found
    cache.mkdir(parents=True, exist_ok=True)
    # Installed aside and renamed, so that what is there is whole, whoever else installs at the same time.
    with tempfile.TemporaryDirectory(prefix="new-", dir=cache) as made:
        for file in files:
            shutil.copy(here / file, made)
        command = [str(node.with_name("npm")), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        done = subprocess.run(command, cwd=made, env=found.environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"npm could not install {name}: {done.stderr}"
        try:
            Path(made).rename(found.folder)
        except OSError:
            if not found.folder.exists():
                raise
    return found
