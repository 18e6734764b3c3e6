"""The page: who may see and send it, what it shows, and how an owner signs in (gateway.md 48)."""

from pathlib import Path

import httpx2
import pytest

from tests.unit.gateway.oauth.browser import BASE, LOOPBACK, answer_in, open_person, token_in

pytestmark = pytest.mark.anyio


async def test_nothing_is_shown_before_an_owner_has_signed_in(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        shown = await person.site.client.get(person.query())
        sent = await person.site.client.post(
            person.query(), data={"action": "allow", "agent": agent_id, "token": "0"}, headers={"origin": BASE}
        )
    for page in (shown, sent):
        assert page.status_code == 200
        assert agent_id not in page.text
        assert 'name="owner_key"' in page.text


@pytest.mark.parametrize("key", ["", "oag_" + "0" * 64, "ü", "bak"])
async def test_only_an_owner_s_key_signs_in(tmp_path: Path, key: str):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        _, bak = await person.site.host.gateway.keys.create("bak", "owner", agent_id)
        form = {"action": "sign_in", "owner_key": bak if key == "bak" else key}
        answer = await person.site.client.post(person.query(), data=form, headers={"origin": BASE})
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)


async def test_the_session_is_kept_from_scripts_and_other_sites(tmp_path: Path):
    async with open_person(tmp_path) as person:
        plain = (await person.sign_in()).headers["set-cookie"]
    async with open_person(tmp_path / "b", public_url="https://localhost") as person:
        secured = (await person.sign_in()).headers["set-cookie"]
    assert all(word in plain for word in ("HttpOnly", "SameSite=lax", "Path=/oauth", "Max-Age=3600"))
    assert secured.startswith("__Host-toolwire-owner=")
    assert all(word in secured for word in ("HttpOnly", "Secure", "Path=/;"))


async def test_a_page_of_another_site_cannot_decide(tmp_path: Path):
    """CSRF: a form's Origin must be ours, and it must bring back what our page was given, for this very request."""
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        page = await person.browser.get(person.query())
        form = {"action": "allow", "agent": agent_id, "token": token_in(page.text)}
        foreign = await person.browser.post(person.query(), data=form, headers={"origin": "https://evil.example"})
        nowhere = await person.browser.post(person.query(), data=form, headers={"origin": "null"})
        neighbour = await person.browser.post(person.query(), data=form, headers={"origin": BASE + ":3000"})
        without = await person.browser.post(person.query(), data={**form, "token": ""}, headers={"origin": BASE})
        moved = await person.browser.post(person.query(state="other"), data=form, headers={"origin": BASE})
        good = await person.browser.post(person.query(), data=form, headers={"origin": BASE})
    assert (foreign.status_code, nowhere.status_code, neighbour.status_code) == (403, 403, 403)
    assert [(kept.status_code, "location" in kept.headers) for kept in (without, moved)] == [(200, False)] * 2
    assert good.status_code == 303


async def test_a_session_of_another_browser_does_not_send_this_one_s_form(tmp_path: Path):
    async with open_person(tmp_path) as person:
        agent_id = await person.agent("picked")
        page = await person.browser.get(person.query())
        await person.sign_in()
        form = {"action": "allow", "agent": agent_id, "token": token_in(page.text)}
        stale = await person.browser.post(person.query(), data=form, headers={"origin": BASE})
    assert (stale.status_code, "location" in stale.headers) == (200, False)


async def test_pages_run_no_script_load_nothing_and_stand_in_no_frame(tmp_path: Path):
    async with open_person(tmp_path) as person:
        pages = [
            await person.browser.get(person.query()),
            await person.site.client.get(person.query()),
            await person.browser.get(person.query(redirect_uri="https://evil.example")),
            await person.browser.get("/mcp-login?link=x"),
        ]
    for page in pages:
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "base-uri 'none'" in policy
        assert "unsafe" not in policy
        assert "script" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["cache-control"] == "no-store"
        assert page.headers["referrer-policy"] == "same-origin"
        assert "<script" not in page.text
        assert "evil.example" not in policy
    assert pages[0].headers["content-security-policy"].endswith("form-action 'self' http://127.0.0.1:7777")


