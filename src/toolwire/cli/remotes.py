"""`toolwire remote add`, `list` and `remove`: MCP servers behind the gateway; it connects to none of them itself."""

from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, print_table, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.remote_login import BY_LINK, LoginFlags, signed_in
from toolwire.cli.remote_places import child_of, header_of, is_command
from toolwire.cli.rest import Rest
from toolwire.cli.target import checked_url, target_of

HERE = HostFlags()
ADD_TIMEOUT_S = 60.0
"""The gateway waits for the server meanwhile."""


def add(
    alias: Annotated[str, Parameter(help="What you call it, unique among your agents.")],
    place: Annotated[str, Parameter(help="Its URL, or in quotes the command that starts it on the gateway's machine.")],
    /,
    *,
    header: Annotated[
        list[str] | None, Parameter(negative="", help="One more header, `Name: value`; may be repeated.")
    ] = None,
    env: Annotated[
        list[str] | None,
        Parameter(negative="", help="A variable for a server that is a command, NAME or NAME=value; may be repeated."),
    ] = None,
    auth: Annotated[
        bool, Parameter(name="--auth", negative="--no-auth", help="Sign in where the server wants it; the default.")
    ] = True,
    flags: LoginFlags = BY_LINK,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Put an MCP server behind the gateway, as an agent of yours; you accept its tools as they are now with that.

    If the server wants somebody to sign in, that is you, with your browser.

    With `--json`: the server, as the REST surface shows it.
    """
    body: dict[str, Any] = {"alias": alias, **_body_of(place, header or [], env or [])}
    with Rest(target_of(host), timeout_s=ADD_TIMEOUT_S) as rest:
        made = _added(rest, body, flags if auth else None)
    if json:
        print_json(made)
    else:
        print_text(f"agent_id  {made['agent_id']}\nmcp_url   {made['mcp_url']}")
        say(f"you have accepted: {', '.join(made['tools']) or 'no tools, there are none'}")
    return DONE


def list_remotes(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """List the MCP servers that you have put behind the gateway.

    With `--json`: `{"remotes": […]}`, each as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        remotes: list[dict[str, Any]] = rest.ask("GET", "/api/v1/remotes")
    if json:
        print_json({"remotes": remotes})
    else:
        print_table(
            ("ID", "ALIAS", "SERVER", "STATE", "TOOLS", "HELD"),
            [_row(remote) for remote in remotes],
            "no remote servers yet; add one with `toolwire remote add ALIAS URL`",
        )
    return DONE


def remove(
    alias: Annotated[str, Parameter(help="The server's alias or id, as `remote list` shows it.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Forget an MCP server, its credentials, what was accepted of it, and the keys that open it.

    With `--json`: `{"remote", "removed": true}`.
    """
    with Rest(target_of(host)) as rest:
        rest.ask("DELETE", f"/api/v1/remotes/{quote(alias, safe='')}")
    if json:
        print_json({"remote": alias, "removed": True})
    else:
        say(f"{alias} is forgotten")
    return DONE


def _added(rest: Rest, body: dict[str, Any], flags: LoginFlags | None) -> dict[str, Any]:
    """The server, added; after a sign-in where it wants one."""
    try:
        return rest.ask("POST", "/api/v1/remotes", body)
    except Failed as refused:
        if flags is None or not (refused.data or {}).get("sign_in"):
            raise
    tokens = signed_in(body["url"], body["headers"], flags)
    return rest.ask("POST", "/api/v1/remotes", {**body, "sign_in": tokens})


def _body_of(place: str, headers: list[str], env: list[str]) -> dict[str, Any]:
    if is_command(place):
        child = child_of(place, headers, env)
        return {"command": list(child.argv), "env": dict(child.env)}
    if env:
        raise misused("--env is for a server that a command starts; give the command, in quotes")
    return {"url": checked_url(place), "headers": dict(header_of(line) for line in headers)}


def _row(remote: dict[str, Any]) -> tuple[str, ...]:
    return (
        remote["agent_id"],
        remote["alias"],
        remote["server"],
        "sign in" if remote["sign_in"] == "wanted" else "connected" if remote["connected"] else "away",
        str(len(remote["tools"])),
        str(remote["held"]),
    )
