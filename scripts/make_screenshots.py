"""Take the pictures of docs/images/ from the page itself, in light and dark; it judges nothing: look at what it took.

python scripts/make_screenshots.py            all of them
python scripts/make_screenshots.py log agent  these
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Literal

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, expect  # noqa: E402 - a script finds its neighbours like that

from tests.e2e.web.cards import caller, declared, tool, typescript_card  # noqa: E402
from tests.e2e.web.screen import PHONE, WIDE, Screen, chromium, screen_on  # noqa: E402
from tests.e2e.web.test_card_questions import ERASER, WHAT  # noqa: E402
from tests.e2e.web.test_chat import mailer_on, opened, say  # noqa: E402

TARGET: Final = ROOT / "docs" / "images"
DEMO: Final = "agent_demo"
RADAR: Final = ROOT / "examples" / "cards" / "test-radar"

Theme = Literal["light", "dark"]
Picture = Callable[[Screen, "Look"], Page]


class Look:
    """How a picture is taken.

    Attributes:
        theme: of its windows.
        folder: of its own, for what it needs.
        until_taken: closed once the picture is.
    """

    def __init__(self, screen: Screen, theme: Theme, folder: Path, until_taken: ExitStack) -> None:
        self._screen = screen
        self.theme: Theme = theme
        self.folder = folder
        self.until_taken = until_taken

    def window(self, path: str, viewport: Mapping[str, int] = WIDE) -> Page:
        """A window at `path` in which nothing moves."""
        return self._screen.window(path, color_scheme=self.theme, reduced_motion="reduce", viewport=viewport)

    def stranger(self) -> Page:
        """A window in which nobody is signed in."""
        return self._screen.fresh(color_scheme=self.theme, reduced_motion="reduce")


def sign_in(screen: Screen, look: Look) -> Page:
    """What a stranger sees."""
    page = look.stranger()
    page.goto("/sign-in")
    return page


def furnish(screen: Screen) -> None:
    """Lay a note on the first workspace, which the demo's agent may read."""
    (workspace,) = screen.ask("GET", "/workspaces")["workspaces"]
    cards = screen.ask("GET", f"/workspaces/{workspace['id']}")["cards"]
    (agent,) = [each["id"] for each in cards if each["kind"] == "agent"]
    words = "Look up what the library says about arrows, then run the tests in the terminal."
    note = screen.card(workspace["id"], "note", title="Plan", content={"text": words}, x=40, y=380)
    screen.arrow(workspace["id"], agent, note["id"])


def board(screen: Screen, look: Look) -> Page:
    """The first workspace, while a call runs."""
    page = look.window("/")
    page.get_by_role("button", name="Make a real call").click()
    expect(page.locator(".arrow-label").first).to_contain_text("2/5")
    return page


def log(screen: Screen, look: Look) -> Page:
    """The log of an arrow, with a call in full."""
    page = board(screen, look)
    label = page.locator(".arrow-label").first
    expect(label).to_contain_text("Done")
    label.click()
    expect(page.get_by_text("Called by")).to_be_visible()
    return page


def agent(screen: Screen, look: Look) -> Page:
    """An agent's panel, at the ways to connect it."""
    page = look.window("/")
    page.locator(".card-shell-head", has_text="Demo agent").click()
    page.get_by_role("tab", name="Connect").click()
    return page


def palette(screen: Screen, look: Look) -> Page:
    """What can be added and done."""
    page = look.window("/")
    expect(page.get_by_text("Demo agent").first).to_be_visible()
    page.keyboard.press("Control+k")
    return page


def install(screen: Screen, look: Look) -> Page:
    """What a card brings, and what it may do, before it is there; it is not taken."""
    page = look.window(f"/w/{screen.workspace('Radar')}")
    page.get_by_role("button", name="installed package").click()
    page.get_by_role("button", name="Install a card").click()
    archive = shutil.make_archive(str(look.folder / "test-radar"), "zip", RADAR)
    page.get_by_label("Or upload an archive").set_input_files(archive)
    expect(page.get_by_role("dialog", name="Install Test radar?")).to_contain_text("run_tests")
    return page


