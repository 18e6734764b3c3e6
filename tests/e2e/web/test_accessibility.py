"""axe finds no serious fault on any page, in light and dark, in windows and on a phone."""

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from scripts.build_web import ROOT, WEB
from tests.e2e.web.boards import BoardPage
from tests.e2e.web.screen import PHONE, WIDE, Screen, screen_on

pytestmark = pytest.mark.e2e

AXE = (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text
EXAMPLES = ROOT / "examples" / "cards"
AGENT = "agent_demo"
AGENT_TABS = ("Tools", "Connect", "Program", "Chat")
CARD_TABS = ("Tools", "Log", "Settings")
SECTIONS = ("agents", f"agents/{AGENT}", "keys", "webhooks", "files", "consents", "audit")


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Generator[Screen]:
    with screen_on(tmp_path_factory.mktemp("demo"), browser, "--demo") as ready:
        yield ready


@pytest.fixture(scope="module")
def furnished(screen: Screen) -> str:
    """A workspace with a card of each kind, and an arrow."""
    workspace = screen.workspace()
    package = screen.install(EXAMPLES / "test-radar")
    agent = screen.card(workspace, "agent", title="Scout", agent_id=AGENT, x=40, y=40)
    radar = screen.card(workspace, "card", title="Radar", package=package, x=420, y=40)
    screen.card(workspace, "terminal", title="Shell", x=40, y=420)
    screen.card(workspace, "note", title="Plan", content={"text": "Wire the radar."}, x=820, y=420)
    screen.arrow(workspace, agent["id"], radar["id"])
    return workspace


def faults(page: Page) -> list[str]:
    """What axe calls serious or critical: the rule, and the elements that break it."""
    page.evaluate(AXE())
    found: list[dict[str, Any]] = page.evaluate("axe.run().then((result) => result.violations)")
    return [
        f"{each['id']} at {', '.join(' '.join(map(str, one['target'])) for one in each['nodes'])}: {each['help']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def settled(page: Page) -> Page:
    """The page once its answers are there and nothing moves."""
    expect(page.get_by_role("main")).to_be_visible()
    page.wait_for_load_state("networkidle")
    return page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("section", SECTIONS)
def test_a_page_of_the_gateway_has_no_serious_fault(screen: Screen, section: str, theme: str) -> None:
    page = screen.window(f"/gateway/{section}", color_scheme=theme, reduced_motion="reduce")
    assert faults(settled(page)) == []


def test_the_sign_in_page_has_no_serious_fault(screen: Screen) -> None:
    page = screen.fresh()
    page.goto("/sign-in")
    expect(page.get_by_label("Owner key")).to_be_visible()
    assert faults(page) == []


def test_a_dialog_has_no_serious_fault(screen: Screen) -> None:
    page = settled(screen.window(f"/gateway/agents/{AGENT}", reduced_motion="reduce"))
    page.get_by_role("button", name="Try it: summarize", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [WIDE, PHONE], ids=["window", "phone"])
def test_a_canvas_with_every_kind_of_card_has_no_serious_fault(
    screen: Screen, furnished: str, viewport: dict[str, int], theme: str
) -> None:
    page = screen.window(f"/w/{furnished}", viewport=viewport, color_scheme=theme, reduced_motion="reduce")
    expect(page.get_by_text("Scout").first).to_be_visible()
    assert faults(settled(page)) == []


def test_an_empty_canvas_has_no_serious_fault(screen: Screen) -> None:
    page = screen.window(f"/w/{screen.workspace()}", reduced_motion="reduce")
    assert faults(settled(page)) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("key", ["Control+k", "w", "F2", "?"])
def test_a_window_above_the_canvas_has_no_serious_fault(screen: Screen, furnished: str, key: str, theme: str) -> None:
    page = screen.window(f"/w/{furnished}", color_scheme=theme, reduced_motion="reduce")
    page.get_by_role("heading", name="Scout").click()
    page.keyboard.press(key)
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(settled(page)) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panels_of_cards_and_arrows_have_no_serious_fault(screen: Screen, furnished: str, theme: str) -> None:
    page = screen.window(f"/w/{furnished}", color_scheme=theme, reduced_motion="reduce")
    board = BoardPage(screen, furnished, page)
    found: dict[str, list[str]] = {}
    for card, tabs in (("Scout", AGENT_TABS), ("Radar", CARD_TABS), ("Shell", ()), ("Plan", ())):
        board.choose(card)
        found[card] = faults(page)
        for tab in tabs:
            page.get_by_role("tab", name=tab).click()
            found[f"{card}: {tab}"] = faults(page)
    board.arrow("Scout", "Radar").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Scout → Radar")).to_be_visible()
    found["arrow"] = faults(page)
    assert {name: each for name, each in found.items() if each} == {}
