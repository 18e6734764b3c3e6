"""cards.md §3, §4, 59, 60: web cards live in frames of the page, sleep, wake, and reach nothing but the host."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.cards import caller, declared, plain_card, text_of, tool, typescript_card
from tests.e2e.web.screen import Screen

pytestmark = pytest.mark.e2e

COUNTER = """
import { card } from '@toolwire/card-sdk'
let count = 0
const said = document.getElementById('said')!
said.textContent = 'awake'
card.tools.handle('count', async () => { count += 1; said.textContent = `counted ${count}`; return `counted ${count}` })
"""

HOSTILE = """
const found = {};
const attempt = async (name, body) => {
  try { found[name] = String(await body()); } catch (error) { found[name] = "refused"; }
};
await attempt("origin", () => self.origin);
await attempt("cookie", () => document.cookie);
await attempt("localStorage", () => localStorage.length);
await attempt("sessionStorage", () => sessionStorage.length);
await attempt("indexedDB", () => new Promise((done, fail) => {
  const open = indexedDB.open("x"); open.onsuccess = () => done("open"); open.onerror = fail;
}));
await attempt("parent document", () => parent.document.title);
await attempt("parent storage", () => parent.localStorage.length);
await attempt("other frames", () => parent.frames[0].document.title);
if (top !== self) await attempt("top navigation", () => { top.location.href = "/nowhere"; return "gone"; });
await attempt("popup", () => window.open("/", "_blank") === null ? "refused" : "open");
for (const path of ["/api/v1/workspaces", "/", "NEIGHBOUR", "https://example.com/"]) {
  await attempt(`fetch ${path}`, async () => (await fetch(path, { credentials: "include", mode: "no-cors" })).type);
}
await attempt("socket", () => new Promise((done, fail) => {
  const socket = new WebSocket(HOST.replace("http", "ws") + "/api/v1/cards/link?package=PACKAGE");
  socket.onopen = () => done("open"); socket.onerror = fail;
}));
await attempt("inline script", () => {
  const script = document.createElement("script"); script.textContent = "window.ran = true";
  document.body.append(script); return window.ran ? "ran" : "refused";
});
await attempt("eval", () => (0, eval)("'ran'"));
await attempt("frame", () => new Promise((done) => {
  const frame = document.createElement("iframe"); frame.src = HOST + "/";
  document.addEventListener("securitypolicyviolation", () => done("refused"), { once: true });
  document.body.append(frame); frame.onload = () => done("loaded");
}));
document.getElementById("found").textContent = JSON.stringify(found);
"""
HOSTILE_PAGE = '<!doctype html><body><pre id="found"></pre><script type="module" src="main.js"></script>'


def desk(screen: Screen, package: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """An agent joined to a copy of a package, and their workspace."""
    workspace = screen.workspace()
    agent = screen.card(workspace, "agent", title="writer", x=0, y=0)
    card = screen.card(workspace, "card", package=package, x=400, y=0)
    screen.arrow(workspace, agent["id"], card["id"])
    return agent, card, workspace


def said(page: Page):
    return page.frame_locator("iframe.card-frame").locator("#said")


def state_of(screen: Screen, workspace: str, card: str) -> str:
    return next(one for one in screen.ask("GET", f"/workspaces/{workspace}")["cards"] if one["id"] == card)["state"]


def test_a_card_lives_on_while_the_board_moves_around_it_and_answers_its_agent(screen: Screen, tmp_path: Path) -> None:
    package = screen.install(typescript_card(tmp_path / "counter", declared("counter", tool("count")), COUNTER))
    agent, card, workspace = desk(screen, package)
    page = screen.window(f"/w/{workspace}")
    expect(said(page)).to_have_text("awake")
    with caller(agent) as client:
        assert text_of(client.call("counter_count").result(20)) == "counted 1"
        frame = page.locator("iframe.card-frame")
        before = frame.bounding_box()
        header = page.get_by_role("heading", name="Counter", exact=True)
        header.drag_to(page.get_by_test_id("rf__wrapper"), target_position={"x": 640, "y": 500})
        header.click()
        page.mouse.move(200, 600)
        page.mouse.wheel(0, 400)
        page.get_by_role("link", name="Keys").click()
        expect(page).to_have_url(f"{screen.ready.url}/gateway/keys")
        assert text_of(client.call("counter_count").result(20)) == "counted 2"
        page.get_by_role("link", name="Canvas").click()
        expect(said(page)).to_have_text("counted 2")
        assert frame.bounding_box() != before
    assert state_of(screen, workspace, card["id"]) == "awake"


def test_a_card_that_nobody_has_seen_for_a_minute_sleeps_and_a_call_wakes_it(screen: Screen, tmp_path: Path) -> None:
    package = screen.install(typescript_card(tmp_path / "counter", declared("counter", tool("count")), COUNTER))
    agent, _, workspace = desk(screen, package)
    page = screen.window()
    page.clock.install()
    page.goto(f"/w/{workspace}")
    expect(said(page)).to_have_text("awake")
    page.get_by_role("link", name="Keys").click()
    page.clock.run_for(75_000)
    expect(page.locator("iframe.card-frame")).to_have_count(0)
    with caller(agent) as client:
        calling = client.call("counter_count")
        expect(page.locator("iframe.card-frame")).to_have_count(1)
        assert text_of(calling.result(20)) == "counted 1"


def test_one_window_at_a_time_has_a_card_and_another_may_take_it_over(screen: Screen, tmp_path: Path) -> None:
    package = screen.install(typescript_card(tmp_path / "counter", declared("counter", tool("count")), COUNTER))
    agent, _, workspace = desk(screen, package)
    first = screen.window(f"/w/{workspace}")
    expect(said(first)).to_have_text("awake")
    second = screen.window(f"/w/{workspace}")
    expect(second.get_by_text("It runs in another window")).to_be_visible()
    second.get_by_role("button", name="Run it here").click()
    expect(said(second)).to_have_text("awake")
    expect(first.get_by_text("It runs in another window")).to_be_visible()
    with caller(agent) as client:
        assert text_of(client.call("counter_count").result(20)) == "counted 1"
    expect(said(second)).to_have_text("counted 1")
    second.context.close()
    expect(said(first)).to_have_text("awake")


def test_a_hostile_card_gets_nothing_of_the_page_or_of_other_cards(screen: Screen, tmp_path: Path) -> None:
    tame = screen.install(typescript_card(tmp_path / "counter", declared("counter", tool("count")), COUNTER))
    neighbour = screen.ask("GET", f"/card-packages/{tame}")["frame"]
    script = HOSTILE.replace("HOST", f'"{screen.ready.url}"').replace("PACKAGE", tame).replace("NEIGHBOUR", neighbour)
    hostile = screen.install(plain_card(tmp_path / "hostile", declared("hostile"), HOSTILE_PAGE, script))
    workspace = screen.workspace()
    screen.card(workspace, "card", package=tame, x=0, y=0)
    screen.card(workspace, "card", package=hostile, x=500, y=0)
    page = screen.window(f"/w/{workspace}")
    page.evaluate("localStorage.setItem('secret', 'ours')")
    found = page.frame_locator("iframe[title=Hostile]").locator("#found")
    expect(found).to_contain_text('"frame"')
    attempts = page.evaluate("JSON.parse", found.text_content())
    assert attempts.pop("origin") == "null"
    assert {name: answer for name, answer in attempts.items() if answer != "refused"} == {}
    assert page.url.endswith(f"/w/{workspace}")
    frame = screen.ask("GET", f"/card-packages/{hostile}")["frame"]
    page.goto(frame)
    expect(page.locator("#found")).to_contain_text('"frame"')
    alone = page.evaluate("JSON.parse", page.locator("#found").text_content())
    assert (alone["origin"], alone["cookie"], alone["localStorage"]) == ("null", "refused", "refused")
    assert alone["fetch /api/v1/workspaces"] == alone["socket"] == "refused"


def test_a_card_whose_host_is_away_says_so_and_one_that_never_spoke_can_be_started_again(
    screen: Screen, tmp_path: Path
) -> None:
    tame = screen.install(typescript_card(tmp_path / "counter", declared("counter", tool("count")), COUNTER))
    mute = screen.install(plain_card(tmp_path / "mute", declared("mute", tool("x")), "<p>mute</p>", ""))
    workspace = screen.workspace()
    screen.card(workspace, "card", package=tame, x=0, y=0)
    screen.card(workspace, "card", package=mute, x=500, y=0)
    page = screen.window(f"/w/{workspace}")
    counter = page.frame_locator("iframe[title=Counter]").locator("#said")
    expect(counter).to_have_text("awake")
    expect(page.get_by_text("did not speak to the host")).to_be_visible(timeout=20_000)
    page.get_by_role("button", name="Start it again").click()
    expect(page.locator("iframe[title=Mute]")).to_be_visible()
    screen.process.stop()
    expect(page.get_by_text("The host is away…")).to_be_visible()
    expect(counter).to_have_text("awake")
