"""Calls show on their arrow while they run, and in its log in full; their owner makes, repeats and ends some, too."""

import re
from collections.abc import Generator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.types import CallToolResult
from playwright.sync_api import Browser, Locator, expect

from tests.e2e.canvas_hosts import toolbox
from tests.e2e.web.boards import BoardPage
from tests.e2e.web.screen import Screen, screen_on
from toolwire.cli.demo.board import LIBRARY

pytestmark = pytest.mark.e2e


class Desk:
    """An agent that an arrow joins to a library, and a window that shows them."""

    def __init__(self, screen: Screen, portal: BlockingPortal) -> None:
        self._portal = portal
        self.screen = screen
        self.workspace = screen.workspace()
        self.agent = screen.card(self.workspace, "agent", title="Ada", x=0, y=0)
        self.card = screen.card(
            self.workspace, "card", title="Library", x=620, y=0, package=screen.install(LIBRARY), width=320, height=200
        )
        self.arrow = screen.arrow(self.workspace, self.agent["id"], self.card["id"])
        self.board = BoardPage(screen, self.workspace)
        self.page = self.board.page
        self.board.arrow("Ada", "Library").wait_for()

    def agent_calls(self, tool: str, **arguments: Any) -> Future[CallToolResult]:
        """The agent calls a tool by an official MCP client of its own."""

        async def call() -> CallToolResult:
            async with toolbox(self.agent) as session:
                return await session.call_tool(tool, arguments)

        return self._portal.start_task_soon(call)

    def label(self) -> Locator:
        return self.page.locator("button.arrow-label")

    def ring(self, title: str) -> Locator:
        return self.board.card(title).locator(".card-shell")

    def entries(self) -> Locator:
        """The calls in the log of the arrow, the newest first."""
        return self.page.get_by_role("region", name="Calls", exact=True).locator(".call-entry")

    def part(self, name: str) -> Locator:
        """A part of the newest call, which is shown in full."""
        return self.entries().first.get_by_role("region", name=name)

    def run(self, title: str) -> None:
        """Run a tool from the panel of the arrow."""
        self.page.get_by_role("button", name="Run a tool").click()
        self.page.get_by_role("dialog").get_by_label("Tool").select_option(label=title)


@pytest.fixture
def desk(screen: Screen) -> Generator[Desk]:
    with start_blocking_portal() as portal:
        yield Desk(screen, portal)


def test_the_call_of_an_mcp_client_shows_on_its_arrow_and_then_in_full(desk: Desk) -> None:
    """cards.md 63-65."""
    called = desk.agent_calls("library_read", query="how do tides work")
    expect(desk.label()).to_have_text(re.compile(r"library_read[1-5]/5 .+\d s"))
    for title in ("Ada", "Library"):
        expect(desk.ring(title)).to_have_attribute("data-activity", "running")
    desk.label().click()
    expect(desk.entries()).to_have_count(1)
    expect(desk.label()).to_contain_text("Done")
    assert called.result(5).is_error is not True
    expect(desk.part("Arguments")).to_contain_text("how do tides work")
    expect(desk.part("Progress").get_by_role("listitem").first).to_contain_text("1/")
    expect(desk.part("Result")).to_contain_text("Why the sea has tides")
    expect(desk.entries().first).to_contain_text("Called by Ada")
    expect(desk.ring("Library")).not_to_have_attribute("data-activity", "running")


def test_a_picture_that_a_tool_gives_back_is_drawn(desk: Desk) -> None:
    desk.board.arrow("Ada", "Library").click(force=True)
    desk.run("Draw the reading desk (library_picture)")
    desk.page.get_by_role("dialog").get_by_role("button", name="Run").click()
    picture = desk.part("Result").locator("img")
    expect(picture).to_be_visible()
    assert picture.evaluate("img => img.naturalWidth") == 960
    expect(desk.entries().first).to_contain_text("you")


def test_a_call_is_ended_by_its_user_and_made_again_with_other_arguments(desk: Desk) -> None:
    called = desk.agent_calls("library_read", query="how do tides work")
    expect(desk.label()).to_contain_text("1/")
    desk.label().click()
    desk.page.get_by_role("button", name="Cancel the call").click()
    expect(desk.label()).to_contain_text("Cancelled")
    assert called.result(5).is_error is True
    desk.page.get_by_role("button", name="Run again").click()
    dialog = desk.page.get_by_role("dialog", name="Run again")
    expect(dialog.get_by_label("query")).to_have_value("how do tides work")
    dialog.get_by_label("query").fill("")
    dialog.get_by_role("button", name="Run").click()
    expect(dialog).to_contain_text("At least 1 character")
    dialog.get_by_label("query").fill("bread")
    dialog.get_by_role("button", name="Run").click()
    expect(desk.entries()).to_have_count(2)
    expect(desk.part("Result")).to_contain_text("Sourdough")


def test_all_calls_are_listed_filtered_and_those_of_what_is_selected(desk: Desk) -> None:
    desk.agent_calls("library_search", query="tides").result(10)
    note = desk.screen.card(desk.workspace, "note", title="Plan", x=0, y=300, content={"text": "first this"})
    arrow = desk.screen.arrow(desk.workspace, desk.agent["id"], note["id"])
    body = {"tool": "note_read"}
    desk.screen.ask("POST", f"/workspaces/{desk.workspace}/arrows/{arrow}/calls", body)
    desk.page.reload()
    desk.page.get_by_role("button", name="Show all calls").click()
    panel = desk.page.get_by_role("region", name="All calls")
    expect(panel.get_by_role("listitem")).to_have_count(2)
    panel.get_by_label("Caller").select_option(label="you")
    expect(panel.get_by_role("listitem")).to_have_count(1)
    panel.get_by_label("Caller").select_option(label="All")
    desk.board.choose("Library")
    expect(panel.get_by_role("listitem")).to_have_count(1)
    expect(panel.get_by_role("listitem")).to_contain_text("library_search")
    panel.get_by_role("listitem").get_by_role("button").click()
    expect(desk.part("Result")).to_contain_text("results for 'tides'")


def test_the_first_workspace_offers_a_call_that_is_real(tmp_path: Path, browser: Browser) -> None:
    with screen_on(tmp_path, browser, "--demo") as screen:
        page = screen.window()
        page.get_by_role("complementary", name="Example").get_by_role("button", name="Make a real call").click()
        label = page.locator("button.arrow-label")
        expect(label).to_contain_text("library_read")
        expect(label).to_contain_text("Done")
        page.get_by_role("button", name="Hide this").click()
        expect(page.get_by_role("complementary", name="Example")).to_have_count(0)
