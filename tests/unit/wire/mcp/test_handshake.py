"""What a server says of itself on either wire (mcp.md 1.2, S36)."""

from typing import Any

import pytest

from toolwire.core.errors import InvalidParam
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.handshake import Features, ServerInfo, capabilities, discover_result, initialize_result

PLAIN = ServerInfo("toolwire", "1.2")
EXTENSIONS: dict[str, Any] = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
FULL = ServerInfo("toolwire", "1.2", "Toolwire", "Ask before you delete.")


def initialize(version: Any) -> Message:
    return Message("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": {}}, b"0")


def test_initialize_is_answered_with_the_version_the_capabilities_and_the_name():
    assert initialize_result(initialize("2025-06-18"), PLAIN) == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "toolwire", "version": "1.2"},
    }


def test_title_and_instructions_are_there_when_they_are_set():
    result = initialize_result(initialize("2099-01-01"), FULL)
    assert result["protocolVersion"] == "2025-11-25"
    assert result["serverInfo"] == {"name": "toolwire", "version": "1.2", "title": "Toolwire"}
    assert result["instructions"] == "Ask before you delete."


@pytest.mark.parametrize("version", [None, 7, [], {}])
def test_initialize_needs_a_version(version: Any):
    with pytest.raises(InvalidParam) as caught:
        initialize_result(initialize(version), PLAIN)
    assert caught.value.data == {"param": "protocolVersion"}


def test_discover_lists_versions_and_capabilities_and_leaves_the_name_to_the_stamp():
    served: dict[str, Any] = {"tools": {}, **EXTENSIONS}
    assert discover_result(PLAIN) == {"supportedVersions": ["2026-07-28"], "capabilities": served}
    assert discover_result(FULL)["instructions"] == "Ask before you delete."


def test_a_server_without_a_version_still_has_one_on_the_wire():
    assert ServerInfo("toolwire", "").implementation() == {"name": "toolwire", "version": "0"}


def test_nobody_can_change_what_is_advertised():
    capabilities()["resources"] = {}
    assert capabilities() == {"tools": {}}


def test_what_is_served_beside_tools_is_advertised_on_either_wire():
    everything = Features(resources=True, prompts=True, completions=True, logging=True)
    shown: dict[str, dict[str, str]] = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}, "logging": {}}
    assert initialize_result(initialize("2025-11-25"), PLAIN, everything)["capabilities"] == shown
    assert discover_result(PLAIN, everything)["capabilities"] == {**shown, **EXTENSIONS}
    assert discover_result(PLAIN, Features(prompts=True))["capabilities"] == {"tools": {}, "prompts": {}, **EXTENSIONS}