async def test_what_a_client_calls_itself_is_text_and_its_redirect_host_stands_beside_it(tmp_path: Path):
    name = '<b>"Bank" & Co\u202e\u2066\nSigned by Toolwire' + "x" * 200
    async with open_person(tmp_path) as person:
        await person.agent("<i>agent")
        answer = await person.register("https://evil.example/cb", client_name=name)
        page = await person.browser.get(person.query(redirect_uri="https://evil.example/cb"))
    assert "&lt;b&gt;&quot;Bank&quot; &amp; Co Signed by Toolwire" in page.text
    assert "&lt;i&gt;agent" in page.text
    assert "<b>evil.example</b>" in page.text
    assert not any(char in page.text for char in "\u202e\u2066")
    assert len(answer.json()["client_name"]) == 80


@pytest.mark.parametrize(
    ("accepted", "lang"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("en-GB,en;q=0.9,zh;q=0.5", "en"),
        ("de, zh-TW;q=0.5", "zh-CN"),
        ("de", "en"),
        ("zh;q=x,", "en"),
        ("", "en"),
    ],
)
async def test_the_page_speaks_the_browser_s_language(tmp_path: Path, accepted: str, lang: str):
    async with open_person(tmp_path) as person:
        page = await person.browser.get(person.query(), headers={"accept-language": accepted})
    assert f'<html lang="{lang}">' in page.text
    assert ("允许" in page.text) is (lang == "zh-CN")


async def test_an_owner_may_deny_and_sign_out(tmp_path: Path):
    async with open_person(tmp_path) as person:
        await person.agent("picked")
        denied = await person.press(person.query(), "deny")
        out = await person.press(person.query(), "sign_out")
        page = await person.browser.get(out.headers["location"])
    assert answer_in(denied) == {"error": "access_denied", "state": "s-1", "iss": BASE}
    assert out.status_code == 303
    assert 'name="owner_key"' in page.text


async def test_nothing_picked_is_asked_again(tmp_path: Path):
    async with open_person(tmp_path) as person:
        await person.agent("one")
        await person.agent("two")
        kept = await person.press(person.query(), "allow")
    assert (kept.status_code, 'role="alert"' in kept.text, "checked" in kept.text) == (200, True, False)


async def test_an_owner_without_agents_can_only_deny(tmp_path: Path):
    async with open_person(tmp_path) as person:
        page = await person.browser.get(person.query())
    assert ('value="allow"' in page.text, 'value="deny"' in page.text) == (False, True)


async def test_a_link_signs_a_browser_in_once(tmp_path: Path):
    """Programs open links to look at them: a look uses nothing up."""
    async with open_person(tmp_path) as person:
        await person.agent("picked")
        link = (await person.site.ask("POST", "/sign-in-links", status=201))["url"].removeprefix(BASE)
        transport = httpx2.ASGITransport(person.site.host.app)
        async with httpx2.AsyncClient(transport=transport, base_url=BASE) as fresh:
            looks = [(await fresh.request(method, link)).status_code for method in ("GET", "HEAD", "GET")]
            neighbour = await fresh.post(link, headers={"origin": BASE + ":3000"})
            foreign = await fresh.post(link, headers={"origin": "https://evil.example"})
            used = await fresh.post(link, headers={"origin": BASE})
            page = await fresh.get(person.query())
            again = await fresh.post(link, headers={"origin": BASE})
    assert (looks, neighbour.status_code) == ([200, 200, 200], 403)
    assert (foreign.status_code, used.status_code, again.status_code) == (403, 303, 400)
    assert 'value="allow"' in page.text


async def test_a_key_that_is_revoked_takes_its_browser_s_session_along(tmp_path: Path):
    async with open_person(tmp_path) as person:
        made = await person.site.ask("POST", "/keys", {"kind": "oag"}, status=201)
        form = {"action": "sign_in", "owner_key": made["key"]}
        await person.browser.post(person.query(), data=form, headers={"origin": BASE})
        before = await person.browser.get(person.query())
        await person.site.ask("DELETE", f"/keys/{made['key_id']}", status=204)
        after = await person.browser.get(person.query())
    assert ('name="owner_key"' in before.text, 'name="owner_key"' in after.text) == (False, True)


async def test_a_client_on_this_machine_is_told_as_such(tmp_path: Path):
    async with open_person(tmp_path) as person:
        page = await person.browser.get(person.query())
    assert "<b>127.0.0.1:7777</b> (a program on this computer)" in page.text
    assert LOOPBACK not in page.text.replace("&amp;", "&")
