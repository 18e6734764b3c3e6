"""The TypeScript package of cards, built from a copy of its sources in the cache; nothing is written beside them."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.node_packages import ROOT, Installed, install

SOURCES: Final = ROOT / "packages" / "card-sdk"
PATIENCE_S: Final = 100.0


class Built(Struct, frozen=True):
    """The package in a folder of its own, with `dist` and `node_modules`."""

    installed: Installed
    folder: Path

    @property
    def node(self) -> Path:
        return self.installed.node

    def tool(self, name: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run a program of the package's dependencies; what it said. Fails with that if it ends badly."""
        program = self.folder / "node_modules" / ".bin" / name
        return _run([str(self.node), str(program.resolve()), *arguments], self.installed, cwd or self.folder)


@cache
def built() -> Built:
    """The package, with its dependencies from its lock file and the sources as they are now."""
    installed = install(SOURCES, "card-sdk")
    files = sorted(_sources())
    names = "".join(f"{file.relative_to(SOURCES)}\n" for file in files).encode()
    digest = hashlib.sha256(names + b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    home = ROOT / ".cache" / "card-sdk-built"
    found = Built(installed, home / digest)
    if found.folder.exists():
        return found
    home.mkdir(parents=True, exist_ok=True)
    # Built aside and renamed, so that what is there is whole, whoever else builds at the same time.
    with tempfile.TemporaryDirectory(prefix="new-", dir=home) as made:
        for file in files:
            target = Path(made) / file.relative_to(SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
        (Path(made) / "node_modules").symlink_to(installed.folder / "node_modules")
        Built(installed, Path(made)).tool("tsc", "-p", "tsconfig.build.json")
        try:
            Path(made).rename(found.folder)
        except OSError:
            if not found.folder.exists():
                raise
    return found


def _sources() -> list[Path]:
    own = [path for path in SOURCES.iterdir() if path.is_file()]
    return own + [path for name in ("src", "tests") for path in (SOURCES / name).rglob("*") if path.is_file()]


def _run(command: Sequence[str], installed: Installed, cwd: Path) -> str:
    environment = {**installed.environment(), "NO_COLOR": "1", "CI": "1"}
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
