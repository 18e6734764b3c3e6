"""An agent's card and details: what it may use and whether it knows, how a client becomes it, and its own program."""

import json
import re
import tomllib
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.screen import PHONE, Screen

pytestmark = pytest.mark.e2e


def lists(url: str, key: str) -> list[str]:
    """What a client that is this agent reads as its tools, without those that are always there."""
    headers = {"authorization": f"Bearer {key}", "accept": "application/json"}
    asked: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    answer = httpx2.post(url, headers=headers, json=asked, trust_env=False)
    assert answer.status_code == 200, answer.text
    names = [tool["name"] for tool in answer.json()["result"]["tools"]]
    return [name for name in names if not name.startswith("toolwire_")]


def details(page: Page, title: str, tab: str | None = None) -> None:
    page.get_by_role("heading", name=title, level=3).first.click()
    if tab is not None:
        page.get_by_role("tab", name=tab).click()


def test_the_page_says_which_tools_an_agent_has_and_whether_it_has_read_them(screen: Screen) -> None:
    workspace = screen.workspace()
    agent = screen.card(workspace, "agent", title="coder")
    shell = screen.card(workspace, "terminal", title="build", x=500)["id"]
    plan = screen.card(workspace, "note", title="plan", y=300)["id"]
    page = screen.window(f"/w/{workspace}")
    on_board = page.get_by_role("group", name="Agent: coder")
    expect(on_board.get_by_text("No tools yet.")).to_be_visible()

    screen.arrow(workspace, agent["id"], shell)
    expect(on_board.get_by_text("It has not read them since the host was started.")).to_be_visible()
    lists(agent["toolbox_url"], agent["agent_key"])
    expect(on_board.get_by_text("It knows them.")).to_be_visible()
    screen.arrow(workspace, agent["id"], plan)
    expect(on_board.get_by_text("since the arrow to plan was drawn or changed")).to_be_visible()

    details(page, "coder")
    expect(page.get_by_role("region", name="build").get_by_text("terminal_run", exact=True)).to_be_visible()
    from_plan = page.get_by_role("region", name="plan")
    expect(from_plan.get_by_text("Not seen yet")).to_be_visible()
    lists(agent["toolbox_url"], agent["agent_key"])
    expect(from_plan.get_by_text("Not seen yet")).to_be_hidden()


def test_a_client_gets_in_with_the_address_and_the_key_that_the_page_gives(screen: Screen) -> None:
    workspace = screen.workspace()
    agent = screen.card(workspace, "agent", title="coder")
    screen.arrow(workspace, agent["id"], screen.card(workspace, "note", title="plan", y=300)["id"])
    page = screen.window(f"/w/{workspace}")
    details(page, "coder", "Connect")
    url = page.get_by_role("region", name="Address of its toolbox").inner_text()
    expect(page.get_by_role("region", name="Configuration of Claude Code")).to_contain_text("YOUR_AGENT_KEY")
    page.get_by_role("button", name="Make a key").click()
    key = page.get_by_role("region", name="Key", exact=True).inner_text()
    assert lists(url, key) == ["note_read", "note_write", "note_append"]
    for client, title in (("claude", "Claude Code"), ("codex", "Codex"), ("qwen", "Qwen Code"), ("cursor", "Cursor")):
        page.get_by_label("Client").select_option(client)
        text = page.get_by_role("region", name=f"Configuration of {title}").inner_text()
        read = tomllib.loads(text) if client == "codex" else json.loads(text)
        ((server,),) = [list(servers.values()) for servers in read.values()]
        assert url in server.values()
        assert f"Bearer {key}" in text
    page.reload()
    details(page, "coder", "Connect")
    expect(page.get_by_role("button", name="Make a key")).to_be_visible()
    assert key not in page.content()


def test_a_program_of_the_agent_runs_on_its_card_and_its_end_is_told(screen: Screen) -> None:
    workspace = screen.workspace()
    screen.card(workspace, "agent", title="coder")
    page = screen.window(f"/w/{workspace}")
    details(page, "coder", "Program")
    page.get_by_label("Command").fill('echo "key ${TOOLWIRE_AGENT_KEY:0:4}"; read -r word; echo "got $word"; exit 2')
    page.get_by_role("tabpanel").get_by_role("button", name="Start").click()
    on_board = page.get_by_role("group", name="Agent: coder")
    expect(on_board.locator(".xterm-rows")).to_contain_text("key agk_")
    expect(on_board.get_by_text("Program runs")).to_be_visible()
    on_board.locator(".terminal-pane").click()
    page.keyboard.type("hello\n")
    expect(on_board.locator(".xterm-rows")).to_contain_text("got hello")
    expect(on_board.get_by_text("The program has ended with exit code 2.")).to_be_visible()
    expect(on_board.get_by_text("Not connected")).to_be_visible()


def test_a_phone_in_chinese_shows_an_agents_tools(screen: Screen) -> None:
    workspace = screen.workspace()
    agent = screen.card(workspace, "agent", title="coder")
    screen.arrow(workspace, agent["id"], screen.card(workspace, "note", title="plan", y=300)["id"])
    page = screen.window(f"/w/{workspace}", viewport=PHONE, has_touch=True, locale="zh-CN", color_scheme="dark")
    page.get_by_role("heading", name="coder").tap()
    expect(page.get_by_role("region", name="plan").get_by_text("note_read", exact=True)).to_be_visible()
    panel = page.get_by_role("complementary")
    expect(panel.get_by_text(re.compile("3 个工具"))).to_be_visible()
    assert panel.evaluate("it => it.scrollWidth <= it.clientWidth")
