"""`toolwire connect`: makes an MCP client of others an agent on the canvas; `client_config` knows their files."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter
from msgspec import Struct

from toolwire.canvas.client_setup import CLIENTS, Client, ClientName, Entry, fragment
from toolwire.cli.client_config import checked_name, known_key, with_entry
from toolwire.cli.data_folder import write_private
from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target, target_of

HERE = HostFlags()


class Written(Struct, frozen=True):
    """What became of a client's file. `backup` is what it was before, if it was there and is different now."""

    entry: Entry
    changed: bool
    backup: Path | None = None


def connect(
    client: Annotated[ClientName, Parameter(help="The client: claude, codex, qwen or cursor.")],
    /,
    *,
    agent: Annotated[str, Parameter(help="The agent that the client is on the canvas; its id or name.")],
    write: Annotated[
        bool, Parameter(negative="", help="Write the client's file; a copy of the old one is kept.")
    ] = False,
    show: Annotated[
        bool, Parameter(name="--print", negative="", help="Print what belongs into it (the default).")
    ] = False,
    name: Annotated[str, Parameter(help="What the client calls the toolbox.")] = "toolwire",
    file: Annotated[Path | None, Parameter(help="The client's file, instead of the usual one.")] = None,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Let Claude Code, Codex, Qwen Code or Cursor be an agent on the canvas: the toolbox of one, with a key for it.

    The client then has the tools that the agent's arrows grant. Other servers in its file stay as they are, and
    running it again changes nothing. With `--json`: `{"client", "agent_id", "url", "key", "file", "written", "changed",
    "backup"}`.
    """
    if write and show:
        raise misused("give either --write or --print")
    shape, checked = CLIENTS[client], checked_name(name)
    path = (file or shape.place()).expanduser()
    target = target_of(host)
    with Rest(target) as rest:
        agent_id: str = rest.ask("GET", f"/api/v1/agents/{quote(agent, safe='')}")["agent_id"]
        url = f"{target.url}/{agent_id}/toolbox/mcp"
        if write:
            written = write_entry(
                shape, path, Entry(checked, url, ""), lambda known: key_for(rest, agent_id, client, known, target.url)
            )
        else:
            written = Written(Entry(checked, url, new_key(rest, agent_id, client)), changed=False)
    if json:
        print_json(_told(client, agent_id, path, written, write))
    elif write:
        say(_said(shape, path, written))
    else:
        print_text(fragment(shape, written.entry))
        say(f"put this into {path}, or have it put there with --write; the key is not shown again")
    return DONE


def write_entry(client: Client, path: Path, wanted: Entry, key: Callable[[str | None], str]) -> Written:
    """Put a server into a client's file, with a copy of what was there before beside it.

    Args:
        client: whose file it is.
        path: the file; it need not be there.
        wanted: the server, without its key.
        key: the key for it; it is given the one that the file has, if it has one.

    Raises:
        Failed: the file is not what it should be; it stays as it is.
        OSError: it cannot be read or written.
    """
    place = path.resolve()  # the file behind a link is written, and the link stays
    text = _text(place)
    with_entry(client, text, wanted, path)  # before a key is made for nothing
    known = known_key(client, text, wanted.name, wanted.url, path)
    entry = Entry(wanted.name, wanted.url, key(known))
    new = with_entry(client, text, entry, path)
    if new == text:
        return Written(entry, changed=False)
    backup = None
    if text is not None:
        backup = path.with_name(path.name + ".bak")
        write_private(backup, text.encode())
    write_private(place, new.encode())
    return Written(entry, changed=True, backup=backup)


def key_for(rest: Rest, agent_id: str, client: str, known: str | None, url: str) -> str:
    """The key that is known, if it still is this agent's, else a new one.

    Raises:
        Failed: the host refuses.
    """
    if known is not None and known.startswith("agk_") and _opens(Target(url, known), agent_id):
        return known
    return new_key(rest, agent_id, client)


def new_key(rest: Rest, agent_id: str, client: str) -> str:
    """An `agk_` key for an agent.

    Raises:
        Failed: the host refuses.
    """
    return rest.ask("POST", "/api/v1/keys", {"kind": "agk", "agent_id": agent_id, "name": f"connect {client}"})["key"]


def _opens(target: Target, agent_id: str) -> bool:
    try:
        with Rest(target) as rest:
            rest.ask("GET", f"/api/v1/agents/{agent_id}")
    except Failed as failed:
        if failed.code in ("unauthorized", "forbidden", "agent_not_found"):
            return False
        raise
    return True


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Failed(f"{str(path)!r} is not UTF-8 text; nothing was written", "client_config") from None


def _told(client: str, agent_id: str, path: Path, written: Written, write: bool) -> dict[str, Any]:
    return {
        "client": client,
        "agent_id": agent_id,
        "url": written.entry.url,
        "key": written.entry.key,
        "file": str(path),
        "written": write,
        "changed": written.changed,
        "backup": None if written.backup is None else str(written.backup),
    }


def _said(client: Client, path: Path, written: Written) -> str:
    if not written.changed:
        return f"{path} has it already; nothing to do"
    kept = f"; what it was is in {written.backup}" if written.backup else ""
    return (
        f"wrote {path}{kept}\nit holds the agent's key: keep it out of version control\n"
        f"start {client.title} anew, and it has the tools of the agent's arrows"
    )
