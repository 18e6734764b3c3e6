"""A browser that is signed in before a whole host: what its cookie opens, for whom, and until when."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_terminal_stream import WireTerminal
from tests.unit.canvas.test_terminals import terminal_on
from toolwire import __version__

BASE = "http://localhost"
OURS = {"sec-fetch-site": "same-origin"}
COOKIE = "toolwire-browser"


@asynccontextmanager
async def browser_of(site: Site, base: str = BASE) -> AsyncGenerator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(site.host.app), base_url=base) as browser:
        yield browser


async def sign_in(site: Site, browser: httpx2.AsyncClient, **query: str) -> httpx2.Response:
    link = (await site.ask("POST", "/sign-in-links", status=201))["url"].removeprefix(BASE)
    response = await browser.post(link, params=httpx2.URL(link).params.merge(query), headers={"origin": BASE})
    assert response.status_code == 303, response.text
    return response


@asynccontextmanager
async def signed_in(folder: Path) -> AsyncGenerator[tuple[Site, httpx2.AsyncClient]]:
    async with open_site(folder) as site, browser_of(site) as browser:
        await sign_in(site, browser)
        yield site, browser


async def test_a_link_signs_in_for_30_days_with_a_cookie_that_no_script_and_no_other_site_sees(tmp_path: Path):
    async with open_site(tmp_path) as site, browser_of(site) as browser:
        answer = await sign_in(site, browser)
        (cookie,) = [each for each in answer.headers.get_list("set-cookie") if each.startswith(f"{COOKIE}=")]
        parts = set(cookie.split("; ")[1:])
        session = (await browser.get("/api/v1/browser/session", headers=OURS)).json()["data"]
    assert answer.headers["location"] == "/"
    assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=2592000"} <= parts
    assert (session["owner"], session["trusted"], session["version"]) == ("owner", True, __version__)
    assert (session["public_url"], session["language"]) == (BASE, "en")


async def test_an_owner_s_key_signs_in_and_its_end_is_the_session_s(tmp_path: Path):
    async with open_site(tmp_path) as site, browser_of(site) as browser:
        made = await site.ask("POST", "/keys", {"kind": "oag"}, status=201)
        bad = await browser.post("/sign-in", data={"owner_key": "oag_x"}, headers={"origin": BASE})
        no_form = await browser.post("/sign-in", headers={"origin": BASE})
        good = await browser.post("/sign-in", data={"owner_key": made["key"]}, headers={"origin": BASE})
        assert (bad.status_code, no_form.status_code, good.status_code) == (401, 401, 303)
        assert (await browser.get("/api/v1/agents", headers=OURS)).status_code == 200
        await site.ask("DELETE", f"/keys/{made['key_id']}", status=204)
        assert (await browser.get("/api/v1/agents", headers=OURS)).status_code == 401


async def test_the_page_to_sign_in_leads_on_who_is_signed_in_and_only_to_places_of_ours(tmp_path: Path):
    async with open_site(tmp_path) as site, browser_of(site) as browser:
        shown = await browser.get("/sign-in")
        onward = await sign_in(site, browser, next="/w/wsp_1")
        again = await browser.get("/sign-in?next=/gateway/keys")
        away = [
            (await browser.get("/sign-in", params={"next": place})).headers["location"]
            for place in ("//evil.example", "https://evil.example", "/w/../oauth", "/api/v1/agents", "/w/\n")
        ]
    assert (shown.status_code, 'name="owner_key"' in shown.text) == (200, True)
    assert (onward.headers["location"], again.headers["location"]) == ("/w/wsp_1", "/gateway/keys")
    assert away == ["/"] * 5


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://localhost:3000"},
        {"origin": "http://127.0.0.1"},
        {"origin": "https://localhost"},
        {"sec-fetch-site": "same-site", "origin": BASE},
        {"sec-fetch-site": "same-site", "x-toolwire-page": "1"},
        {"origin": "http://localhost:3000", "x-toolwire-page": "1"},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_requests_that_are_not_our_own_page_s_may_not_lean_on_the_cookie(
    tmp_path: Path, method: str, headers: dict[str, str]
):
    """Every port of this machine is one site: `SameSite` alone would let its pages in."""
    async with signed_in(tmp_path) as (_, browser):
        answer = await browser.request(method, "/api/v1/workspaces", json={"name": "x"}, headers=headers)
        assert answer.status_code == 401


@pytest.mark.parametrize(
    "headers", [OURS, {"origin": BASE}, {"origin": BASE, **OURS}, {"x-toolwire-page": "1"}, {"x-toolwire-page": ""}]
)
async def test_our_own_page_is_the_owner(tmp_path: Path, headers: dict[str, str]):
    async with signed_in(tmp_path) as (_, browser):
        made = await browser.post("/api/v1/workspaces", json={"name": "desk"}, headers=headers)
        listed = await browser.get("/api/v1/workspaces", headers=headers)
        agents = await browser.get("/api/v1/agents", headers=headers)
        assert (made.status_code, len(listed.json()["data"]["workspaces"]), agents.status_code) == (201, 1, 200)


async def test_an_opaque_origin_is_refused(tmp_path: Path):
    async with signed_in(tmp_path) as (_, browser):
        for headers in ({"origin": "null"}, {"origin": "null", "x-toolwire-page": "1"}, {"origin": "null", **OURS}):
            answer = await browser.post("/api/v1/workspaces", json={"name": "x"}, headers=headers)
            assert answer.status_code == 403


async def test_a_request_with_a_key_goes_by_the_key(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser):
        other = await site.ask("POST", "/owners", {"name": "other"}, status=201)
        for headers in ({"authorization": f"Bearer {other['owner_key']}"}, {"x-agent-api-key": other["owner_key"]}):
            session = (await browser.get("/api/v1/browser/session", headers={**headers, **OURS})).json()["data"]
            assert (session["owner"], session["session_id"]) == (other["owner_id"], None)
            assert session["trusted"] is False
        wrong = await browser.get("/api/v1/agents", headers={"authorization": "Bearer oag_x", **OURS})
        assert wrong.status_code == 401


async def test_mcp_endpoints_are_for_keys_alone(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser):
        made = await site.ask("POST", "/agents", {"name": "bot"}, status=201)
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        for path in (f"/{made['agent_id']}/mcp", f"/{made['agent_id']}/toolbox/mcp"):
            assert (await browser.post(path, json=body, headers={"origin": BASE, **OURS})).status_code == 401


async def test_a_restart_signs_nobody_out(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser):
        cookies, owner_key = browser.cookies, site.owner_key
    async with open_site(tmp_path, owner_key) as site, browser_of(site) as browser:
        browser.cookies = cookies
        assert (await browser.get("/api/v1/agents", headers=OURS)).status_code == 200


async def test_browsers_are_listed_and_signed_out_one_by_one(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser), browser_of(site) as other:
        await sign_in(site, other)
        listed = (await browser.get("/api/v1/browser/sessions", headers=OURS)).json()["data"]
        (away,) = [each for each in listed if not each["current"]]
        ended = await browser.delete(f"/api/v1/browser/sessions/{away['session_id']}", headers=OURS)
        unknown = await browser.delete("/api/v1/browser/sessions/brw_x", headers=OURS)
        assert (len(listed), ended.status_code, unknown.status_code) == (2, 204, 404)
        assert (await other.get("/api/v1/agents", headers=OURS)).status_code == 401
        out = await browser.post("/api/v1/browser/sign-out", headers=OURS)
        assert (out.status_code, "Max-Age=0" in out.headers["set-cookie"]) == (204, True)
        assert COOKIE not in browser.cookies
        assert await site.ask("GET", "/browser/sessions") == []


async def test_signing_in_again_replaces_the_session_of_this_browser(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser):
        before = browser.cookies[COOKIE]
        await sign_in(site, browser)
        assert browser.cookies[COOKIE] != before
        assert len(await site.ask("GET", "/browser/sessions")) == 1


async def test_a_terminal_that_a_browser_looks_at_ends_when_it_signs_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    async with signed_in(tmp_path) as (site, browser):
        terminal = await terminal_on(site)
        cookie = f"{COOKIE}={browser.cookies[COOKIE]}"
        for origin in (b"http://localhost:3000", b"null", None):
            assert (await looked(site, terminal, cookie, origin)).closed is not None
        wire = WireTerminal()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(look, site, terminal, cookie, BASE.encode(), wire)
            await wire.type(b"echo si$((1))gned\r")
            await wire.until(b"si1gned")
            await browser.post("/api/v1/browser/sign-out", headers=OURS)
            assert (await wire.wait_closed())["code"] == 1008
            await wire.hang_up()


async def looked(site: Site, terminal: str, cookie: str, origin: bytes | None) -> WireTerminal:
    wire = WireTerminal()
    await look(site, terminal, cookie, origin, wire)
    return wire


async def look(site: Site, terminal: str, cookie: str, origin: bytes | None, wire: WireTerminal) -> None:
    headers: list[Any] = [(b"host", b"localhost"), (b"cookie", cookie.encode())]
    headers += [] if origin is None else [(b"origin", origin)]
    path = f"/api/v1/terminals/{terminal}/stream"
    scope = {"type": "websocket", "scheme": "ws", "path": path, "query_string": b"", "headers": headers}
    await site.host.app(scope, wire.receive, wire.send)


async def test_behind_tls_the_cookie_is_bound_to_this_host(tmp_path: Path):
    public = "https://tools.example"
    async with open_site(tmp_path, public_url=public) as site, browser_of(site, "http://tools.example") as browser:
        link = (await site.ask("POST", "/sign-in-links", status=201))["url"]
        assert link.startswith(f"{public}/sign-in?link=")
        answer = await browser.post(link.removeprefix(public), headers={"origin": public})
        (cookie,) = [each for each in answer.headers.get_list("set-cookie") if "toolwire-browser" in each]
        assert cookie.startswith("__Host-toolwire-browser=brs_")
        assert {"Secure", "Path=/"} <= set(cookie.split("; "))
        sent = {"cookie": cookie.partition(";")[0], "origin": public}
        assert (await browser.post("/api/v1/workspaces", json={"name": "x"}, headers=sent)).status_code == 201


async def test_two_hosts_on_one_machine_have_cookies_of_their_own(tmp_path: Path):
    settings = {"public_url": "http://localhost:8094"}
    async with open_site(tmp_path, **settings) as site, browser_of(site, "http://127.0.0.1:8094") as browser:
        link = (await site.ask("POST", "/sign-in-links", status=201))["url"]
        await browser.post(f"/sign-in?{link.partition('?')[2]}")
        assert f"{COOKIE}-8094" in browser.cookies


async def test_an_oauth_client_is_answered_by_who_is_signed_in_for_the_canvas(tmp_path: Path):
    async with signed_in(tmp_path) as (site, browser):
        browser.cookies.delete("toolwire-owner")
        metadata = {"client_name": "App", "redirect_uris": ["http://127.0.0.1:7777/cb"]}
        client_id = (await browser.post("/oauth/register", json=metadata)).json()["client_id"]
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": "http://127.0.0.1:7777/cb",
            "code_challenge": "c" * 43,
            "code_challenge_method": "S256",
        }
        page = await browser.get("/oauth/authorize", params=query)
        assert 'value="deny"' in page.text
        token = page.text.split('name="token" value="')[1].split('"')[0]
        form = {"action": "sign_out", "token": token}
        out = await browser.post("/oauth/authorize", params=query, data=form, headers={"origin": BASE})
        assert out.status_code == 303
        assert await site.ask("GET", "/browser/sessions") == []
