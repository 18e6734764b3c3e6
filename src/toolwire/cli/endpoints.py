"""Finds the MCP endpoint that a command is meant for, and what to send it besides; it sends nothing to it.

An endpoint is named by its URL, by the name or id of an agent of the running host, or by the command that starts it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import quote

from msgspec import Struct, field

from toolwire.cli.data_folder import DataFolder
from toolwire.cli.failure import Failed, misused
from toolwire.cli.parameters import HostFlags
from toolwire.cli.remote_places import child_of, header_of, is_command, known_as
from toolwire.cli.rest import Rest
from toolwire.cli.sign_in import SignInFlags, auth_of_flags
from toolwire.cli.target import Target, checked_url, data_folder, host_url, optional_key
from toolwire.providers.remote_auth import Auth
from toolwire.providers.remote_person import Clocks
from toolwire.providers.remote_server import StdioServer


class Endpoint(Struct, frozen=True):
    """An MCP endpoint, and the headers for each request to it.

    Attributes:
        auth: who signs in if the server wants that; `None` for nobody.
        data: the folder in which the tokens are kept that then come.
        clocks: time-outs that stand still while somebody signs in.
        child: the command to start, whose stdin and stdout are the endpoint; `url` is then what it is called.
    """

    url: str
    headers: dict[str, str]
    auth: Auth | None = None
    data: DataFolder | None = None
    clocks: Clocks = field(default_factory=Clocks)
    child: StdioServer | None = None

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, headers={list(self.headers)})"


def endpoint_of(
    place: str,
    flags: HostFlags,
    headers: Sequence[str] = (),
    connect: Callable[[Target], Rest] = Rest,
    sign_in: SignInFlags | None = None,
) -> Endpoint:
    """The endpoint at a URL, of an agent of the host that the flags mean, or of a command.

    Args:
        place: a URL, an agent's name or id, or a command with its arguments (`stdio:` in front of one of one word).
        flags: where the host is, and the key.
        headers: more headers, each `Name: value`; they win over ours.
        connect: opens a connection to the host, to ask it for an agent's id.
        sign_in: who signs in at a URL for which there is no key, and a command's variables; nobody and none without it.

    Raises:
        Failed: there is no such place, no key where one is needed, or a header is none.
        ConfigError: the configuration cannot be used.
    """
    env = () if sign_in is None else sign_in.env or ()
    if is_command(place):
        child = child_of(place, headers, env)
        return Endpoint(known_as(child), {}, child=child)
    if env:
        raise misused("--env is for a server that a command starts; give the command, in quotes")
    given = dict(header_of(line) for line in headers)
    if "://" in place:
        url = checked_url(place)
        key = optional_key(replace(flags, url=url))
        if sign_in is not None and key is None and "authorization" not in given:
            return Endpoint(url, given, auth_of_flags(sign_in), data_folder(flags.data))
    else:
        host = host_url(flags)
        key = optional_key(flags)
        if key is None and not given:
            raise Failed("no key to ask with; pass --key, or set TOOLWIRE_KEY", "unauthorized")
        url = f"{host}/{_agent_id(place, Target(host, key or ''), connect)}/mcp"
    ours = {} if key is None else {"authorization": f"Bearer {key}"}
    return Endpoint(url, {**ours, **given})


def _agent_id(named: str, target: Target, connect: Callable[[Target], Rest]) -> str:
    if named.startswith("agent_") or not target.key:
        return quote(named, safe="")
    with connect(target) as rest:
        agent_id: str = rest.ask("GET", f"/api/v1/agents/{quote(named, safe='')}")["agent_id"]
    return agent_id
