"""Remote servers turn by turn: which, under which names, how dangerous, and as they were shown (sdk.md 52-54)."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.unit.providers.remote_rig import child, ignore, official_server, our_server
from toolwire.core.call import Call
from toolwire.core.result import Result, Text
from toolwire.providers.remote_server import StdioServer
from toolwire.sdk import tool
from toolwire.sdk.options import RemoteTool, RemoteTurn, ToolPlace
from toolwire.sdk.remote.servers import (
    McpConfigError,
    McpHttpServerSpec,
    McpServerSpec,
    RemoteServers,
    Toolbox,
    open_remote_servers,
)
from toolwire.sdk.remote.tools import CALLER, fitted

WORKSPACE = Path()


def spec_of(server: StdioServer, alias: str = "far", **options: Any) -> McpServerSpec:
    return McpServerSpec(alias, server.argv, server.env, cwd=server.cwd, **options)


def knowing(*specs: McpServerSpec | McpHttpServerSpec) -> Callable[[str], McpServerSpec | McpHttpServerSpec | None]:
    return {spec.alias: spec for spec in specs}.get


async def turn(servers: RemoteServers, *aliases: str) -> RemoteTurn:
    with anyio.fail_after(20):
        return await servers.turn(ToolPlace("task-1", WORKSPACE, aliases))


def names(offered: RemoteTurn) -> list[str]:
    return [entry.tool.name for entry in offered.tools]


def named(offered: RemoteTurn, name: str) -> RemoteTool:
    return next(entry for entry in offered.tools if entry.tool.name == name)


async def called(entry: RemoteTool, **arguments: Any) -> Result:
    with anyio.fail_after(20):
        return await entry.tool.handler(Call("call_1", CALLER, entry.tool.name, arguments, float("inf")), ignore)


@asynccontextmanager
async def hostile(mode: str, *arguments: str, **options: Any) -> AsyncGenerator[RemoteServers]:
    async with open_remote_servers(knowing(spec_of(child("hostile.py", mode, *arguments), **options))) as servers:
        yield servers


async def test_a_turn_has_the_tools_of_the_servers_that_it_enables():
    async with official_server() as (server, _):
        specs = (spec_of(child("ours.py"), "calc"), McpHttpServerSpec("web", server.url))
        async with open_remote_servers(knowing(*specs)) as servers:
            assert names(await turn(servers)) == []
            assert names(await turn(servers, "calc")) == ["mcp__calc__add"]
            both = await turn(servers, "web", "calc")

            assert names(both)[0] == "mcp__web__echo"
            assert names(both)[-1] == "mcp__calc__add"
            result = await called(named(both, "mcp__calc__add"), a=1, b=2)
            assert (result.content, result.structured) == ((Text('{"sum":3}'),), {"sum": 3})


async def test_tools_are_graded_by_their_hints():
    """sdk.md §3.7."""
    async with official_server() as (server, _):
        specs = (McpHttpServerSpec("wary", server.url), McpHttpServerSpec("sure", server.url, trust_annotations=True))
        async with open_remote_servers(knowing(*specs)) as servers:
            offered = await turn(servers, "wary", "sure")

    levels = {entry.tool.name: entry.tool.risk_level for entry in offered.tools}
    assert (levels["mcp__wary__echo"], levels["mcp__sure__echo"]) == ("medium", "low")
    assert (levels["mcp__wary__erase"], levels["mcp__sure__erase"]) == ("high", "high")
    assert levels["mcp__sure__fail"] == "medium"


async def test_servers_that_are_not_there_are_skipped_and_harm_no_other():
    def resolver(alias: str) -> McpServerSpec | None:
        if alias == "broken":
            raise LookupError("swordfish")
        known = {"dead": spec_of(child("hostile.py", "exit"), "dead"), "calc": spec_of(child("ours.py"), "calc")}
        return known.get(alias)

    async with open_remote_servers(resolver) as servers:
        offered = await turn(servers, "dead", "unknown", "calc", "broken")

    assert names(offered) == ["mcp__calc__add"]
    reasons = {skipped.alias: skipped.reason for skipped in offered.skipped}
    assert list(reasons) == ["dead", "unknown", "broken"]
    assert reasons["dead"].endswith("no licence for key None")
    assert reasons["unknown"] == "the resolver does not know it"
    assert reasons["broken"] == "the resolver raised LookupError; the log has more"


async def test_a_resolver_may_be_asynchronous():
    async def resolver(alias: str) -> McpServerSpec:
        await anyio.lowlevel.checkpoint()
        return spec_of(child("ours.py"), alias)

    async with open_remote_servers(resolver) as servers:
        assert names(await turn(servers, "calc")) == ["mcp__calc__add"]


@pytest.mark.parametrize(
    ("found", "words"),
    [("npx server", "must return McpServerSpec"), (McpServerSpec("other", ("x",)), "the spec of 'other' for 'far'")],
)
async def test_a_resolver_that_returns_something_else_is_told(found: Any, words: str):
    async with open_remote_servers(lambda _alias: found) as servers:
        with pytest.raises(McpConfigError, match=words):
            await turn(servers, "far")


async def test_an_alias_may_be_named_once():
    """sdk.md 52: a hard error."""
    async with hostile("plain") as servers:
        with pytest.raises(McpConfigError, match="enabled_mcp names 'far' twice"):
            await turn(servers, "far", "far")


async def test_a_server_without_a_resolver_is_skipped():
    async with open_remote_servers() as servers:
        offered = await turn(servers, "far")

    assert offered.skipped[0].reason == "HostConfig has no mcp_server_resolver that could know it"


async def test_one_child_serves_all_turns_and_ends_with_them(tmp_path: Path):
    notes = tmp_path / "notes"
    async with hostile("plain", str(notes)) as servers:
        pids = {(await called(named(await turn(servers, "far"), "mcp__far__pid"))).content for _ in range(3)}

        assert len(pids) == 1
        assert notes.read_text().count("tools/list") == 1
    assert notes.read_text().endswith("end\n")


async def test_bad_names_are_made_good_and_called_by_their_own():
    async with hostile("names") as servers:
        offered = await turn(servers, "far")
        results = [await called(entry) for entry in offered.tools]

    assert names(offered)[:2] == ["mcp__far__bad_name_x", "mcp__far___n__c_d_"]
    assert [result.content for result in results[:2]] == [(Text("bad.name!x"),), (Text("ünï cödé"),)]
    assert max(map(len, names(offered))) == 64


async def test_two_tools_of_one_name_are_both_offered_so_that_mounting_them_fails_and_names_both():
    async with hostile("collision") as servers:
        offered = await turn(servers, "far")

    assert names(offered) == ["mcp__far__a_b", "mcp__far__a_b"]
    assert [entry.source for entry in offered.tools] == [
        "MCP server 'far' (its tool 'a.b')",
        "MCP server 'far' (its tool 'a_b')",
    ]


async def test_a_subset_is_chosen_by_the_servers_own_names():
    async with hostile("names", tool_subset=("bad.name!x", "missing")) as servers:
        offered = await turn(servers, "far")

    assert names(offered) == ["mcp__far__bad_name_x"]
    assert offered.servers[0]["left_out"] == [{"tool": "missing", "reason": "the server does not list it"}]


async def test_tools_that_no_model_could_be_told_of_are_left_out():
    async with hostile("huge") as servers:
        offered = await turn(servers, "far")

    assert names(offered) == []
    assert [entry["tool"] for entry in offered.servers[0]["left_out"]] == ["huge", "odd"]


async def test_what_is_recorded_names_the_server_and_its_tools():
    async with hostile("plain") as servers:
        (record,) = (await turn(servers, "far")).servers

    assert {key: record[key] for key in ("alias", "server", "version", "protocol")} == {
        "alias": "far",
        "server": "hostile",
        "version": "0",
        "protocol": "2025-11-25",
    }
    assert record["tools"][0] == "mcp__far__work"
    assert len(record["digest"]) == 16


async def test_a_tool_that_changes_during_a_turn_is_not_called_as_what_it_is_not():
    async with hostile("plain") as servers:
        first = await turn(servers, "far")
        await called(named(first, "mcp__far__change"))
        refused = await called(named(first, "mcp__far__work"))
        while refused.error is None:  # the notification is on its way
            refused = await called(named(first, "mcp__far__work"))
        second = await turn(servers, "far")
        accepted = await called(named(second, "mcp__far__work"))
        third = await turn(servers, "far")

    assert "has changed the definition of its tool 'work' since the turn began" in refused.error.message
    assert accepted.content == (Text("work"),)
    (changed,) = second.servers[0]["changed"]
    assert changed["tool"] == "mcp__far__work"
    assert changed["was"] != changed["now"]
    assert "changed" not in third.servers[0]
    assert first.servers[0]["digest"] != second.servers[0]["digest"]


async def test_a_tool_that_has_changed_is_asked_for_even_on_a_trusted_server():
    async with hostile("safe", trust_annotations=True) as servers:
        first = await turn(servers, "far")
        await called(named(first, "mcp__far__change"))
        second = await turn(servers, "far")
        while "changed" not in second.servers[0]:
            second = await turn(servers, "far")

    assert [entry.tool.risk_level for entry in first.tools] == ["low", "low"]
    assert [entry.tool.risk_level for entry in second.tools] == ["medium", "low"]


async def test_pinned_tools_are_offered_as_they_were_pinned_and_no_others():
    async with hostile("plain") as servers:
        shown = await turn(servers, "far")
    pins = {"work": named(shown, "mcp__far__work").tool.version, "pid": "0" * 64, "die": "0"}
    async with hostile("plain", pins=pins) as servers:
        offered = await turn(servers, "far")

    assert names(offered) == ["mcp__far__work"]
    reasons = {entry["tool"]: entry["reason"] for entry in offered.servers[0]["left_out"]}
    assert "and not the pinned one" in reasons["pid"]
    assert "and not the pinned one" in reasons["die"]
    assert reasons["hang"].startswith("it is not pinned; its digest is ")


async def test_a_spec_that_changes_is_connected_anew_and_the_old_connection_ends(tmp_path: Path):
    old, new = tmp_path / "old", tmp_path / "new"
    current = [spec_of(child("hostile.py", "plain", str(old)))]
    async with open_remote_servers(lambda _alias: current[0]) as servers:
        await turn(servers, "far")
        current[0] = spec_of(child("hostile.py", "plain", str(new)))
        await turn(servers, "far")

    assert old.read_text().endswith("end\n")
    assert new.read_text().endswith("end\n")


async def test_a_toolbox_is_there_in_every_turn_under_its_own_names():
    @tool
    def test_radar_run_tests(path: str) -> str:
        """Run the tests."""
        return f"All tests in {path} passed"

    async with (
        our_server(test_radar_run_tests) as (server, seen),
        open_remote_servers(toolbox=Toolbox(server.url, "agk_1")) as servers,
    ):
        offered = await turn(servers)
        result = await called(offered.tools[0], path="src")

    assert names(offered) == ["test_radar_run_tests"]
    assert offered.tools[0].source == "the toolbox (its tool 'test_radar_run_tests')"
    assert result.content == (Text("All tests in src passed"),)
    assert {headers.get("authorization") for headers in seen.headers} == {"Bearer agk_1"}


async def test_a_toolbox_that_is_down_is_skipped():
    async with open_remote_servers(toolbox=Toolbox("http://127.0.0.1:9/a/toolbox/mcp", "agk_1")) as servers:
        (skipped,) = (await turn(servers)).skipped

    assert skipped.alias == "toolbox"
    assert "cannot reach http://127.0.0.1:9/a/toolbox/mcp" in skipped.reason


def test_records_fit_into_an_event():
    """sdk.md 73."""
    records = [
        {"alias": f"a{n}", "tools": [f"mcp__a{n}__{i}" for i in range(300)], "digest": "0" * 16} for n in range(3)
    ]
    many = [{**record, "left_out": [{"tool": "x" * 100, "reason": "y" * 300}] * 10} for record in records] * 30

    assert fitted(records[:1], 9000) == records[:1]
    assert fitted(records, 1000)[0] == {"alias": "a0", "tools": 300, "digest": "0" * 16}
    assert 0 < len(msgspec.json.encode(fitted(many, 1000))) <= 1000
