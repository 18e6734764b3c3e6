"""A board in a browser, as a pointer and a keyboard use it: finds its cards, drags, draws; it asserts nothing."""

from typing import Any

from playwright.sync_api import FloatRect, Locator, Page

from tests.e2e.web.screen import Screen

Point = tuple[float, float]


class BoardPage:
    """One workspace in one window.

    Args:
        screen: the host, and its windows.
        workspace: the id of the workspace.
        page: the window; a new one unless given.
    """

    def __init__(self, screen: Screen, workspace: str, page: Page | None = None) -> None:
        self._screen = screen
        self.workspace = workspace
        self.page = page or screen.window(f"/w/{workspace}")

    def card(self, title: str) -> Locator:
        """The card of that title, as people see it."""
        return self.page.locator(".react-flow__node").filter(
            has=self.page.get_by_role("heading", name=title, exact=True)
        )

    def arrows(self) -> Locator:
        """All arrows."""
        return self.page.locator(".react-flow__edge")

    def arrow(self, source: str, target: str) -> Locator:
        """The arrow between the cards of those titles."""
        return self.page.get_by_label(f"Arrow from {source} to {target}")

    def choose(self, title: str, *more: str) -> None:
        """Click on the head of a card, and on those of others with Control held."""
        self.card(title).locator("header").click()
        for other in more:
            self.card(other).locator("header").click(modifiers=["Control"])

    def pull(self, title: str, side: str, to: Point) -> None:
        """Begin to draw an arrow at a side of a card, and hold it at a point of the window."""
        card = self.card(title)
        card.hover()
        self.hold(middle(card.locator(f".react-flow__handle[data-handleid='{side}']")), to)

    def hold(self, start: Point, to: Point) -> None:
        """Press the pointer at one point, and move it to another."""
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        mouse.move((start[0] + to[0]) / 2, (start[1] + to[1]) / 2, steps=4)
        mouse.move(*to, steps=4)

    def let_go(self) -> None:
        """Release the pointer."""
        self.page.mouse.up()

    def pick(self, words: str) -> None:
        """Choose by typing, in the window that asks."""
        self.page.get_by_role("combobox").fill(words)
        self.page.keyboard.press("Enter")

    def kept(self) -> dict[str, Any]:
        """The board as the host has it."""
        return self._screen.ask("GET", f"/workspaces/{self.workspace}")


def middle(found: Locator) -> Point:
    """The middle of something on the page, in the window's pixels."""
    box = box_of(found)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def box_of(found: Locator) -> FloatRect:
    """Where something is on the page, once it is there."""
    found.wait_for()
    box = found.bounding_box()
    assert box is not None
    return box
