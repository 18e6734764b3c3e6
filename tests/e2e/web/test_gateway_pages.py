"""The pages of the gateway: what an owner does there takes effect on the host, and what the host knows is shown."""

import http.server
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.web.screen import PHONE, Screen, screen_on

pytestmark = pytest.mark.e2e

AGENT = "agent_demo"
# Webhooks of this machine may be told, once: what fails then is a dead letter.
TELLING = {"TOOLWIRE_WEBHOOK_ALLOW_CIDRS": "127.0.0.0/8", "TOOLWIRE_WEBHOOK_SCHEDULE_S": ""}


@pytest.fixture
def screen(tmp_path: Path, browser: Browser) -> Generator[Screen]:
    with screen_on(tmp_path, browser, "--demo", env=TELLING) as ready:
        yield ready


class Receiver(http.server.ThreadingHTTPServer):
    """An address to tell: it answers with `status`, and keeps what it was told."""

    status = 204

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Told)
        self.told: list[bytes] = []


class Told(http.server.BaseHTTPRequestHandler):
    """One delivery."""

    def do_POST(self) -> None:
        receiver = self.server
        assert isinstance(receiver, Receiver)
        receiver.told.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(receiver.status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return None


@contextmanager
def receiver() -> Generator[Receiver]:
    with Receiver() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def search(screen: Screen, query: str) -> None:
    """One call, so that there is something to tell about."""
    screen.ask("POST", f"/agents/{AGENT}/invoke", {"tool": "web_search", "arguments": {"query": query}})


def row(page: Page, words: str) -> Locator:
    """The rows of a table with these words."""
    return page.get_by_role("row").filter(has_text=words)


def test_a_tool_is_tried_with_a_form_made_from_its_schema(screen: Screen) -> None:
    page = screen.window("/gateway/agents")
    page.get_by_role("link", name="demo").click()
    page.get_by_role("button", name="Try it: web_search").click()
    dialog = page.get_by_role("dialog", name="Try web_search")
    dialog.get_by_role("button", name="Call", exact=True).click()
    expect(dialog.get_by_text("Result", exact=True)).to_have_count(0)
    dialog.get_by_label("query").fill("canvas arrows")
    dialog.get_by_role("button", name="Call", exact=True).click()
    expect(dialog.get_by_role("region", name="Result")).to_contain_text("canvas arrows")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Audit").click()
    expect(row(page, "web_search")).to_have_count(1)


def test_a_key_is_shown_once_and_refused_once_it_is_revoked(screen: Screen) -> None:
    page = screen.window("/gateway/keys")
    page.get_by_role("button", name="New key").click()
    dialog = page.get_by_role("dialog", name="New key")
    dialog.get_by_label("Name").fill("partner")
    dialog.get_by_role("button", name="New key").click()
    key = page.get_by_role("dialog").get_by_role("region", name="Key").text_content() or ""
    assert key.startswith("bak_")
    page.get_by_role("button", name="Close").last.click()
    headers = {"authorization": f"Bearer {key}"}
    with httpx2.Client(base_url=screen.ready.url, headers=headers, trust_env=False) as caller:
        call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert caller.post(f"/{AGENT}/mcp", json=call).status_code == 200
        row(page, "partner").get_by_role("button", name="Revoke").click()
        page.get_by_role("alertdialog").or_(page.get_by_role("dialog")).get_by_role("button", name="Revoke").click()
        expect(row(page, "partner")).to_contain_text("Revoked")
        assert caller.post(f"/{AGENT}/mcp", json=call).status_code == 401
    expect(page.get_by_text(key)).to_have_count(0)


def test_a_new_agent_is_listed_and_its_key_shown_once(screen: Screen) -> None:
    page = screen.window("/gateway/agents")
    page.get_by_role("button", name="New agent").click()
    dialog = page.get_by_role("dialog", name="New agent")
    dialog.get_by_label("Name").fill("helper")
    dialog.get_by_role("button", name="New agent").click()
    key = page.get_by_role("dialog").get_by_role("region").text_content() or ""
    assert key.startswith("agk_")
    page.get_by_role("button", name="Close").last.click()
    expect(page.get_by_role("link", name="helper")).to_be_visible()
    expect(page.get_by_text(key)).to_have_count(0)


def test_a_webhook_is_made_watched_and_told_again(screen: Screen) -> None:
    with receiver() as told:
        told.status = 500
        page = screen.window("/gateway/webhooks")
        page.get_by_role("button", name="New webhook").click()
        dialog = page.get_by_role("dialog", name="New webhook")
        dialog.get_by_label("Address").fill(f"http://127.0.0.1:{told.server_address[1]}/hook")
        dialog.get_by_role("button", name="New webhook").click()
        expect(page.get_by_text("Working")).to_be_visible()
        search(screen, "first")
        page.reload()
        page.get_by_role("button", name="Deliveries").click()
        expect(row(page, "500")).to_be_visible()
        told.status = 204
        row(page, "500").get_by_role("button", name="Send again").click()
        expect(page.get_by_text("on its way once more")).to_be_visible()
        expect(row(page, "succeeded")).to_be_visible()
        first, second = told.told[0], told.told[-1]
        assert first == second


def test_a_file_is_uploaded_downloaded_and_deleted(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "plan.txt").write_text("wire it\n")
    page = screen.window("/gateway/files")
    expect(page.get_by_text("No files yet")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a file").click()
    chooser.value.set_files(tmp_path / "plan.txt")
    expect(row(page, "plan.txt")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download: plan.txt").click()
    assert download.value.path().read_text() == "wire it\n"
    page.get_by_role("button", name="Delete the file: plan.txt").click()
    page.get_by_role("button", name="Delete the file", exact=True).click()
    expect(page.get_by_text("No files yet")).to_be_visible()


def test_a_changed_tool_is_accepted_on_a_phone(screen: Screen) -> None:
    made = screen.ask("POST", "/agents", {"name": "Glossary"})

    def register(description: str) -> None:
        skill = {"name": "define", "description": description, "inputSchema": {"type": "object"}}
        body = {"agents": [{"name": "Glossary", "skills": [skill]}]}
        screen.ask_as(made["agent_key"], "POST", "/agents/sync", body)

    register("Define a word.")
    screen.ask("PATCH", f"/agents/{made['agent_id']}", {"pinned": True})
    register("Define a word, and keep it.")
    page = screen.window("/gateway/consents", viewport=PHONE)
    expect(page.get_by_text("and keep it.")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    (skill,) = screen.ask("GET", f"/agents/{made['agent_id']}")["skills"]
    assert skill["description"] == "Define a word, and keep it."


def test_the_audit_says_whether_its_chain_holds_and_shows_older_entries_on_demand(screen: Screen) -> None:
    for number in range(3):
        search(screen, f"query {number}")
    page = screen.window("/gateway/audit")
    expect(page.get_by_text("The chain holds: entries 1 to 3")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as JSON lines").or_(
            page.get_by_role("button", name="Download as JSON lines")
        ).click()
    assert len(download.value.path().read_text().splitlines()) == 3
