"""Write web/src/api/schema.ts from the document of a host's REST surface, so that the page's types are the host's.

`--check` writes nothing and says whether the file is current. `openapi-typescript` makes the types.
"""

import sys
import tempfile
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import anyio  # noqa: E402 - a script finds its neighbours like that
import msgspec  # noqa: E402

from scripts.build_web import run  # noqa: E402
from scripts.made_file import write_or_check  # noqa: E402
from toolwire.cli.host import open_host  # noqa: E402
from toolwire.config import Config  # noqa: E402
from toolwire.surfaces.openapi import document_of  # noqa: E402

TARGET: Final = ROOT / "web" / "src" / "api" / "schema.ts"
OPTIONS: Final = ("--default-non-nullable=false", "--empty-objects-unknown")
"""What has a default may be left out, and an object of no known shape is not an empty one."""


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` say whether it is current; the exit code."""
    return write_or_check(TARGET, schema_text(), arguments, "scripts/make_web_types.py")


def schema_text() -> str:
    """The whole of schema.ts."""
    with tempfile.TemporaryDirectory() as folder:
        document, made = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        document.write_bytes(anyio.run(_document, folder))
        run("openapi-typescript", str(document), "-o", str(made), *OPTIONS)
        return made.read_text("utf-8")


async def _document(folder: str) -> bytes:
    async with open_host(Config(data=str(Path(folder) / "data"))) as host:
        return msgspec.json.encode(document_of([*host.gateway.routes, *host.canvas.routes]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
