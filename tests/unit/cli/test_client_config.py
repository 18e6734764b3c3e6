"""How clients' files are read and written: ours in, all else as it was (cards.md, section 6, decision 3)."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from toolwire.canvas.client_setup import CLIENTS, Client, ClientName, Entry, fragment
from toolwire.cli.client_config import checked_name, known_key, with_entry
from toolwire.cli.failure import Failed

URL = "http://127.0.0.1:8094/agent_1/toolbox/mcp"
ENTRY = Entry("toolwire", URL, "agk_1")
FILE = Path("the-file")

CODEX = """# mine
model = "o"

[mcp_servers.docs]
command = "npx"  # keep this

[profiles.fast]
effort = "low"

[mcp_servers.other]
url = "https://example.com/mcp"
"""
SETTINGS = {"theme": "dark", "mcpServers": {"docs": {"command": "npx", "args": ["é", 1.5, None]}}}


def read(client: Client, text: str) -> dict[str, Any]:
    return tomllib.loads(text) if client.toml else json.loads(text)


def timeout_s(server: dict[str, Any]) -> float:
    return server["tool_timeout_sec"] if "tool_timeout_sec" in server else server["timeout"] / 1000


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_has_the_toolbox_with_its_key_and_waits_longer_than_a_card_may_take(name: ClientName):
    client = CLIENTS[name]
    server = read(client, fragment(client, ENTRY))[client.table]["toolwire"]

    assert server[client.url_key] == URL
    assert server[client.headers_key] == {"Authorization": "Bearer agk_1"}
    assert timeout_s(server) >= 150


def test_codex_has_time_to_start():
    server = tomllib.loads(fragment(CLIENTS["codex"], ENTRY))["mcp_servers"]["toolwire"]
    assert server["startup_timeout_sec"] >= 10


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("text", [None, "", " \n"])
def test_a_file_that_is_not_there_or_empty_is_begun(name: ClientName, text: str | None):
    client = CLIENTS[name]
    assert with_entry(client, text, ENTRY, FILE) == fragment(client, ENTRY)


def test_all_else_in_a_json_file_stays():
    written = json.loads(with_entry(CLIENTS["qwen"], json.dumps(SETTINGS), ENTRY, FILE))

    assert list(written) == ["theme", "mcpServers"]
    assert written["theme"] == "dark"
    assert written["mcpServers"]["docs"] == {"command": "npx", "args": ["é", 1.5, None]}
    assert set(written["mcpServers"]) == {"docs", "toolwire"}


def test_all_else_in_a_toml_file_stays_with_its_comments_and_order():
    written = with_entry(CLIENTS["codex"], CODEX, ENTRY, FILE)

    servers = tomllib.loads(written)["mcp_servers"]
    assert servers.pop("toolwire")["url"] == URL
    assert servers == tomllib.loads(CODEX)["mcp_servers"]
    assert [line for line in written.splitlines() if line in CODEX.splitlines() and line] == [
        line for line in CODEX.splitlines() if line
    ]


@pytest.mark.parametrize(
    "text", ['mcp_servers = {docs = {url = "https://example.com"}}\n', "[mcp_servers]\n", 'a = "b"']
)
def test_a_toml_file_may_be_laid_out_in_any_way(text: str):
    written = tomllib.loads(with_entry(CLIENTS["codex"], text, ENTRY, FILE))
    assert written["mcp_servers"].pop("toolwire")["http_headers"] == {"Authorization": "Bearer agk_1"}
    assert written == {"mcp_servers": {}} | tomllib.loads(text)


@pytest.mark.parametrize("name", CLIENTS)
def test_writing_it_again_changes_nothing(name: ClientName):
    client = CLIENTS[name]
    once = with_entry(client, CODEX if client.toml else json.dumps(SETTINGS, indent=7), ENTRY, FILE)

    assert with_entry(client, once, ENTRY, FILE) == once
    laid_out = once if client.toml else json.dumps(json.loads(once), indent=7)
    assert with_entry(client, laid_out, ENTRY, FILE) == laid_out


@pytest.mark.parametrize("name", CLIENTS)
def test_another_key_takes_the_place_of_the_old_one_and_what_the_user_has_added_stays(name: ClientName):
    client = CLIENTS[name]
    first = with_entry(client, None, ENTRY, FILE)
    added = first + "enabled = true\n" if client.toml else first.replace('"timeout"', '"note": "x", "timeout"')

    second = read(client, with_entry(client, added, Entry("toolwire", URL, "agk_2"), FILE))

    server = second[client.table]["toolwire"]
    assert server[client.headers_key] == {"Authorization": "Bearer agk_2"}
    assert ("enabled" if client.toml else "note") in server


@pytest.mark.parametrize("name", CLIENTS)
def test_the_key_for_this_toolbox_is_found_again(name: ClientName):
    client = CLIENTS[name]
    text = with_entry(client, None, ENTRY, FILE)

    assert known_key(client, text, "toolwire", URL, FILE) == "agk_1"
    assert known_key(client, text, "other", URL, FILE) is None
    assert known_key(client, text, "toolwire", URL + "x", FILE) is None
    assert known_key(client, None, "toolwire", URL, FILE) is None


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("claude", "{", "is not JSON"),
        ("claude", '{// mine\n"a": 1}', "is not JSON, which has no comments either"),
        ("claude", "[]", "is no JSON object"),
        ("cursor", '{"mcpServers": []}', "has 'mcpServers', which is no table of servers"),
        ("qwen", '{"mcpServers": {"toolwire": {"command": "npx"}}}', "has another server named 'toolwire'"),
        ("qwen", '{"mcpServers": {"toolwire": 1}}', "has another server named 'toolwire'"),
        ("claude", '{"mcpServers": {"toolwire": {"url": "https://example.com/mcp"}}}', "choose a name of its own"),
        ("codex", "[a\n", "is not TOML"),
        ("codex", "mcp_servers = 1", "has 'mcp_servers', which is no table of servers"),
        ("codex", "[mcp_servers.toolwire]\ncommand = 'x'\n", "has another server named 'toolwire'"),
    ],
)
def test_a_file_that_is_not_as_it_should_be_is_refused(name: ClientName, text: str, problem: str):
    with pytest.raises(Failed, match=problem) as caught:
        with_entry(CLIENTS[name], text, ENTRY, FILE)
    assert caught.value.code == "client_config"
    assert "nothing was written" in caught.value.message
    assert "agk_1" not in caught.value.message


@pytest.mark.parametrize("name", ["", "a b", "a__b", "-a", "x" * 33, "é"])
def test_a_name_leaves_room_for_those_of_tools(name: str):
    with pytest.raises(Failed, match="--name has at most 32 letters"):
        checked_name(name)
    assert checked_name("my-tool_box2") == "my-tool_box2"


def test_a_key_is_not_shown_with_its_entry():
    assert "agk_1" not in repr(ENTRY)
