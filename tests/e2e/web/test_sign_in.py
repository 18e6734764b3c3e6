"""A browser signs in and out before the page, and nobody else's page gets in with its cookie."""

import http.server
import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.web.screen import Screen

pytestmark = pytest.mark.e2e

ATTACK = """<!doctype html><script>
window.answered = (async () => {
  const found = [];
  for (const [method, mode] of [["GET", "cors"], ["GET", "no-cors"], ["POST", "no-cors"]]) {
    const body = method === "POST" ? JSON.stringify({ name: "theirs" }) : undefined;
    try {
      const answer = await fetch("HOST/api/v1/workspaces", { method, mode, body, credentials: "include" });
      found.push(answer.type === "opaque" ? "unread" : answer.status);
    } catch { found.push("refused"); }
  }
  found.push(await new Promise((done) => {
    const socket = new WebSocket("WSHOST/api/v1/cards/link?package=pkg_1");
    socket.onopen = () => done("open");
    socket.onerror = () => done("refused");
  }));
  return found;
})();
</script>"""


@contextmanager
def neighbour(host: str) -> Generator[str]:
    """Another server on this machine, whose page asks ours; for browsers the two are one site."""
    page = ATTACK.replace("WSHOST", host.replace("http", "ws")).replace("HOST", host).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:
            return None

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def statuses(page: Page, *paths: str) -> list[int]:
    """What the page itself is answered."""
    return page.evaluate(
        "paths => Promise.all(paths.map(async (path) => (await fetch(path)).status))",
        [f"/api/v1{path}" for path in paths],
    )


def test_the_link_of_the_start_opens_the_canvas_once_and_the_cookie_stays(screen: Screen) -> None:
    page = screen.fresh()
    page.goto(screen.ready.sign_in)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("navigation", name="Sections")).to_be_visible()
    assert statuses(page, "/browser/session", "/workspaces") == [200, 200]
    assert page.evaluate("document.cookie") == ""
    (cookie,) = [each for each in page.context.cookies() if each.get("name", "").startswith("toolwire-browser")]
    assert (cookie.get("httpOnly"), cookie.get("sameSite"), cookie.get("path")) == (True, "Strict", "/")
    again = screen.fresh()
    again.goto(screen.ready.sign_in)
    expect(again.get_by_role("alert")).to_contain_text("used, or is too old")


def test_a_stranger_is_led_to_sign_in_and_then_to_where_they_wanted(screen: Screen) -> None:
    workspace = screen.workspace()
    page = screen.fresh()
    page.goto(f"/w/{workspace}")
    page.get_by_label("Owner key").fill("oag_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Owner key").fill(screen.ready.owner_key)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(f"{screen.ready.url}/w/{workspace}")


def test_signing_out_ends_what_the_page_may_do(screen: Screen) -> None:
    page = screen.window()
    cookies = page.context.cookies()
    jar = "; ".join(f"{cookie.get('name')}={cookie.get('value')}" for cookie in cookies)
    kept = {"cookie": jar, "sec-fetch-site": "same-origin"}
    assert page.request.get("/api/v1/workspaces", headers=kept).status == 200
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page).to_have_url(f"{screen.ready.url}/sign-in")
    assert page.request.get("/api/v1/workspaces", headers=kept).status == 401
    page.goto("/")
    expect(page).to_have_url(f"{screen.ready.url}/sign-in")


def test_a_page_of_another_port_of_this_machine_gets_nothing_by_the_cookie(screen: Screen) -> None:
    page = screen.window()
    with neighbour(screen.ready.url) as theirs:
        page.goto(theirs)
        assert page.evaluate("window.answered") == ["refused", "unread", "unread", "refused"]
    page.goto("/")
    assert "theirs" not in {each["name"] for each in screen.ask("GET", "/workspaces")["workspaces"]}
