"""Specs of remote MCP servers and the names of their tools (sdk.md 51-53)."""

import re
from typing import Any

import pytest

from toolwire.core.names import valid_tool_name
from toolwire.sdk.remote.servers import McpConfigError, McpHttpServerSpec, McpServerSpec, Toolbox
from toolwire.sdk.remote.specs import as_toolbox, checked_aliases, full_name


@pytest.mark.parametrize(
    ("alias", "tool", "name"),
    [
        ("fs", "read_file", "mcp__fs__read_file"),
        ("mini", "bad.name!x", "mcp__mini__bad_name_x"),
        ("mini", "ünï", "mcp__mini___n_"),
        ("mini", "", "mcp__mini__"),
        ("toolbox", "test_radar_run_tests", "test_radar_run_tests"),
    ],
)
def test_a_tool_is_called_by_its_server_and_its_name(alias: str, tool: str, name: str):
    assert full_name(alias, tool) == name


@pytest.mark.parametrize("tool", ["x" * 80, "x" * 80 + "y", "ü" * 200])
def test_a_long_name_is_cut_and_stays_its_own(tool: str):
    name = full_name("fs", tool)

    assert valid_tool_name(name)
    assert len(name) == 64
    assert name == full_name("fs", tool)
    assert name != full_name("fs", tool + "z")


@pytest.mark.parametrize("alias", ["", "Fs", "a b", "a.b", "x" * 33, None, 7])
def test_an_alias_that_cannot_be_is_refused(alias: Any):
    with pytest.raises(McpConfigError, match=re.escape(f"invalid MCP server alias {alias!r}; it must match")):
        McpServerSpec(alias, ("server",))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"argv": ()}, "MCP server 'fs' has an empty command"),
        ({"argv": ("",)}, "MCP server 'fs' has an empty command"),
        ({"argv": "npx server"}, "argv must be a tuple of texts"),
        ({"argv": ("x", 1)}, "argv must be a tuple of texts"),
        ({"call_timeout_s": 0}, "call_timeout_s must be a number of seconds above 0, got 0"),
        ({"call_timeout_s": True}, "call_timeout_s must be a number"),
        ({"connect_timeout_s": float("inf")}, "connect_timeout_s must be a number"),
        ({"tool_subset": "read"}, "tool_subset must be a tuple of tool names, got 'read'"),
        ({"env": (("A",),)}, "env must be pairs of texts or a mapping"),
        ({"env": {"A": 1}}, "env must be pairs of texts or a mapping"),
        ({"pins": 3}, "pins must be pairs of texts or a mapping"),
        ({"protocol": "2024"}, "protocol must be 'auto' or 'legacy', got '2024'"),
        ({"deferred": True}, "deferred=True is not offered; name the tools to offer with tool_subset"),
    ],
)
def test_a_program_that_cannot_be_meant_so_is_refused(given: dict[str, Any], words: str):
    arguments: dict[str, Any] = {"alias": "fs", "argv": ("server",), **given}
    with pytest.raises(McpConfigError) as refused:
        McpServerSpec(**arguments)

    assert words in str(refused.value)


@pytest.mark.parametrize("url", ["", "ftp://x", "http://", "server:80", "http://[", 5])
def test_a_url_that_cannot_be_is_refused_without_being_shown(url: Any):
    with pytest.raises(McpConfigError, match="url"):
        McpHttpServerSpec("fs", url)


def test_lists_and_mappings_become_what_can_be_compared():
    spec = McpServerSpec("fs", ["server", "-v"], {"A": "1"}, ["read"], pins={"read": "abc"})  # pyright: ignore[reportArgumentType]

    assert spec == McpServerSpec("fs", ("server", "-v"), (("A", "1"),), ("read",), pins=(("read", "abc"),))
    assert hash(spec) == hash(McpServerSpec("fs", ("server", "-v"), (("A", "1"),), ("read",), pins=(("read", "abc"),)))


def test_no_secret_is_shown(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLWIRE_AGENT_KEY", "agk_swordfish")
    shown = repr(
        [
            McpServerSpec("fs", ("server",), {"KEY": "swordfish"}),
            McpHttpServerSpec("web", "https://swordfish@example.org/mcp", {"Authorization": "swordfish"}),
            Toolbox("https://example.org/a/toolbox/mcp", "agk_swordfish"),
            Toolbox("https://example.org/a/toolbox/mcp"),
            Toolbox("https://example.org/a/toolbox/mcp").spec,
            McpServerSpec("fs", ("server",), {"KEY": "swordfish"}).server,
        ]
    )

    assert "swordfish" not in shown


def test_a_toolbox_takes_its_key_from_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLWIRE_AGENT_KEY", "agk_one")

    assert as_toolbox("https://example.org/a/toolbox/mcp").spec.headers == (("Authorization", "Bearer agk_one"),)
    assert Toolbox("https://example.org/a/toolbox/mcp", "agk_two").key == "agk_two"


def test_a_toolbox_without_a_key_says_where_to_put_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("TOOLWIRE_AGENT_KEY", raising=False)

    with pytest.raises(McpConfigError, match="needs the agent's key: give key=… or set TOOLWIRE_AGENT_KEY"):
        as_toolbox("https://example.org/a/toolbox/mcp")


def test_what_is_no_toolbox_is_refused():
    with pytest.raises(McpConfigError, match=r"takes Toolbox\(url, key\) or a URL, got int"):
        as_toolbox(7)


@pytest.mark.parametrize(
    ("enabled", "words"),
    [
        ("fs", r"enabled_mcp must be a tuple of aliases, got 'fs'; write \('fs',\)"),
        (("fs", "web", "fs"), "enabled_mcp names 'fs' twice"),
        ((7,), "enabled_mcp takes aliases of MCP servers, got 7"),
        (None, "enabled_mcp must be a tuple"),
    ],
)
def test_enabled_servers_are_a_tuple_of_different_names(enabled: Any, words: str):
    with pytest.raises(McpConfigError, match=words):
        checked_aliases(enabled)
