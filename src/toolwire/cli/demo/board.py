"""The first workspace of a host with the demo agent: that agent, a card and a terminal, joined by arrows.

It is made over the host's own REST surface, as anybody would; what it shows is the page's business.
"""

import logging
from pathlib import Path
from typing import Any, Final

from toolwire.cli.demo.keys import DemoKeys
from toolwire.client import ApiError, AsyncClient

logger = logging.getLogger("toolwire.demo")

LIBRARY: Final = Path(__file__).with_name("library")
"""The package of the card."""
NAME: Final = "First steps"
EXAMPLE: Final[dict[str, Any]] = {"tool": "library_read", "arguments": {"query": "how do tides work"}}
"""The call that the page offers to make."""


async def make_first_workspace(url: str, owner_key: str, keys: DemoKeys) -> None:
    """Make the workspace if the owner has none. A host that refuses is said so in the log, and goes on.

    Args:
        url: the host's address.
        owner_key: opens its REST surface.
        keys: the demo agent's.
    """
    try:
        async with AsyncClient(url, owner_key) as client:
            if not (await client.workspaces.list()).workspaces:
                await _make(client, keys.agent_id)
    except ApiError as error:
        logger.warning("the first workspace was not made: %s", error)


async def _make(client: AsyncClient, agent_id: str) -> None:
    package = await client.packages.add(str(LIBRARY))
    if package.status == "consent_required":
        await client.packages.consent(package.package, package.digest, True)
    workspace = (await client.workspaces.create(NAME)).id
    library = {"package": package.package, "content": {"example": EXAMPLE}}
    changes: list[dict[str, Any]] = [
        _card("agent", "agent", "Demo agent", (0, 60), (260, 180), agent_id=agent_id),
        _card("library", "card", "Library", (560, 0), (320, 200), **library),
        _card("terminal", "terminal", "Terminal", (560, 280), (520, 320)),
        {"change": "add_arrow", "source": "agent", "target": "library"},
        {"change": "add_arrow", "source": "agent", "target": "terminal"},
    ]
    await client.workspaces.edit(workspace, changes)


def _card(
    ref: str, kind: str, title: str, place: tuple[int, int], size: tuple[int, int], **more: Any
) -> dict[str, Any]:
    (x, y), (width, height) = place, size
    placed = {"x": x, "y": y, "width": width, "height": height}
    return {"change": "add_card", "ref": ref, "kind": kind, "title": title, **placed, **more}
