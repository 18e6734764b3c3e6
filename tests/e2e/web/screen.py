"""A real Chromium before a real `toolwire up`: signs in, and asks the host as its owner beside it; it asserts nothing.

Chromium is the machine's, as Debian's package `chromium` puts it there; Playwright brings no browser of its own.
"""

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.e2e.running import Process, Ready
from tests.web.page import page_folder

PATIENCE_MS = 20_000
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Screen:
    """A host, and windows in which its owner is signed in."""

    def __init__(self, process: Process, ready: Ready, browser: Browser, client: httpx2.Client) -> None:
        self.process = process
        self.ready = ready
        self._browser = browser
        self._client = client
        self.contexts: list[BrowserContext] = []

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One REST request as the owner, in a program's way; the `data` of its answer."""
        return self.ask_as(self.ready.owner_key, method, path, body)

    def ask_as(self, key: str, method: str, path: str, body: Any = None) -> Any:
        """The same with another key than the owner's."""
        answer = self._client.request(method, f"/api/v1{path}", json=body, headers={"authorization": f"Bearer {key}"})
        assert answer.is_success, answer.text
        return answer.json()["data"] if answer.content else None

    def fresh(self, **options: Any) -> Page:
        """A window of a browser that has never been here: English, light, at 1280×800."""
        settings: dict[str, Any] = {"viewport": WIDE, "locale": "en-US", "color_scheme": "light", **options}
        context = self._browser.new_context(base_url=self.ready.url, **settings)
        context.set_default_timeout(PATIENCE_MS)
        self.contexts.append(context)
        return context.new_page()

    def window(self, path: str = "/", **options: Any) -> Page:
        """A window in which the owner is signed in, at `path`."""
        page = self.fresh(**options)
        link = self.ask("POST", "/sign-in-links")["url"]
        page.goto(link)
        page.get_by_role("button", name="Sign in").or_(page.get_by_role("button", name="登录")).click()
        page.goto(path)
        return page

    def workspace(self, name: str = "desk") -> str:
        """A new workspace's id."""
        return self.ask("POST", "/workspaces", {"name": name})["id"]

    def card(self, workspace: str, kind: str, **more: Any) -> dict[str, Any]:
        """A new card, as the host shows it."""
        return self.ask("POST", f"/workspaces/{workspace}/cards", {"kind": kind, **more})

    def arrow(self, workspace: str, source: str, target: str) -> str:
        """A new arrow's id."""
        return self.ask("POST", f"/workspaces/{workspace}/arrows", {"source": source, "target": target})["id"]

    def install(self, folder: Path) -> str:
        """The id of the package in a folder, accepted."""
        offer = self.ask("POST", "/card-packages", {"source": str(folder)})
        accepted = {"digest": offer["digest"], "accept": True}
        self.ask("POST", f"/card-packages/{offer['package']}/consent", accepted)
        return offer["package"]

    def close(self) -> None:
        """Close all windows."""
        for context in self.contexts:
            context.close()


@contextmanager
def chromium() -> Generator[Browser]:
    """A Chromium without a screen of its own."""
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    assert program is not None, "these tests need Chromium; on Debian and Ubuntu: apt-get install chromium"
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def screen_on(folder: Path, browser: Browser, *flags: str, env: Mapping[str, str] | None = None) -> Generator[Screen]:
    """A host on a free port, with the page as the sources are now."""
    page_folder()
    with Process(["up", "--port", "0", "--json", *flags], folder, env) as process:
        ready = Ready(**process.line())
        with httpx2.Client(base_url=ready.url, timeout=30, trust_env=False) as client:
            screen = Screen(process, ready, browser, client)
            try:
                yield screen
            finally:
                screen.close()
