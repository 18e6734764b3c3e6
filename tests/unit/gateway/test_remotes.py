"""Remote MCP servers behind the gateway: agents of their owner, pinned and held, their credentials sealed."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.gateway.remote_site import RemoteSite, open_remote_site
from tests.unit.providers.spoken import tool as listed

SECRET = "Bearer s3cret-of-the-far-server"
SCRIPT = str(Path(__file__).parents[1] / "providers" / "ours.py")


async def other_owner(site: RemoteSite) -> str:
    return (await site.ask("POST", "/owners", {"name": "other"}, status=201))["owner_key"]


def files_in(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def text_of(answer: dict[str, Any]) -> str:
    return answer["result"]["content"][0]["text"]


@pytest.mark.anyio
async def test_a_remote_server_is_an_agent_whose_tools_are_called_through_the_gateway(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add(headers={"authorization": SECRET})
        body = {"kind": "bak", "agent_id": remote["agent_id"]}
        bak = (await site.ask("POST", "/keys", body, status=201))["key"]

        assert (remote["alias"], remote["tools"], remote["connected"]) == ("notes", ["search", "store"], True)
        assert await site.tools(remote) == {"search": "The tool search.", "store": "The tool store."}
        assert text_of(await site.call(remote, "search", key=bak)) == "search"
        (agent,) = await site.ask("GET", "/agents")
        assert (agent["name"], agent["attached"]) == ("notes", True)
        assert {head.get("authorization") for head in site.heard.headers} == {SECRET}


@pytest.mark.anyio
async def test_arguments_are_checked_before_the_server_hears_of_a_call(tmp_path: Path):
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    async with open_remote_site(tmp_path) as site:
        site.far.tools[:] = [listed("count", inputSchema=schema)]
        remote = await site.add()
        refused = await site.call(remote, "count", {"n": "many"})

        assert refused["error"]["data"]["code"] == "invalid_param"
        assert site.far.count("tools/call") == 0


@pytest.mark.anyio
async def test_a_changed_tool_is_held_until_its_owner_accepts_exactly_what_was_shown(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add()
        changed = listed("search", description="Search, and tell everybody.")
        (waiting,) = await site.change(remote, changed, listed("store"))

        assert (waiting["agent"], waiting["tool"], waiting["kind"], waiting["state"]) == (
            *("notes", "search", "changed", "waiting"),
        )
        assert '-  "description": "The tool search.",' in waiting["diff"]
        assert '+  "description": "Search, and tell everybody.",' in waiting["diff"]
        assert (await site.tools(remote))["search"] == "The tool search."
        before = site.far.count("tools/call")
        held = await site.call(remote, "search")
        assert "consent_required" in str(held)
        assert site.far.count("tools/call") == before
        assert text_of(await site.call(remote, "store")) == "store"

        (later,) = await site.change(remote, listed("search", description="Something else."), listed("store"))
        gone = await site.ask("POST", f"/consents/{waiting['consent_id']}", {"accept": True}, status=404)
        assert gone["code"] == "consent_not_found"

        assert await site.ask("POST", f"/consents/{later['consent_id']}", {"accept": True}) == {
            "consent_id": later["consent_id"],
            "accepted": True,
        }
        assert (await site.tools(remote))["search"] == "Something else."
        assert text_of(await site.call(remote, "search")) == "search"
        assert await site.ask("GET", "/consents") == []


@pytest.mark.anyio
async def test_a_new_tool_is_not_offered_until_it_is_accepted_and_a_refused_one_stays_out(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add()
        tools = (listed("search"), listed("store"), listed("erase"))
        (waiting,) = await site.change(remote, *tools)
        place = f"/consents/{waiting['consent_id']}"

        assert (waiting["tool"], waiting["kind"]) == ("erase", "new")
        assert "erase" not in await site.tools(remote)
        await site.ask("POST", place, {"accept": False})
        assert (await site.ask("GET", place))["state"] == "refused"
        assert "error" in await site.call(remote, "erase")

        await site.ask("POST", place, {"accept": True})
        assert text_of(await site.call(remote, "erase")) == "erase"


@pytest.mark.anyio
async def test_servers_pins_and_refusals_outlive_a_restart_and_no_secret_is_read_in_the_folder(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add(headers={"authorization": SECRET})
        (waiting,) = await site.change(remote, listed("search", description="Other."), listed("store"))
        await site.ask("POST", f"/consents/{waiting['consent_id']}", {"accept": False})
        key, url = site.key, site.url

    assert [file for file in files_in(tmp_path) if SECRET.encode() in file.read_bytes()] == []
    async with open_remote_site(tmp_path, key) as site:  # the server itself is somewhere else now, and away
        (shown,) = await site.ask("GET", "/remotes")
        assert (shown["alias"], shown["server"], shown["tools"]) == ("notes", url, ["search", "store"])
        assert (await site.tools(remote))["search"] == "The tool search."
        away = await site.call(remote, "search")
        assert "agent_service_unavailable" in str(away)


@pytest.mark.anyio
async def test_a_removed_server_is_gone_with_its_keys_and_what_was_accepted(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add()
        await site.ask("DELETE", "/remotes/notes", status=204)

        assert await site.ask("GET", "/remotes") == await site.ask("GET", "/agents") == []
        await site.ask("DELETE", "/remotes/notes", status=404)
        site.far.tools[:] = [listed("search", description="Quite another.")]
        again = await site.add()
        assert again["agent_id"] != remote["agent_id"]
        assert await site.tools(again) == {"search": "Quite another."}


@pytest.mark.anyio
async def test_a_server_that_cannot_be_reached_is_not_added(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        body = {"alias": "notes", "url": "http://127.0.0.1:1/mcp?key=s3cret"}
        refused = await site.ask("POST", "/remotes", body, status=400)

        assert (refused["code"], refused["details"]["param"]) == ("invalid_param", "url")
        assert "s3cret" not in str(refused)
        site.far.tools.clear()
        empty = await site.ask("POST", "/remotes", {"alias": "notes", "url": site.url}, status=400)
        assert "lists no tools" in empty["message"]
        assert await site.ask("GET", "/agents") == []


@pytest.mark.anyio
async def test_the_first_owner_may_add_a_command_and_nobody_else(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        command = [sys.executable, SCRIPT]
        body = {"alias": "child", "command": command, "env": {"SOME_KEY": "s3cret"}}
        other = await other_owner(site)
        refused = await site.ask("POST", "/remotes", body, status=403, key=other)
        remote = await site.add("child", command=command, env={"SOME_KEY": "s3cret"})

        assert refused["code"] == "forbidden"
        assert (remote["server"], remote["tools"]) == (sys.executable, ["add"])
        assert (await site.call(remote, "add", {"a": 1, "b": 2}))["result"]["structuredContent"] == {"sum": 3}


@pytest.mark.anyio
async def test_other_owners_reach_no_private_network_unless_it_is_allowed(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        other = await other_owner(site)
        refused = await site.ask("POST", "/remotes", {"alias": "a", "url": site.url}, status=400, key=other)

        assert "private network" in refused["message"]
        assert site.far.asked == []
        odd = {"alias": "a", "url": "ftp://127.0.0.1/mcp"}
        assert (await site.ask("POST", "/remotes", odd, status=400))["code"] == "invalid_param"
    async with open_remote_site(tmp_path / "b", remote_allow_cidrs=("127.0.0.0/8",)) as site:
        body = {"alias": "a", "url": site.url}
        assert (await site.ask("POST", "/remotes", body, status=201, key=await other_owner(site)))["connected"]


@pytest.mark.anyio
async def test_consents_and_servers_of_another_owner_are_not_there(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add()
        (waiting,) = await site.change(remote, listed("search", description="Other."))
        other = await other_owner(site)
        place = f"/consents/{waiting['consent_id']}"

        assert await site.ask("GET", "/remotes", key=other) == await site.ask("GET", "/consents", key=other) == []
        await site.ask("GET", place, key=other, status=404)
        await site.ask("POST", place, {"accept": True}, key=other, status=404)
        await site.ask("DELETE", f"/remotes/{remote['agent_id']}", key=other, status=404)


@pytest.mark.anyio
async def test_nobody_attaches_to_an_agent_that_is_a_remote_server(tmp_path: Path):
    async with open_remote_site(tmp_path) as site:
        remote = await site.add()
        body = {"kind": "agk", "agent_id": remote["agent_id"]}
        agk = (await site.ask("POST", "/keys", body, status=201))["key"]
        mine = {"agents": [{"name": "mine", "skills": [{"name": "search", "description": "Mine."}]}]}

        assert (await site.ask("POST", "/agents/sync", mine, status=409, key=agk))["code"] == "conflict"
        assert (await site.tools(remote))["search"] == "The tool search."


@pytest.mark.anyio
async def test_a_result_that_is_too_large_becomes_a_file(tmp_path: Path):
    async with open_remote_site(tmp_path, result_inline_limit_bytes=1024) as site:
        site.far.answers["tools/call"] = lambda _: {"content": [{"type": "text", "text": "x" * 50_000}]}
        result = (await site.call(await site.add(), "search"))["result"]

        assert len(str(result)) < 5_000
        assert [block["type"] for block in result["content"]] == ["text", "resource"]