def question(screen: Screen, look: Look) -> Page:
    """What a card asks inside a call, on a phone."""
    tools = (tool("erase", WHAT), tool("erase_soon", WHAT))
    manifest = declared(f"eraser-{look.theme}", *tools)
    package = screen.install(typescript_card(look.folder / "eraser", manifest, ERASER))
    workspace = screen.workspace("Logs")
    agent, card = screen.card(workspace, "agent", title="writer"), screen.card(workspace, "card", package=package)
    screen.arrow(workspace, agent["id"], card["id"])
    page = look.window(f"/w/{workspace}", PHONE)
    expect(page.locator("iframe.card-frame")).to_be_visible()
    client = look.until_taken.enter_context(caller(agent))
    client.call(f"eraser_{look.theme}_erase", what="the logs")
    expect(page.get_by_role("alertdialog")).to_be_visible()
    return page


def chat(screen: Screen, look: Look) -> Page:
    """A conversation with an agent that asks before it calls."""
    workspace = screen.workspace("Mails")
    look.until_taken.enter_context(mailer_on(screen, workspace, look.folder))
    page = look.window(f"/w/{workspace}")
    log = opened(page)
    say(page, "mail ada")
    expect(log.get_by_role("region", name="May it call send_mail?")).to_be_visible()
    return page


def empty(screen: Screen, look: Look) -> Page:
    """A workspace with nothing on it."""
    return look.window(f"/w/{screen.workspace('Empty')}")


def try_tool(screen: Screen, look: Look) -> Page:
    """A tool of an agent, tried."""
    page = look.window(f"/gateway/agents/{DEMO}")
    page.get_by_role("button", name="Try it: web_search").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("query").fill("how do tides work")
    dialog.get_by_role("button", name="Call", exact=True).click()
    expect(dialog.get_by_role("region", name="Result")).to_be_visible()
    return page


def audit(screen: Screen, look: Look) -> Page:
    """The audit's newest entries."""
    for query in ("tides", "eclipses", "the phases of the moon"):
        body: dict[str, Any] = {"tool": "web_search", "arguments": {"query": query}}
        screen.ask("POST", f"/agents/{DEMO}/invoke", body)
    page = look.window("/gateway/audit")
    expect(page.get_by_text("The chain holds")).to_be_visible()
    return page


def consents(screen: Screen, look: Look) -> Page:
    """A tool that changed, on a phone."""
    made = screen.ask("POST", "/agents", {"name": f"Glossary {look.theme}"})
    for description in ("Define a word.", "Define a word, and keep it for a year."):
        skill = {"name": "define", "description": description, "inputSchema": {"type": "object"}}
        entry = {"name": made["name"], "skills": [skill]}
        screen.ask_as(made["agent_key"], "POST", "/agents/sync", {"agents": [entry]})
        screen.ask("PATCH", f"/agents/{made['agent_id']}", {"pinned": True})
    page = look.window("/gateway/consents", PHONE)
    expect(page.get_by_text("keep it for a year").first).to_be_visible()
    return page


PICTURES: Final[Mapping[str, Picture]] = {
    "sign-in": sign_in,
    "board": board,
    "log": log,
    "agent": agent,
    "palette": palette,
    "install": install,
    "question": question,
    "chat": chat,
    "empty": empty,
    "try-tool": try_tool,
    "audit": audit,
    "consents": consents,
}


def main(names: list[str]) -> int:
    """Take the pictures of these names, or all; the exit code."""
    unknown = set(names) - set(PICTURES)
    if unknown:
        print(f"no picture {sorted(unknown)!r}; there are {', '.join(PICTURES)}", file=sys.stderr)
        return 2
    TARGET.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium() as browser,
        screen_on(Path(folder), browser, "--demo") as screen,
    ):
        furnish(screen)
        for theme in ("light", "dark"):
            for name in names or PICTURES:
                with ExitStack() as until_taken, tempfile.TemporaryDirectory() as own:
                    page = PICTURES[name](screen, Look(screen, theme, Path(own), until_taken))
                    page.screenshot(path=TARGET / f"{name}-{theme}.png")
                    page.context.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
