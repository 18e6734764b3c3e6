"""How MCP clients of others keep their servers: where, in which words, and what a file is after one more; asks nobody.

A call of a card may take two minutes and its waking a bit more, which is longer than some clients wait by themselves:
what is written here has them wait for three.
"""

import os
import re
from collections.abc import Callable, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import Struct

from toolwire.cli.failure import Failed, misused

CALL_TIMEOUT_S: Final = 180
START_TIMEOUT_S: Final = 30

ClientName: TypeAlias = Literal["claude", "codex", "qwen", "cursor"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_OURS = re.compile(r".*/toolbox/mcp")


class Entry(Struct, frozen=True):
    """One server in a client's configuration: an agent's toolbox, and the key for it."""

    name: str
    url: str
    key: str

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.url!r})"


class Client(Struct, frozen=True):
    """A client: its name for people, the file it reads, the table in it, and how it writes a server down."""

    title: str
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
        lambda: Path(".qwen", "settings.json"),
        "mcpServers",
        lambda entry: {"httpUrl": entry.url, "headers": _headers(entry), "timeout": CALL_TIMEOUT_S * 1000},
        "httpUrl",
        "headers",
    ),
    "cursor": Client(
        "Cursor",
        lambda: Path(".cursor", "mcp.json"),
        "mcpServers",
        lambda entry: {"url": entry.url, "headers": _headers(entry), "timeout": CALL_TIMEOUT_S * 1000},
        "url",
        "headers",
    ),
}
"""By the word that `toolwire connect` takes. Cursor documents no time-out; it passes over what it does not know."""


def checked_name(name: str) -> str:
    """A name for the server that clients take, and that leaves room for those of tools behind it.

    Raises:
        Failed: it is none.
    """
    if not _NAME.fullmatch(name) or "__" in name:
        raise misused(f"--name has at most 32 letters, digits, '-' and single '_', not {name!r}")
    return name


def fragment(client: Client, entry: Entry) -> str:
    """What belongs into a client's file, as text of its format."""
    return _encoded(client, _added(client, _empty(client), entry, Path()))


def known_key(client: Client, text: str | None, entry_name: str, url: str, path: Path) -> str | None:
    """The key that a file has for this very toolbox under this name; `None` if it has none.

    Raises:
        Failed: the file cannot be read as what it should be.
    """
    servers = _servers(client, _decoded(client, text, path), path)
    server = _as_table(servers.get(entry_name))
    if server is None or server.get(client.url_key) != url:
        return None
    value = (_as_table(server.get(client.headers_key)) or {}).get("Authorization")
    return value.removeprefix("Bearer ") if isinstance(value, str) else None


def with_entry(client: Client, text: str | None, entry: Entry, path: Path) -> str:
    """A client's file with the server in it; all else stays as it is.

    Args:
        client: whose file it is.
        text: what is in it now; `None` if there is none.
        entry: the server.
        path: the file, for messages.

    Raises:
        Failed: it cannot be read, or the name stands for a server of somebody else's.
    """
    document = _decoded(client, text, path)
    before = _as_table(_servers(client, document, path).get(entry.name)) or {}
    shape = client.shape(entry)
    if text is not None and {key: before.get(key) for key in shape} == shape:
        return text  # as its owner has laid it out
    return _encoded(client, _added(client, document, entry, path))


def _added(client: Client, document: Any, entry: Entry, path: Path) -> Any:
    servers = _servers(client, document, path)
    shape = client.shape(entry)
    if entry.name not in servers:
        if client.table not in document:
            document[client.table] = _new_table(client)
        table = document[client.table]
        table[entry.name] = _table(client, shape, table)
        return document
    before = _as_table(servers[entry.name])
    url = None if before is None else before.get(client.url_key)
    if before is None or not isinstance(url, str) or not _OURS.fullmatch(url):
        raise _unusable(path, f"has another server named {entry.name!r}; choose a name of its own with --name")
    for key, value in shape.items():
        if before.get(key) != value:
            before[key] = _inline(value) if client.toml else value
    return document


def _servers(client: Client, document: Any, path: Path) -> Mapping[str, Any]:
    servers = _as_table(document.get(client.table, {}))
    if servers is None:
        raise _unusable(path, f"has {client.table!r}, which is no table of servers")
    return servers


def _as_table(value: Any) -> MutableMapping[str, Any] | None:
    """A JSON object, or a table of TOML."""
    return cast("MutableMapping[str, Any]", value) if isinstance(value, MutableMapping) else None


def _decoded(client: Client, text: str | None, path: Path) -> Any:
    if text is None or not text.strip():
        return _empty(client)
    if client.toml:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        try:
            return tomlkit.parse(text)
        except TOMLKitError as error:
            raise _unusable(path, f"is not TOML: {error}") from None
    try:
        document = msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise _unusable(path, f"is not JSON, which has no comments either: {error}") from None
    if not isinstance(document, dict):
        raise _unusable(path, "is no JSON object")
    return cast("dict[str, Any]", document)


def _empty(client: Client) -> Any:
    if client.toml:
        import tomlkit

        return tomlkit.document()
    return {}


def _new_table(client: Client) -> Any:
    if client.toml:
        import tomlkit

        return tomlkit.table(is_super_table=True)
    return {}


def _table(client: Client, shape: dict[str, Any], around: Any) -> Any:
    """A server for the table of servers `around`."""
    if not client.toml:
        return shape
    import tomlkit
    from tomlkit.items import InlineTable

    if isinstance(around, InlineTable):
        return _inline(shape)
    table = tomlkit.table()
    for key, value in shape.items():
        table.add(key, _inline(value))
    table.add(tomlkit.nl())
    return table


def _inline(value: Any) -> Any:
    """A value of TOML on one line."""
    if not isinstance(value, dict):
        return value
    import tomlkit

    table: Any = tomlkit.inline_table()
    for key, member in cast("dict[str, Any]", value).items():
        table[key] = _inline(member)
    return table


def _encoded(client: Client, document: Any) -> str:
    if client.toml:
        import tomlkit

        return tomlkit.dumps(document)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _unusable(path: Path, problem: str) -> Failed:
    return Failed(f"{str(path)!r} {problem}; nothing was written", "client_config")
