"""Cards in TypeScript as their authors ship them: one script, bundled with the package, and a page that loads it."""

import os
import signal
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from tests.card_sdk.package import Built
from tests.unit.card.manifests import encoded

PAGE = '<!doctype html><title>card</title><script type="module" src="./dist/main.js"></script>'
PATIENCE_S = 60.0


def bundled(package: Built, folder: Path, source: Path, manifest: dict[str, Any]) -> Path:
    """A card in `folder`, made of the script `source`; nothing but what its host needs is there."""
    beside = source.parent / "node_modules" / "@toolwire"
    beside.mkdir(parents=True, exist_ok=True)
    (beside / "card-sdk").symlink_to(package.folder)
    out = folder / "dist" / "main.js"
    package.tool("esbuild", str(source), "--bundle", "--format=esm", f"--outfile={out}", cwd=source.parent)
    (folder / "index.html").write_text(PAGE)
    (folder / "toolwire-card.json").write_bytes(encoded(manifest))
    return folder


class Headless:
    """A card that runs without a page; `lines` is what it has said."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.lines: list[str] = []

    async def says(self, start: str) -> str:
        """Wait for a line that starts like this; it is passed once."""
        stderr = self.process.stderr
        assert stderr is not None
        text = ""
        with anyio.fail_after(PATIENCE_S):
            async for chunk in stderr:
                *whole, text = (text + chunk.decode()).split("\n")
                self.lines += whole
                found = [line for line in whole if line.startswith(start)]
                if found:
                    return found[0]
        raise AssertionError(f"it ended without {start!r}: {self.lines}")


@asynccontextmanager
async def headless(package: Built, url: str, key: str, named: str, entry: Path) -> AsyncGenerator[Headless]:
    """A process that runs a card's entry against a host."""
    program = package.folder / "dist" / "headless.js"
    command = [str(package.node), str(program), "--url", url, "--package", named, "--entry", str(entry)]
    process = await anyio.open_process(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**os.environ, "TOOLWIRE_KEY": key},
    )
    try:
        yield Headless(process)
    finally:
        with anyio.CancelScope(shield=True):
            if process.returncode is None:
                process.send_signal(signal.SIGKILL)
            await process.aclose()
