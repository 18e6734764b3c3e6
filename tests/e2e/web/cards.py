"""Web cards made for tests of the page, and an official MCP client beside a browser; it asserts nothing.

A test that drives a browser is synchronous: the client runs in a thread of its own, and a call is a future.
"""

import shutil
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client.session import ClientSession
from mcp.types import CallToolResult

from tests.card_sdk.bundles import bundled
from tests.card_sdk.package import built
from tests.e2e.canvas_hosts import toolbox
from tests.node_packages import ROOT
from tests.unit.card.manifests import encoded

EXAMPLES = ROOT / "examples" / "cards"


def tool(name: str, properties: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A tool of a manifest."""
    schema = {"type": "object", "properties": properties or {}}
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


def declared(name: str, *tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A manifest of a web card."""
    shown = name.replace("-", " ").capitalize()
    return {
        "manifestVersion": 1,
        "name": name,
        "displayName": shown,
        "version": "1.0.0",
        "protocol": 1,
        "author": {"name": "Ada"},
        "entry": "index.html",
        "tools": list(tools),
        **more,
    }


def plain_card(folder: Path, manifest: dict[str, Any], page: str, script: str) -> Path:
    """A card without our library: a page, and a script beside it."""
    folder.mkdir()
    (folder / "toolwire-card.json").write_bytes(encoded(manifest))
    (folder / "index.html").write_text(page)
    (folder / "main.js").write_text(script)
    return folder


def typescript_card(folder: Path, manifest: dict[str, Any], script: str) -> Path:
    """A card with our library, bundled as its author would; its page has an element `#said`."""
    source = folder.with_name(f"{folder.name}-source") / "main.ts"
    source.parent.mkdir()
    source.write_text(script)
    bundled(built(), folder, source, manifest)
    page = '<!doctype html><title>card</title><p id="said">…</p><script type="module" src="./dist/main.js"></script>'
    (folder / "index.html").write_text(page)
    return folder


def radar_card(folder: Path) -> Path:
    """The card of the documentation, in TypeScript, built."""
    source = folder.with_name(f"{folder.name}-source")
    shutil.copytree(EXAMPLES / "test-radar-ts", source)
    manifest = msgspec.json.decode((source / "toolwire-card.json").read_bytes())
    bundled(built(), folder, source / "src" / "main.ts", manifest)
    shutil.copy(source / "index.html", folder / "index.html")
    return folder


class Caller:
    """An official MCP client on an agent's toolbox."""

    def __init__(self, portal: BlockingPortal, client: ClientSession) -> None:
        self._portal = portal
        self._client = client

    def call(self, name: str, **arguments: Any) -> Future[CallToolResult]:
        """Begin a call."""
        return self._portal.start_task_soon(self._client.call_tool, name, arguments)

    def tools(self) -> list[str]:
        """The names of the tools that it sees."""
        return [tool.name for tool in self._portal.call(self._client.list_tools).tools]


@contextmanager
def caller(agent: dict[str, Any]) -> Generator[Caller]:
    """A client for an agent's card, as the host showed it when it was made."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(toolbox(agent)) as client:
        yield Caller(portal, client)


def text_of(result: CallToolResult) -> str:
    """The text of a result's first part."""
    return str(getattr(result.content[0], "text", ""))
