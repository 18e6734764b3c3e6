"""Builds what a measurement needs: the load generator and one virtual environment a peer.

It does not start or measure anything, and it builds only what is missing or out of date.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.paths import HERE, REQUIREMENTS, WORK

SHARED_SOURCE = "tally.h"


class ToolchainError(Exception):
    """Something the benchmark needs is missing and cannot be made; the text says what to do."""


def loadgen(name: str = "loadgen") -> Path:
    """Return a compiled load generator: `loadgen` for HTTP, `stdiogen` for stdin and stdout.

    Raises:
        ToolchainError: this is not Linux, there is no C compiler, or it refuses the source.
    """
    if not sys.platform.startswith("linux"):
        raise ToolchainError(f"the load generator uses epoll and runs on Linux only, not on {sys.platform!r}")
    source = f"{name}.c"
    digest = hashlib.sha256((HERE / source).read_bytes() + (HERE / SHARED_SOURCE).read_bytes()).hexdigest()[:12]
    program = WORK / f"{name}-{digest}"
    if program.exists():
        return program
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise ToolchainError(
            "the load generator is a C program and there is no cc; on Debian and Ubuntu: apt-get install gcc libc6-dev"
        )
    WORK.mkdir(exist_ok=True)
    _run([compiler, "-O2", "-Wall", "-o", str(program), str(HERE / source)], f"cannot compile {source}")
    return program


def peer_python(peer: str) -> Path:
    """Return the interpreter of a peer's own environment, installed from `requirements/bench-{peer}.txt`.

    Raises:
        ToolchainError: the environment cannot be made or the packages cannot be installed.
    """
    requirements = _requirements(peer)
    folder = WORK / peer
    python = folder / "bin" / "python"
    stamp = folder / "installed"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing the peer {peer} into {folder.relative_to(WORK.parent)}", file=sys.stderr)
    WORK.mkdir(exist_ok=True)
    make = [sys.executable, "-m", "venv", "--clear", str(folder)]
    _run(make, "cannot make a virtual environment; on Debian and Ubuntu: apt-get install python3-venv")
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-r", str(requirements)]
    _run(pip, f"cannot install {requirements.name}")
    stamp.write_text(wanted)
    return python


def pinned_version(package: str) -> str:
    """Return the version of a peer that `requirements/bench-{package}.txt` pins.

    Raises:
        ToolchainError: it pins none.
    """
    for line in _requirements(package).read_text().splitlines():
        name, _, version = line.partition("==")
        if name == package:
            return version.split()[0]
    raise ToolchainError(f"requirements/bench-{package}.txt does not pin {package!r}")


def _requirements(peer: str) -> Path:
    path = REQUIREMENTS / f"bench-{peer}.txt"
    if not path.exists():
        raise ToolchainError(f"no pins for the peer {peer!r}: {path} does not exist")
    return path


def _run(command: list[str], failure: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolchainError(f"{failure}\n{(done.stderr or done.stdout).strip()[-2000:]}")
