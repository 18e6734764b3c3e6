"""cards.md 18-27, decisions 8-13, 18, 19: packages are installed, updated and removed, with the owner's consent."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.unit.canvas.site import Site, open_site
from tests.unit.card.manifests import GOOD, PUBLIC, encoded, manifest, public, with_tool


def write(folder: Path, declared: dict[str, Any], entry: str = "dist/index.html", code: str = "<p>card</p>") -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    (folder / entry).parent.mkdir(parents=True)
    (folder / entry).write_text(code)
    (folder / "toolwire-card.json").write_bytes(encoded(declared))
    return folder


async def offered(site: Site, folder: Path) -> dict[str, Any]:
    return await site.ask("POST", "/card-packages", {"source": str(folder)}, status=201)


async def answered(site: Site, offer: dict[str, Any], accept: bool = True, status: int = 200) -> dict[str, Any]:
    body = {"digest": offer["digest"], "accept": accept}
    return await site.ask("POST", f"/card-packages/{offer['package']}/consent", body, status=status)


async def installed(site: Site, folder: Path) -> dict[str, Any]:
    offer = await offered(site, folder)
    await answered(site, offer)
    return await site.ask("GET", f"/card-packages/{offer['package']}")


async def test_a_first_install_shows_what_agents_will_read_and_waits(tmp_path: Path) -> None:
    """cards.md 18, 27, decisions 13, 19."""
    async with open_site(tmp_path / "data") as site:
        offer = await offered(site, write(tmp_path / "radar", GOOD))
        assert (offer["status"], offer["accepted_version"]) == ("consent_required", None)
        (tool,) = offer["tools"]
        assert tool["exposed_name"] == "test_radar_run_tests"
        assert tool["description"].startswith('[Custom card "Test radar" by Ada, community code]')
        assert [change["change"] for change in offer["diff"]] == [
            "tool_added",
            "permission_added",
            "permission_added",
            "permission_added",
        ]
        assert "+tool run_tests" in offer["diff"][0]["text"]
        assert "run commands in connected terminals" in offer["reach"]
        desk = await site.workspace()
        body = {"kind": "card", "package": offer["package"]}
        error = await site.ask("POST", f"/workspaces/{desk}/cards", body, status=409)
        assert error["code"] == "consent_required"
        assert (await answered(site, offer))["status"] == "installed"
        assert (await site.card(desk, "card", package=offer["package"]))["title"] == "Test radar"


async def test_a_refused_first_install_leaves_nothing(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        offer = await offered(site, write(tmp_path / "radar", GOOD))
        assert (await answered(site, offer, accept=False))["status"] == "removed"
        assert (await site.ask("GET", "/card-packages"))["packages"] == []
        assert not (tmp_path / "data" / "packages" / offer["package"]).exists()


@pytest.mark.parametrize(
    ("updated", "change"),
    [
        (manifest(version="2.0.0", tools=[*GOOD["tools"], {**GOOD["tools"][0], "name": "list"}]), "tool_added"),
        (with_tool(description="Deletes everything."), "tool_changed"),
        (with_tool(title="Other"), "tool_changed"),
        (with_tool(readOnly=True), "tool_changed"),
        (with_tool(inputSchema={"type": "object", "properties": {"path": {"type": "string"}}}), "tool_changed"),
        (manifest(displayName="Other"), "tool_changed"),
        (manifest(permissions=[*GOOD["permissions"], "fs.write"]), "permission_added"),
    ],
)
async def test_an_update_that_a_model_or_user_would_notice_asks_again_and_the_old_version_goes_on(
    tmp_path: Path, updated: dict[str, Any], change: str
) -> None:
    """cards.md 25, 26, decision 18."""
    async with open_site(tmp_path / "data") as site:
        before = await installed(site, write(tmp_path / "radar", GOOD))
        offer = await offered(site, write(tmp_path / "radar", updated))
        assert (offer["package"], offer["status"]) == (before["package"], "consent_required")
        asking = [found for found in offer["diff"] if found.get("asks")]
        assert [found["change"] for found in asking] == [change]
        package = site.host.canvas.packages.get("owner", before["package"])
        assert package.accepted is not None
        assert package.accepted.digest == before["digest"]
        assert site.host.canvas.packages.tree(package).joinpath("dist/index.html").exists()
        await answered(site, offer, accept=False)
        assert (await site.ask("GET", f"/card-packages/{before['package']}"))["digest"] == before["digest"]
        await answered(site, await offered(site, tmp_path / "radar"))
        assert (await site.ask("GET", f"/card-packages/{before['package']}"))["digest"] == offer["digest"]


@pytest.mark.parametrize(
    "updated",
    [
        manifest(version="1.2.1"),
        manifest(version="1.3.0", tools=[]),
        with_tool(timeoutMs=5000),
        manifest(permissions=None),
    ],
)
async def test_an_update_that_takes_away_or_changes_code_alone_is_installed_at_once(
    tmp_path: Path, updated: dict[str, Any]
) -> None:
    """Decision 18: any change except removal or timeout asks."""
    async with open_site(tmp_path / "data") as site:
        before = await installed(site, write(tmp_path / "radar", GOOD))
        after = await offered(site, write(tmp_path / "radar", updated, code="<p>new</p>"))
        assert (after["package"], after["status"]) == (before["package"], "installed")
        assert after["digest"] != before["digest"]


async def test_consent_is_for_what_the_owner_has_seen(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        seen = await offered(site, write(tmp_path / "radar", GOOD))
        await offered(site, write(tmp_path / "radar", with_tool(description="Deletes everything.")))
        assert (await answered(site, seen, status=409))["code"] == "conflict"


async def test_two_packages_of_one_name_are_two_and_the_first_keeps_its_names(tmp_path: Path) -> None:
    """cards.md 19, 20, decisions 8, 10; names survive a restart and a removal."""
    async with open_site(tmp_path / "data") as site:
        key = site.owner_key
        one = await installed(site, write(tmp_path / "one", GOOD))
        two = await installed(site, write(tmp_path / "two", GOOD))
        assert one["package"] != two["package"]
        assert two["tools"][0]["exposed_name"] == "test_radar_run_tests_2"
        await site.ask("DELETE", f"/card-packages/{one['package']}", status=204)
    async with open_site(tmp_path / "data", key) as site:
        assert (await installed(site, write(tmp_path / "three", GOOD)))["tools"][0]["exposed_name"].endswith("_3")
        (shown, _) = (await site.ask("GET", "/card-packages"))["packages"]
        assert shown["tools"][0]["exposed_name"].endswith("_2")
        assert (await installed(site, tmp_path / "one"))["tools"][0]["exposed_name"] == "test_radar_run_tests"


async def test_the_public_cards_are_all_installed(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        for name in PUBLIC:
            folder = write(tmp_path / name, public(name))
            (folder / "toolwire-card.json").rename(folder / "neurosquad-card.json")
            shown = await installed(site, folder)
            assert [tool["name"] for tool in shown["tools"]] == [tool["name"] for tool in PUBLIC[name]]


async def test_a_package_in_use_is_removed_by_force_alone(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = (await installed(site, write(tmp_path / "radar", GOOD)))["package"]
        desk = await site.workspace()
        card, agent = await site.card(desk, "card", package=package), await site.card(desk, "agent")
        await site.arrow(desk, agent["id"], card["id"])
        error = await site.ask("DELETE", f"/card-packages/{package}", status=409)
        assert error["details"]["cards"] == [{"workspace": desk, "card": card["id"], "title": "Test radar"}]
        await site.ask("DELETE", f"/card-packages/{package}?force=true", status=204)
        board = await site.ask("GET", f"/workspaces/{desk}")
        assert ([left["id"] for left in board["cards"]], board["arrows"]) == ([agent["id"]], [])


async def test_another_owner_installs_nothing_from_this_machine_and_runs_nothing_on_it(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = (await installed(site, write(tmp_path / "radar", GOOD)))["package"]
        site.owner_key = (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]
        error = await site.ask("POST", "/card-packages", {"source": str(tmp_path / "radar")}, status=403)
        assert error["code"] == "forbidden"
        assert (await site.ask("GET", "/card-packages"))["packages"] == []
        assert (await site.ask("GET", f"/card-packages/{package}", status=404))["code"] == "package_not_found"
        assert (await site.ask("DELETE", f"/card-packages/{package}", status=404))["code"] == "package_not_found"


@pytest.mark.parametrize(
    ("declared", "entry", "where"),
    [
        (manifest(version="one"), "dist/index.html", "/version"),
        (GOOD, "index.html", "/entry"),
        (manifest(icon="icon.png"), "dist/index.html", "/icon"),
    ],
)
async def test_what_cannot_be_installed_says_where_and_leaves_nothing(
    tmp_path: Path, declared: dict[str, Any], entry: str, where: str
) -> None:
    async with open_site(tmp_path / "data") as site:
        folder = write(tmp_path / "radar", declared, entry)
        error = await site.ask("POST", "/card-packages", {"source": str(folder)}, status=400)
        paths = [found["path"] for found in error["details"].get("errors", [])]
        assert where in [*paths, error["details"].get("param")]
        assert list((tmp_path / "data" / "packages").rglob("*.json")) == []


async def test_a_switched_off_tool_stays_so_until_the_package_goes(tmp_path: Path) -> None:
    """cards.md 66-68, decision 34."""
    async with open_site(tmp_path / "data") as site:
        key, package_id = site.owner_key, (await installed(site, write(tmp_path / "radar", GOOD)))["package"]
        packages, told = site.host.canvas.packages, list[bool]()
        packages.on_changed(lambda package: told.append(bool(package.disabled)))
        package = await packages.set_enabled(packages.get("owner", package_id), "run_tests", enabled=False)
        await packages.set_enabled(package, "run_tests", enabled=False)
        assert told == [True]
    async with open_site(tmp_path / "data", key) as site:
        shown = await site.ask("GET", f"/card-packages/{package_id}")
        assert shown["tools"][0]["enabled"] is False
        await site.ask("DELETE", f"/card-packages/{package_id}", status=204)
        assert (await installed(site, tmp_path / "radar"))["tools"][0]["enabled"] is True
