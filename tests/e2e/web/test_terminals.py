"""Terminals in the page: a real shell, typed into by keyboard and pointer, in several windows, over breaks and ends."""

import re

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from tests.e2e.web.screen import PHONE, Screen

pytestmark = pytest.mark.e2e


def shell(screen: Screen, workspace: str, title: str = "build") -> str:
    return screen.card(workspace, "terminal", title=title)["id"]


def lines(page: Page) -> Locator:
    """What the terminal shows."""
    return page.locator(".xterm-rows")


def type_in(page: Page, text: str) -> None:
    expect(lines(page)).to_be_visible()
    page.locator(".terminal-pane").click()
    expect(page.get_by_label("Terminal build")).to_be_focused()
    page.keyboard.type(text)


def test_what_is_typed_runs_and_every_window_sees_it_at_the_same_size(screen: Screen) -> None:
    workspace = screen.workspace()
    shell(screen, workspace)
    one, other = screen.window(f"/w/{workspace}"), screen.window(f"/w/{workspace}", color_scheme="dark")
    type_in(one, "echo sum $((40 + 2)); stty size\n")
    for page in (one, other):
        expect(lines(page)).to_contain_text("sum 42")
        expect(lines(page)).to_contain_text(re.compile(r"15 \d\d"))
    type_in(other, "echo from the other $((1 + 1))\n")
    expect(lines(one)).to_contain_text("from the other 2")


def test_the_past_is_there_after_a_reload_and_is_answered_by_nobody(screen: Screen) -> None:
    workspace = screen.workspace()
    shell(screen, workspace)
    page = screen.window(f"/w/{workspace}")
    type_in(page, "printf 'is\\033[c it'; read -t 3 -d c answer; echo; echo \"asked ${#answer}\"\n")
    expect(lines(page)).to_contain_text(re.compile(r"asked [1-9]"))
    page.reload()
    expect(lines(page)).to_contain_text(re.compile(r"asked [1-9]"))
    type_in(page, "echo clean\n")
    expect(lines(page)).to_contain_text(re.compile(r"[$#]\s?echo clean"))


def test_a_line_that_breaks_is_opened_again_and_what_was_missed_is_there(screen: Screen) -> None:
    workspace = screen.workspace()
    terminal = shell(screen, workspace)
    page, opened = screen.window(), list[WebSocketRoute]()

    def open_line(line: WebSocketRoute) -> None:
        line.connect_to_server()
        opened.append(line)

    page.route_web_socket(re.compile("/stream$"), open_line)
    page.goto(f"/w/{workspace}")
    type_in(page, "echo before\n")
    expect(lines(page)).to_contain_text("before")
    opened[-1].close(code=3001, reason="the test says so")
    screen.ask("POST", f"/terminals/{terminal}/run", {"command": "echo mean''while"})
    expect(lines(page)).to_contain_text("meanwhile")
    type_in(page, "echo af''ter\n")
    expect(lines(page)).to_contain_text("after")


def test_a_shell_that_ends_says_how_and_is_started_again(screen: Screen) -> None:
    workspace = screen.workspace()
    shell(screen, workspace)
    page = screen.window(f"/w/{workspace}")
    type_in(page, "exit 3\n")
    expect(page.get_by_text("The shell has ended with exit code 3.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("The shell has ended with exit code 3.")).to_be_visible()
    page.get_by_role("button", name="Start again").click()
    expect(page.get_by_text("has ended")).to_be_hidden()
    expect(page.get_by_label("Terminal build")).to_be_focused()
    page.keyboard.type("echo again $((1 + 1))\n")
    expect(lines(page)).to_contain_text("again 2")


def test_the_keyboard_goes_in_and_out_and_escape_stays_the_programs(screen: Screen) -> None:
    workspace = screen.workspace()
    shell(screen, workspace)
    page = screen.window(f"/w/{workspace}")
    type_in(page, "read -rsn1 key; printf 'key %q\\n' \"$key\"\n")
    expect(page.get_by_role("group", name="Terminal: build").get_by_text("Working")).to_be_visible()
    page.keyboard.press("Escape")
    expect(lines(page)).to_contain_text("key $'\\E'")
    page.keyboard.press("Shift+Escape")
    expect(page.get_by_label("Terminal build")).not_to_be_focused()
    expect(page.locator(".react-flow__node")).to_be_focused()


def test_a_word_is_selected_where_the_pointer_is_on_a_board_that_is_zoomed_out(screen: Screen) -> None:
    workspace = screen.workspace()
    shell(screen, workspace)
    screen.card(workspace, "note", x=1600, y=900)  # so that the whole board is smaller than life
    page = screen.window(f"/w/{workspace}")
    type_in(page, "clear; echo; echo; echo; echo; echo; echo '   one two three'\n")
    row = lines(page).locator("> div", has_text=re.compile(r"^ +one two three\s*$"))
    box = row.bounding_box()
    scale = page.locator(".xterm-screen").evaluate("it => it.getBoundingClientRect().width / it.offsetWidth")
    assert box is not None
    assert scale < 0.9
    cell = page.locator(".xterm-screen").evaluate("it => it.getBoundingClientRect().width") / columns(page)
    page.mouse.dblclick(box["x"] + 8.5 * cell, box["y"] + box["height"] / 2)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("Control+Shift+C")
    assert page.evaluate("navigator.clipboard.readText()") == "two"


def columns(page: Page) -> int:
    """How many characters a line of the terminal has."""
    type_in(page, "echo wide $(stty size)\n")
    expect(lines(page)).to_contain_text(re.compile(r"wide \d+ \d+"))
    found = re.search(r"wide \d+ (\d+)", lines(page).inner_text().replace("\xa0", " "))
    assert found is not None
    return int(found[1])


def test_a_phone_shows_a_terminal_in_all_of_its_screen(screen: Screen) -> None:
    workspace = screen.workspace()
    terminal = shell(screen, workspace)
    screen.ask("POST", f"/terminals/{terminal}/run", {"command": "echo on the phone"})
    page = screen.window(f"/w/{workspace}", viewport=PHONE, has_touch=True, locale="zh-CN")
    page.get_by_role("heading", name="build").tap()
    page.get_by_role("complementary").get_by_role("button", name="放大").tap()
    window = page.get_by_role("dialog", name="build")
    expect(window.locator(".xterm-rows")).to_contain_text("on the phone")
    box = window.bounding_box()
    assert box is not None
    assert (box["width"], box["height"]) == (PHONE["width"], PHONE["height"])
    window.get_by_role("button", name="关闭").tap()
    expect(window).to_be_hidden()
