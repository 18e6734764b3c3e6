"""People build a board with the pointer and with keys, and everyone who looks at it sees the same."""

import pytest
from playwright.sync_api import expect

from tests.e2e.web.boards import BoardPage, box_of, middle
from tests.e2e.web.screen import PHONE, Screen

pytestmark = pytest.mark.e2e


def furnished(screen: Screen) -> BoardPage:
    """An agent with a note and a terminal beside it, and no arrow yet."""
    workspace = screen.workspace()
    screen.card(workspace, "agent", title="Ada", x=0, y=0)
    screen.card(workspace, "note", title="Plan", x=480, y=-220, content={"text": "first this"})
    screen.card(workspace, "note", title="Log", x=0, y=260)
    screen.card(workspace, "terminal", title="Shell", x=480, y=80)
    board = BoardPage(screen, workspace)
    board.card("Shell").wait_for()
    return board


def test_an_empty_board_offers_three_things_to_do(screen: Screen) -> None:
    board = BoardPage(screen, screen.workspace())
    start = board.page.get_by_role("region", name="An empty board")
    expect(start.get_by_role("button")).to_have_count(3)
    start.get_by_role("button", name="Connect an agent").click()
    expect(board.page.get_by_role("group", name="Agent: agent")).to_be_visible()
    expect(start).to_be_hidden()
    details = board.page.get_by_role("complementary", name="Details")
    details.get_by_role("tab", name="Connect").click()
    expect(details.get_by_role("region", name="Key", exact=True)).to_contain_text("agk_")


def test_what_one_browser_adds_and_writes_another_sees_and_takes_back(screen: Screen) -> None:
    mine = BoardPage(screen, screen.workspace())
    theirs = BoardPage(screen, mine.workspace)
    mine.page.keyboard.press("Control+k")
    mine.pick("note")
    mine.page.get_by_label("Text of the note").fill("Run the tests")
    mine.page.keyboard.press("Escape")
    expect(theirs.card("Note")).to_contain_text("Run the tests")
    theirs.page.get_by_role("button", name="Undo").click()
    theirs.page.get_by_role("button", name="Undo").click()
    expect(mine.card("Note")).to_have_count(0)
    mine.page.keyboard.press("Control+Shift+z")
    expect(theirs.card("Note")).to_be_visible()


def test_an_arrow_is_drawn_to_any_place_on_a_card_and_not_where_it_makes_no_sense(screen: Screen) -> None:
    board = furnished(screen)
    board.pull("Plan", "left", middle(board.card("Log")))
    expect(board.card("Log").get_by_text("Two notes cannot use each other")).to_be_visible()
    expect(board.card("Shell").get_by_text("One end must be an agent or a card")).to_be_visible()
    expect(board.card("Ada").locator(".card-shell-obstacle")).to_have_count(0)
    board.let_go()
    expect(board.page.get_by_role("status").filter(has_text="Two notes cannot")).to_be_visible()
    expect(board.arrows()).to_have_count(0)
    board.pull("Ada", "right", middle(board.card("Shell")))
    board.let_go()
    expect(board.arrow("Ada", "Shell")).to_have_count(1)


def test_the_end_of_an_arrow_is_pulled_to_another_card(screen: Screen) -> None:
    board = furnished(screen)
    cards = {card["title"]: card["id"] for card in board.kept()["cards"]}
    arrow = screen.arrow(board.workspace, cards["Ada"], cards["Plan"])
    end = board.arrow("Ada", "Plan").locator(".react-flow__edgeupdater-target")
    board.hold(middle(end), middle(board.card("Shell")))
    board.let_go()
    expect(board.arrow("Ada", "Shell")).to_have_count(1)
    expect(board.arrows()).to_have_count(1)
    assert [found["id"] for found in board.kept()["arrows"]] == [arrow]


def test_an_arrow_that_ends_on_nothing_asks_what_to_put_there(screen: Screen) -> None:
    board = furnished(screen)
    x, y = middle(board.card("Log"))
    board.pull("Ada", "left", (x, y + 150))
    board.let_go()
    expect(board.page.get_by_text("Arrow from Ada to…")).to_be_visible()
    board.pick("note")
    expect(board.arrow("Ada", "Note")).to_have_count(1)
    expect(board.page.get_by_label("Text of the note")).to_be_focused()


