"""cards.md 2, 5, 66-68: whatever edits come, an agent has the tools that boards and packages grant, and no others."""

import tempfile
from pathlib import Path
from typing import Any

import anyio
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.canvas.cards import WireAgent, install
from tests.unit.canvas.site import Site, open_site
from tests.unit.card.manifests import GOOD, manifest

TOOLS = ("one", "two")
PACKAGES = ("alpha", "beta")
EDITS = ("stand", "place", "draw", "draw", "draw", "cut", "limit", "remove", "undo", "redo", "switch", "leave")
Steps = list[tuple[str, int, int]]


class World:
    """Two boards of one owner, an agent that may stand on both, and two packages."""

    def __init__(self, site: Site, boards: list[str], packages: dict[str, str], agent: WireAgent) -> None:
        self.site = site
        self.boards = boards
        self.packages = packages
        self.agent = agent
        self.disabled: set[tuple[str, str]] = set()

    async def edit(self, step: tuple[str, int, int]) -> None:
        """One edit, with boards, cards and arrows picked by number; one that does not fit changes nothing."""
        kind, one, other = step
        path = f"/workspaces/{self.boards[one % 2]}"
        name, tool = PACKAGES[one % 2], TOOLS[other % 2]
        if kind == "switch":
            is_off = (name, tool) in self.disabled
            packages = self.site.host.canvas.packages
            await packages.set_enabled(packages.get("owner", self.packages[name]), tool, is_off)
            self.disabled ^= {(name, tool)}
            return
        board = await self.site.ask("GET", path)
        cards, arrows = [card["id"] for card in board["cards"]], [arrow["id"] for arrow in board["arrows"]]
        card, second = (cards[one % len(cards)], cards[other % len(cards)]) if cards else ("none", "none")
        arrow = arrows[other % len(arrows)] if arrows else "none"
        method, where, body = {
            "stand": ("POST", "/cards", {"kind": "agent", "agent_id": self.agent.id}),
            "place": ("POST", "/cards", {"kind": "card", "package": self.packages[PACKAGES[other % 2]]}),
            "draw": ("POST", "/arrows", {"source": card, "target": second}),
            "cut": ("DELETE", f"/arrows/{arrow}", None),
            "limit": ("PATCH", f"/arrows/{arrow}", {"tools": [None, [], ["one"], ["one", "two", "gone"]][other % 4]}),
            "remove": ("DELETE", f"/cards/{second}", None),
            "undo": ("POST", "/undo", None),
            "redo": ("POST", "/redo", None),
            "leave": ("DELETE", f"/cards/{card}", None),
        }[kind]
        headers = {"authorization": f"Bearer {self.site.owner_key}"}
        answer = await self.site.client.request(method, f"/api/v1{path}{where}", json=body, headers=headers)
        assert answer.status_code in (200, 201, 204, 404, 409), answer.text

    async def granted(self) -> set[str]:
        """What the agent should have, from what the boards show."""
        names = {package: name for name, package in self.packages.items()}
        found: set[str] = set()
        for board in [await self.site.ask("GET", f"/workspaces/{board}") for board in self.boards]:
            cards: dict[str, dict[str, Any]] = {card["id"]: card for card in board["cards"]}
            for arrow in board["arrows"]:
                for here, there in (("source", "target"), ("target", "source")):
                    name = names.get(cards[arrow[there]].get("package", ""))
                    if name is not None and cards[arrow[here]].get("agent_id") == self.agent.id:
                        allowed = TOOLS if arrow["tools"] is None else arrow["tools"]
                        found |= {
                            f"{name}_{tool}" for tool in TOOLS if tool in allowed and (name, tool) not in self.disabled
                        }
        return found


async def follow(steps: Steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with open_site(Path(folder) / "data") as site:
            packages = {
                name: await install(
                    site,
                    Path(folder) / name,
                    manifest(name=name, tools=[{**GOOD["tools"][0], "name": tool} for tool in TOOLS]),
                )
                for name in PACKAGES
            }
            boards = [await site.workspace(), await site.workspace()]
            world = World(site, boards, packages, WireAgent(site, await site.card(boards[0], "agent", title="writer")))
            await site.card(boards[0], "card", package=packages["alpha"])
            for step in steps:
                await world.edit(step)
                assert set(await world.agent.tools()) == await world.granted()


STEP = st.tuples(st.sampled_from(EDITS), st.integers(0, 7), st.integers(0, 7))


@settings(max_examples=25)
@given(st.lists(STEP, max_size=25))
def test_an_agent_has_what_boards_and_packages_grant(steps: Steps) -> None:
    anyio.run(follow, steps)
