"""How MCP clients of others keep their servers: where, and in which words; it reads and writes no file.

A call of a card may take two minutes and its waking a bit more, which is longer than some clients wait by themselves:
what is written here has them wait for three.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec
import tomlkit
from msgspec import Struct
from tomlkit.items import InlineTable

CALL_TIMEOUT_S: Final = 180
START_TIMEOUT_S: Final = 30

ClientName: TypeAlias = Literal["claude", "codex", "qwen", "cursor"]


class Entry(Struct, frozen=True):
    """One server in a client's configuration: an agent's toolbox, and the key for it."""

    name: str
    url: str
    key: str

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.url!r})"


class Client(Struct, frozen=True):
    """A client: its name, the file it reads (for people, and as a path), the table in it, how it writes a server."""

    title: str
    told_place: str
    place: Callable[[], Path]
    table: str
    shape: Callable[[Entry], dict[str, Any]]
    url_key: str
    headers_key: str
    toml: bool = False


def _headers(entry: Entry) -> dict[str, str]:
    return {"Authorization": f"Bearer {entry.key}"}


CLIENTS: Final[Mapping[ClientName, Client]] = {
    "claude": Client(
        "Claude Code",
        ".mcp.json",
        lambda: Path(".mcp.json"),
        "mcpServers",
        lambda entry: {
            "type": "http",
            "url": entry.url,
            "headers": _headers(entry),
            "timeout": CALL_TIMEOUT_S * 1000,
        },
        "url",
        "headers",
    ),
    "codex": Client(
        "Codex",
        "~/.codex/config.toml",
        lambda: Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "config.toml",
        "mcp_servers",
        lambda entry: {
            "url": entry.url,
            "http_headers": _headers(entry),
            "startup_timeout_sec": START_TIMEOUT_S,
            "tool_timeout_sec": CALL_TIMEOUT_S,
        },
        "url",
        "http_headers",
        toml=True,
    ),
    "qwen": Client(
        "Qwen Code",
        ".qwen/settings.json",
        lambda: Path(".qwen", "settings.json"),
        "mcpServers",
        lambda entry: {"httpUrl": entry.url, "headers": _headers(entry), "timeout": CALL_TIMEOUT_S * 1000},
        "httpUrl",
        "headers",
    ),
    "cursor": Client(
        "Cursor",
        ".cursor/mcp.json",
        lambda: Path(".cursor", "mcp.json"),
        "mcpServers",
        lambda entry: {"url": entry.url, "headers": _headers(entry), "timeout": CALL_TIMEOUT_S * 1000},
        "url",
        "headers",
    ),
}
"""By the word that `toolwire connect` takes. Cursor documents no time-out; it passes over what it does not know."""


def fragment(client: Client, entry: Entry) -> str:
    """What belongs into a client's file, as text of its format."""
    return encoded(client, placed(client, empty(client), entry))


def placed(client: Client, document: Any, entry: Entry) -> Any:
    """A client's document, which has no server of that name, with the server in it."""
    if client.table not in document:
        document[client.table] = _new_table(client)
    table = document[client.table]
    table[entry.name] = _table(client, client.shape(entry), table)
    return document


def empty(client: Client) -> Any:
    """A client's document without anything in it."""
    if client.toml:
        return tomlkit.document()
    return {}


def _new_table(client: Client) -> Any:
    if client.toml:
        return tomlkit.table(is_super_table=True)
    return {}


def _table(client: Client, shape: dict[str, Any], around: Any) -> Any:
    """A server for the table of servers `around`."""
    if not client.toml:
        return shape
    if isinstance(around, InlineTable):
        return inline(shape)
    table = tomlkit.table()
    for key, value in shape.items():
        table.add(key, inline(value))
    table.add(tomlkit.nl())
    return table


def inline(value: Any) -> Any:
    """A value of TOML on one line."""
    if not isinstance(value, dict):
        return value
    table: Any = tomlkit.inline_table()
    for key, member in cast("dict[str, Any]", value).items():
        table[key] = inline(member)
    return table


def encoded(client: Client, document: Any) -> str:
    """A client's document as text."""
    if client.toml:
        return tomlkit.dumps(document)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
