"""cards.md §2 (`settings`), §3 (`card.settings`): what is set is kept, checked and told; of secrets only that."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.canvas.cards import connected, linked
from tests.unit.canvas.site import Site, open_site
from tests.unit.card.manifests import GOOD, encoded

SECRET = "tok-5f3a-very-secret"
DECLARED: list[dict[str, Any]] = [
    {"key": "greeting", "type": "string", "label": {"en": "Greeting", "zh": "问候"}, "default": "hi", "maxLength": 20},
    {"key": "every", "type": "number", "label": "Every", "min": 5, "max": 60, "step": 5, "required": True},
    {"key": "loud", "type": "boolean", "label": "Loud", "default": False},
    {
        "key": "tone",
        "type": "select",
        "label": "Tone",
        "options": [{"value": "a", "label": "A"}, {"value": "b", "label": "B"}],
    },
    {"key": "paint", "type": "color", "label": "Paint", "scope": "package"},
    {"key": "token", "type": "secret", "label": "Token"},
]


async def desk(site: Site, folder: Path, settings: list[dict[str, Any]] = DECLARED) -> tuple[str, str, str]:
    """A package with settings, a workspace, and a copy there."""
    package = await installed(site, folder, settings)
    workspace = await site.workspace()
    return package, workspace, (await site.card(workspace, "card", package=package))["id"]


async def installed(site: Site, folder: Path, settings: list[dict[str, Any]], version: str = "1.0.0") -> str:
    write_card(folder, {**GOOD, "version": version, "settings": settings})
    offer = await site.ask("POST", "/card-packages", {"source": str(folder)}, status=201)
    if offer["status"] == "consent_required":
        body = {"digest": offer["digest"], "accept": True}
        await site.ask("POST", f"/card-packages/{offer['package']}/consent", body)
    return offer["package"]


def write_card(folder: Path, manifest: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "toolwire-card.json").write_bytes(encoded(manifest))
    entry = folder / str(manifest.get("entry", "index.html"))
    entry.parent.mkdir(exist_ok=True)
    entry.write_text("<!doctype html>")


def path_of(workspace: str, card: str) -> str:
    return f"/workspaces/{workspace}/cards/{card}/settings"


async def test_settings_have_their_defaults_and_labels_in_a_language(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        _, workspace, card = await desk(site, tmp_path / "card")
        shown = await site.ask("GET", path_of(workspace, card))
        assert [one["key"] for one in shown["settings"]] == [one["key"] for one in DECLARED]
        assert (shown["values"], shown["secrets"]) == ({"greeting": "hi", "loud": False}, [])
        assert shown["settings"][0]["label"] == "Greeting"
        chinese = await site.ask("GET", path_of(workspace, card) + "?language=zh")
        assert [one["label"] for one in chinese["settings"]][:2] == ["问候", "Every"]
        note = await site.card(workspace, "note")
        assert (await site.ask("GET", path_of(workspace, note["id"])))["settings"] == []


async def test_what_is_set_is_kept_over_a_restart_and_null_puts_it_back(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package, workspace, card = await desk(site, tmp_path / "card")
        other = (await site.card(workspace, "card", package=package))["id"]
        values = {"greeting": "hello", "every": 15, "paint": "#00ff00"}
        await site.ask("PUT", path_of(workspace, card), {"values": values})
        key = site.owner_key
    async with open_site(tmp_path / "data", key) as site:
        assert (await site.ask("GET", path_of(workspace, card)))["values"] == {**values, "loud": False}
        shared = await site.ask("GET", path_of(workspace, other))
        assert shared["values"] == {"greeting": "hi", "loud": False, "paint": "#00ff00"}
        back = await site.ask("PUT", path_of(workspace, card), {"values": {"greeting": None, "paint": None}})
        assert back["values"] == {"greeting": "hi", "every": 15, "loud": False}


async def test_values_that_do_not_fit_are_all_told_by_key_and_nothing_is_kept(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        _, workspace, card = await desk(site, tmp_path / "card")
        wrong: dict[str, Any] = {
            "greeting": "x" * 21,
            "every": 7,
            "loud": "yes",
            "tone": "c",
            "paint": "green",
            "token": "",
            "other": 1,
        }
        error = await site.ask("PUT", path_of(workspace, card), {"values": {**wrong}}, status=400)
        assert [one["key"] for one in error["details"]["errors"]] == list(wrong)
        assert error["message"].startswith("setting 'greeting' takes 20 characters, not 21 (and 6 more)")
        for value in (None, True, 4, 61):
            error = await site.ask("PUT", path_of(workspace, card), {"values": {"every": value}}, status=400)
        assert (await site.ask("GET", path_of(workspace, card)))["values"] == {"greeting": "hi", "loud": False}


async def test_a_secret_is_never_told_and_stands_nowhere_in_the_clear(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package, workspace, card = await desk(site, tmp_path / "card")
        async with connected(site, package) as live:
            shown = await site.ask("PUT", path_of(workspace, card), {"values": {"token": SECRET}})
            assert shown["secrets"] == ["token"]
            told = await live.event("settings.changed")
            assert (told["secrets"], SECRET in str(told)) == (["token"], False)
            refused = await live.answer("settings.set", key="token", value="mine")
            assert refused["error"]["code"] == "permission_denied"
            exported = await site.ask("GET", f"/workspaces/{workspace}/export")
            log = await site.ask("GET", f"/workspaces/{workspace}/cards/{card}/log")
            assert SECRET not in f"{shown}{exported}{log}"
        long = {"token": SECRET * 2000}
        error = await site.ask("PUT", path_of(workspace, card), {"values": long}, status=400)
        assert SECRET not in str(error)
    kept = [path.read_bytes() for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in data for data in kept)


async def test_a_card_is_told_at_once_of_what_is_set_and_sets_it_itself(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package, workspace, card = await desk(site, tmp_path / "card")
        async with linked(site, package) as live:
            ready = await live.ask("host.ready", protocol=1, sdk="test")
            assert ready["settings"] == [{"card": card, "values": {"greeting": "hi", "loud": False}}]
            await site.ask("PUT", path_of(workspace, card), {"values": {"greeting": "hello"}})
            assert (await live.event("settings.changed"))["values"]["greeting"] == "hello"
            await live.ask("settings.set", key="greeting", value="hey")
            assert (await live.event("settings.changed"))["values"]["greeting"] == "hey"
            refused = await live.answer("settings.set", key="greeting", value=5)
            assert refused["error"]["code"] == "invalid_param"
            second = (await site.card(workspace, "card", package=package))["id"]
            assert (await live.event("settings.changed"))["card"] == second
        assert (await site.ask("GET", path_of(workspace, card)))["values"]["greeting"] == "hey"


async def test_a_kept_value_that_a_new_version_does_not_take_gives_way_to_its_default(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package, workspace, card = await desk(site, tmp_path / "card")
        await site.ask("PUT", path_of(workspace, card), {"values": {"greeting": "hello", "loud": True}})
        changed = [{"key": "greeting", "type": "number", "label": "Greetings", "default": 3}]
        assert await installed(site, tmp_path / "card", changed, "1.1.0") == package
        assert (await site.ask("GET", path_of(workspace, card)))["values"] == {"greeting": 3}


@pytest.mark.parametrize("removed", ["workspace", "package"])
async def test_settings_go_with_their_workspace_or_package(tmp_path: Path, removed: str) -> None:
    async with open_site(tmp_path / "data") as site:
        package, workspace, card = await desk(site, tmp_path / "card")
        await site.ask("PUT", path_of(workspace, card), {"values": {"greeting": "of-my-own"}})
        where = f"/workspaces/{workspace}" if removed == "workspace" else f"/card-packages/{package}?force=true"
        await site.ask("DELETE", where, status=204)
        key = site.owner_key
    async with open_site(tmp_path / "data", key) as site:
        await site.ask("GET", path_of(workspace, card), status=404)


async def test_settings_are_told_to_their_owner_alone(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        _, workspace, card = await desk(site, tmp_path / "card")
        await site.ask("GET", path_of(workspace, card), status=401, authorization="Bearer oag_unknown")
