"""The files of MCP clients of others: what one is after an agent's toolbox is put into it; it asks nobody.

Which clients there are, and in which words they write servers down, is in `canvas.client_setup`.
"""

import re
from collections.abc import Mapping, MutableMapping
from pathlib import Path
from typing import Any, cast

import msgspec

from toolwire.canvas.client_setup import Client, Entry, empty, encoded, inline, placed
from toolwire.cli.failure import Failed, misused

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_OURS = re.compile(r".*/toolbox/mcp")


def checked_name(name: str) -> str:
    """A name for the server that clients take, and that leaves room for those of tools behind it.

    Raises:
        Failed: it is none.
    """
    if not _NAME.fullmatch(name) or "__" in name:
        raise misused(f"--name has at most 32 letters, digits, '-' and single '_', not {name!r}")
    return name


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
    return encoded(client, _added(client, document, entry, path))


def _added(client: Client, document: Any, entry: Entry, path: Path) -> Any:
    servers = _servers(client, document, path)
    shape = client.shape(entry)
    if entry.name not in servers:
        return placed(client, document, entry)
    before = _as_table(servers[entry.name])
    url = None if before is None else before.get(client.url_key)
    if before is None or not isinstance(url, str) or not _OURS.fullmatch(url):
        raise _unusable(path, f"has another server named {entry.name!r}; choose a name of its own with --name")
    for key, value in shape.items():
        if before.get(key) != value:
            before[key] = inline(value) if client.toml else value
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
        return empty(client)
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


def _unusable(path: Path, problem: str) -> Failed:
    return Failed(f"{str(path)!r} {problem}; nothing was written", "client_config")
