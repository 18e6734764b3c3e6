"""cards.md §3, Transport: the files of web cards, for frames alone, and what the policy lets them do."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_packages import installed, write
from tests.unit.card.manifests import manifest

POLICY = "content-security-policy"


def card(folder: Path, **declared: Any) -> Path:
    write(folder, manifest(entry="dist/index.html", **declared))
    (folder / "dist" / "main.js").write_text("card()")
    (folder / "dist" / "notes.unknown").write_text("?")
    return folder


async def get(site: Site, path: str, **headers: str) -> httpx2.Response:
    return await site.client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})


async def test_a_card_and_its_scripts_are_read_by_address_alone_from_an_opaque_origin(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await installed(site, card(tmp_path / "radar"))
        page = await get(site, package["frame"], origin="null")
        script = await get(site, package["frame"].replace("index.html", "main.js"), origin="null")
        other = await get(site, package["frame"].replace("index.html", "notes.unknown"))
    assert (page.status_code, page.text) == (200, "<p>card</p>")
    assert (script.text, script.headers["content-type"]) == ("card()", "text/javascript; charset=utf-8")
    assert other.headers["content-type"] == "application/octet-stream"
    for answer in (page, script, other):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert "immutable" in script.headers["cache-control"]


async def test_the_policy_holds_a_card_to_its_own_files_without_an_origin_of_its_own(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await installed(site, card(tmp_path / "radar", permissions=[]))
        policy = (await get(site, package["frame"])).headers[POLICY]
    folder = package["frame"].removesuffix("dist/index.html")
    rules = {name: set(sources) for name, *sources in (rule.split() for rule in policy.split(";"))}
    own = f"http://localhost{folder}"
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == {"'none'"}
    assert rules["sandbox"] == {"allow-scripts"}
    assert rules["script-src"] == {own, "'wasm-unsafe-eval'"}
    assert rules["connect-src"] == {own}
    assert rules["frame-ancestors"] == {"'self'"}


async def test_hosts_that_the_owner_has_accepted_may_be_asked_and_optional_ones_may_not(tmp_path: Path) -> None:
    permissions = [{"id": "network", "hosts": ["api.example.com"]}]
    async with open_site(tmp_path / "data") as site:
        asked = await installed(site, card(tmp_path / "one", permissions=permissions))
        policy = (await get(site, asked["frame"])).headers[POLICY]
        optional = await installed(site, card(tmp_path / "two", permissions=[{**permissions[0], "optional": True}]))
        narrow = (await get(site, optional["frame"])).headers[POLICY]
    assert "https://api.example.com" in policy
    assert "example.com" not in narrow


async def test_what_else_the_host_has_is_not_to_be_had_that_way(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await installed(site, card(tmp_path / "radar"))
        folder = package["frame"].removesuffix("dist/index.html")
        paths = ("", "dist", "dist/nothing.js", "%2e%2e/x", "dist/..%2f..%2f..%2fsecret.key", "%00", "dist%5cmain.js")
        found = [(await get(site, folder + path)).status_code for path in paths]
        guessed = await get(site, folder[:-4] + "aaa/dist/index.html")
        unnamed = await get(site, "/card-frames/pkg_nothing-/index.html")
        posted = await site.client.post(package["frame"])
        elsewhere = await get(site, package["frame"], host="evil.example")
    assert found == [404] * len(paths)
    assert [each.status_code for each in (guessed, unnamed, posted, elsewhere)] == [404, 404, 405, 421]


async def test_an_update_has_an_address_of_its_own_and_a_package_that_is_gone_has_none(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        before = await installed(site, card(tmp_path / "radar"))
        write(tmp_path / "radar", manifest(entry="dist/index.html"), code="<p>newer</p>")
        after = await site.ask("POST", "/card-packages", {"source": str(tmp_path / "radar")}, status=201)
        assert (after["status"], after["package"]) == ("installed", before["package"])
        assert (await get(site, after["frame"])).text == "<p>newer</p>"
        assert (await get(site, before["frame"])).status_code == 404
        await site.ask("DELETE", f"/card-packages/{after['package']}", status=204)
        assert (await get(site, after["frame"])).status_code == 404


async def test_before_consent_and_for_programs_there_is_no_page(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        waiting = await site.ask("POST", "/card-packages", {"source": str(card(tmp_path / "radar"))}, status=201)
        assert (waiting["frame"], waiting["program"]) == (None, False)
        program = await installed(site, write(tmp_path / "py", manifest(entry="main.py", name="py"), entry="main.py"))
        assert (program["frame"], program["program"]) == (None, True)


@pytest.mark.parametrize(("host", "own"), [("[::1]:8094", "'self'"), ("a;b.localhost", "'self'")])
async def test_a_host_that_no_policy_can_name_is_meant_by_self(tmp_path: Path, host: str, own: str) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await installed(site, card(tmp_path / "radar"))
        policy = (await get(site, package["frame"], host=host)).headers[POLICY]
    assert f"font-src {own} http://localhost/" in policy