def test_arrows_are_drawn_led_elsewhere_and_removed_by_keys_alone(screen: Screen) -> None:
    board = furnished(screen)
    keys = board.page.keyboard
    board.card("Ada").focus()
    keys.press("Space")
    keys.press("w")
    board.pick("Plan")
    expect(board.arrow("Ada", "Plan")).to_have_count(1)
    board.arrow("Ada", "Plan").focus()
    keys.press("Space")
    keys.press("w")
    board.pick("Log")
    expect(board.arrow("Ada", "Log")).to_have_count(1)
    board.arrow("Ada", "Log").focus()
    keys.press("Delete")
    expect(board.arrows()).to_have_count(0)
    keys.press("Control+z")
    expect(board.arrow("Ada", "Log")).to_have_count(1)


def test_cards_are_copied_grouped_moved_together_and_tidied(screen: Screen) -> None:
    board = furnished(screen)
    keys = board.page.keyboard
    board.choose("Ada", "Plan")
    keys.press("Control+d")
    expect(board.card("Plan")).to_have_count(2)
    keys.press("Control+g")
    expect(board.card("Group")).to_have_count(1)
    members = [board.card("Group"), board.card("Plan").last, board.card("Ada").last]
    before = [box_of(card) for card in members]
    x, y = middle(board.card("Group").locator("header"))
    board.hold((x, y), (x - 60, y - 40))
    board.let_go()
    expect(board.page.get_by_text("Saved", exact=True)).to_be_visible()
    moves = {
        (round(after["x"] - old["x"]), round(after["y"] - old["y"]))
        for after, old in zip(map(box_of, members), before, strict=True)
    }
    assert len(moves) == 1
    assert moves != {(0, 0)}
    keys.press("t")
    expect(board.page.get_by_text("Saved", exact=True)).to_be_visible()
    keys.press("Control+d")
    expect(board.card("Plan")).to_have_count(4)  # the copy lay on its original, so both were in the frame
    keys.press("Control+a")
    keys.press("Delete")
    expect(board.page.get_by_role("region", name="An empty board")).to_be_visible()
    assert board.kept()["cards"] == []


def test_what_is_copied_can_be_pasted_into_another_workspace(screen: Screen) -> None:
    board = furnished(screen)
    board.choose("Plan")
    board.page.keyboard.press("Control+c")
    other = screen.workspace("other")
    board.page.goto(f"/w/{other}")
    pasted = BoardPage(screen, other, board.page)
    board.page.get_by_role("region", name="An empty board").wait_for()
    board.page.keyboard.press("Control+v")
    expect(pasted.card("Plan")).to_contain_text("first this")


def test_workspaces_are_renamed_closed_and_carried_away_as_files(screen: Screen) -> None:
    board = furnished(screen)
    page = board.page

    def choose(item: str) -> None:
        page.get_by_role("button", name="Workspace:").click()
        page.get_by_role("menuitem", name=item).click()

    choose("Rename")
    page.get_by_label("Name of the workspace").fill("workbench")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Workspace: workbench")).to_be_visible()
    choose("Close to agents")
    page.get_by_role("button", name="Open to agents").click()
    expect(page.get_by_text("This workspace is closed")).to_be_hidden()
    with page.expect_download() as downloaded:
        choose("Export")
    with page.expect_file_chooser() as chooser:
        choose("Import")
    chooser.value.set_files(downloaded.value.path())
    expect(page).not_to_have_url(f"{screen.ready.url}/w/{board.workspace}")
    expect(board.card("Plan")).to_contain_text("first this")
    assert [found["name"] for found in screen.ask("GET", "/workspaces")["workspaces"]].count("workbench") == 2


def test_a_question_mark_lists_the_keys_and_a_phone_shows_the_board(screen: Screen) -> None:
    board = furnished(screen)
    board.page.keyboard.press("?")
    dialog = board.page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog.get_by_text("Tidy up")).to_be_visible()
    board.page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    phone = BoardPage(screen, board.workspace, screen.window(f"/w/{board.workspace}", viewport=PHONE, has_touch=True))
    expect(phone.card("Shell")).to_be_visible()
    width = phone.page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]


def test_cards_are_moved_and_resized_by_keys(screen: Screen) -> None:
    board = furnished(screen)
    board.card("Plan").focus()
    for key in ("Space", "ArrowRight", "ArrowDown"):
        board.page.keyboard.press(key)
    expect(board.page.get_by_role("button", name="Undo")).to_be_enabled()
    board.page.keyboard.press("Alt+ArrowRight")
    other = BoardPage(screen, board.workspace)
    expect(other.card("Plan")).to_have_css("width", "260px")
    plan = next(card for card in board.kept()["cards"] if card["title"] == "Plan")
    assert (plan["x"] > 480, plan["y"] > -220, plan["width"]) == (True, True, 260)
