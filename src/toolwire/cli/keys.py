"""`toolwire key create`, `list` and `revoke`; what a key opens is the gateway's to say."""

from typing import Annotated, Any
from urllib.parse import quote, urlencode

from cyclopts import Parameter

from toolwire.cli.failure import DONE, misused
from toolwire.cli.output import print_json, print_table, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()


def create(
    *,
    agent: Annotated[str | None, Parameter(help="A key that may call this agent (bak_); its id or name.")] = None,
    owner: Annotated[
        bool, Parameter(negative="", help="Another key of yours, for everything of yours (oag_).")
    ] = False,
    name: Annotated[str, Parameter(help="A word by which you will know it again.")] = "",
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Make a key. It is shown this once.

    With `--json`: `{"key_id", "key"}`.
    """
    if (agent is None) is (owner is False):
        raise misused("say what the key is for: --agent AGENT or --owner")
    body: dict[str, Any] = {"kind": "oag"} if agent is None else {"kind": "bak", "agent_id": agent}
    with Rest(target_of(host)) as rest:
        made = rest.ask("POST", "/api/v1/keys", {**body, "name": name})
    if json:
        print_json({"key_id": made["key_id"], "key": made["key"]})
    else:
        print_text(f"key_id  {made['key_id']}\nkey     {made['key']}")
        say("keep the key: it is not shown again")
    return DONE


def list_keys(
    *,
    agent: Annotated[str | None, Parameter(help="Only the keys of this agent; its id or name.")] = None,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """List your keys, revoked ones too, without their secrets.

    With `--json`: `{"keys": […]}`, each as the REST surface shows it.
    """
    query = "" if agent is None else "?" + urlencode({"agent_id": agent})
    with Rest(target_of(host)) as rest:
        keys: list[dict[str, Any]] = rest.ask("GET", f"/api/v1/keys{query}")
    if json:
        print_json({"keys": keys})
    else:
        print_table(("ID", "KEY", "AGENT", "NAME", "STATE", "MADE"), [_row(key) for key in keys], "no keys")
    return DONE


def revoke(
    key_id: Annotated[str, Parameter(help="The key's id, as `key list` shows it.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Make a key open nothing any more, from now on.

    With `--json`: `{"key_id", "revoked": true}`.
    """
    with Rest(target_of(host)) as rest:
        rest.ask("DELETE", f"/api/v1/keys/{quote(key_id, safe='')}")
    if json:
        print_json({"key_id": key_id, "revoked": True})
    else:
        say(f"{key_id} opens nothing any more")
    return DONE


def _row(key: dict[str, Any]) -> tuple[str, ...]:
    return (
        key["key_id"],
        key["prefix"] + "…",
        key.get("agent_id") or "",
        key.get("name") or "",
        "revoked" if key.get("revoked_at") else "active",
        key.get("created_at") or "",
    )
