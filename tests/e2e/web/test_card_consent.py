"""cards.md 18-27, decisions 13, 18, 19: cards are installed and updated by the page, once their owner has agreed."""

import shutil
from pathlib import Path

import msgspec
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.cards import caller, declared, plain_card, radar_card, text_of, tool
from tests.e2e.web.screen import Screen

pytestmark = pytest.mark.e2e

TOOL = "test_radar_run_tests"
PASSES = '{"scripts": {"test": "echo all fine"}}'


def begin_install(page: Page, source: Path) -> None:
    page.get_by_role("button", name="Install a card").click()
    page.get_by_label("Folder, archive or repository").fill(str(source))
    page.get_by_role("button", name="Look at it").click()


def test_the_test_radar_card_is_installed_with_consent_and_runs_the_tests_for_an_agent(
    screen: Screen, tmp_path: Path
) -> None:
    radar = radar_card(tmp_path / "radar")
    project = tmp_path / "project"
    project.mkdir()
    (project / "package.json").write_text(PASSES)
    workspace = screen.workspace()
    page = screen.window(f"/w/{workspace}")
    page.get_by_role("button", name="installed package").click()
    begin_install(page, radar)
    asked = page.get_by_role("dialog", name="Install Test radar?")
    expect(asked).to_contain_text("run commands in connected terminals")
    expect(asked).to_contain_text(TOOL)
    expect(asked).to_contain_text('[Custom card "Test radar" by')
    assert screen.ask("GET", f"/workspaces/{workspace}")["cards"] == []
    asked.get_by_role("button", name="Install", exact=True).click()
    expect(page.locator("iframe.card-frame")).to_be_visible()
    (card,) = screen.ask("GET", f"/workspaces/{workspace}")["cards"]
    agent = screen.card(workspace, "agent", title="writer", x=-400, y=0)
    terminal = screen.card(workspace, "terminal", content={"cwd": str(project)}, x=600, y=400)
    screen.arrow(workspace, agent["id"], card["id"])
    screen.arrow(workspace, card["id"], terminal["id"])
    with caller(agent) as client:
        assert TOOL in client.tools()
        result = client.call(TOOL).result(60)
    assert (result.is_error, text_of(result)) == (False, "All tests passed")


def test_an_update_shows_what_changes_and_the_old_version_goes_on_until_it_is_accepted(
    screen: Screen, tmp_path: Path
) -> None:
    folder = plain_card(tmp_path / "card", declared("counter", tool("count")), "<p>old</p>", "")
    package = screen.install(folder)
    newer = declared("counter", tool("count", description="Erases all."), version="2.0.0", permissions=["fs.write"])
    (folder / "toolwire-card.json").write_bytes(msgspec.json.encode(newer))
    page = screen.window(f"/w/{screen.workspace()}")
    page.get_by_role("button", name="installed package").click()

    def look_for_update() -> None:
        page.get_by_role("button", name="More about Counter").click()
        page.get_by_role("menuitem", name="Look for an update").click()

    look_for_update()
    asked = page.get_by_role("dialog", name="Update Counter?")
    expect(asked).to_contain_text("Version 1.0.0 → 2.0.0")
    changed = asked.get_by_role("region", name="Tool reads otherwise: count")
    expect(changed).to_contain_text("Does count.")
    expect(changed).to_contain_text("Erases all.")
    expect(asked).to_contain_text("change the workspace's files")
    asked.get_by_role("button", name="Keep version 1.0.0").click()
    expect(asked).to_have_count(0)
    assert screen.ask("GET", f"/card-packages/{package}")["version"] == "1.0.0"
    page.get_by_role("button", name="installed package").click()
    look_for_update()
    asked.get_by_role("button", name="Accept the update").click()
    expect(page.get_by_text("Counter is now version 2.0.0.")).to_be_visible()
    assert screen.ask("GET", f"/card-packages/{package}")["accepted_version"] == "2.0.0"


def test_a_card_that_is_left_is_not_there_and_a_source_that_is_none_says_why(screen: Screen, tmp_path: Path) -> None:
    folder = plain_card(tmp_path / "card", declared("counter", tool("count")), "<p>card</p>", "")
    page = screen.window(f"/w/{screen.workspace()}")
    page.get_by_role("button", name="installed package").click()
    begin_install(page, tmp_path / "nothing")
    expect(page.get_by_role("alert")).to_contain_text("there is nothing at")
    archive = shutil.make_archive(str(tmp_path / "counter"), "zip", folder)
    page.get_by_label("Or upload an archive").set_input_files(archive)
    expect(page.get_by_text("upload:counter")).to_be_visible()
    page.get_by_role("button", name="Leave it").click()
    page.get_by_role("button", name="installed package").click()
    page.get_by_role("button", name="Install a card").click()
    page.get_by_label("Folder, archive or repository").fill(str(folder))
    page.get_by_role("button", name="Look at it").click()
    page.get_by_role("button", name="Leave it").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert screen.ask("GET", "/card-packages")["packages"] == []
