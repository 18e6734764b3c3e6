"""`toolwire agent run`: runs an `Agent` of a Python module and attaches it; what it does is the author's.

With a host on this machine no key need be given: the agent is registered by its name with the owner's key, and its own
key is kept in the data folder for the next time.
"""

import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.agent import Agent, run_agent
from toolwire.agent.attach import KEY_VARIABLE
from toolwire.cli import modules
from toolwire.cli.agents import new_agent
from toolwire.cli.data_folder import DataFolder, read_key, write_private
from toolwire.cli.environment import variable
from toolwire.cli.failure import Failed, misused
from toolwire.cli.output import say
from toolwire.cli.parameters import HostFlags
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target, data_folder, host_url, optional_key

HERE = HostFlags()


def run(
    module: Annotated[str, Parameter(help="MODULE or MODULE:NAME; a dotted module or a Python file.")],
    /,
    *,
    journal: Annotated[
        Path | None,
        Parameter(help="File that remembers what was answered, over restarts; without it, memory does."),
    ] = None,
    host: HostFlags = HERE,
) -> int:
    """Run an agent written in Python and attach it, until SIGTERM or Ctrl-C.

    The key is the agent's own (agk_), from `--key` or TOOLWIRE_AGENT_KEY. Without one, and with a host on this machine,
    the agent is registered by its name, and its key is kept in the data folder for the next time.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    agent = agent_of(*modules.load(module))
    url = host_url(host)
    return run_agent(agent, url, host.key or variable(KEY_VARIABLE) or kept_key(agent.name, url, host), journal=journal)


def agent_of(module: ModuleType, name: str | None) -> Agent:
    """The agent that a module calls `name`, or its only one.

    Raises:
        Failed: that is no agent, or it is not clear which is meant.
    """
    if name is not None:
        agent = modules.find(module, name)
        if not isinstance(agent, Agent):
            raise Failed(f"{name!r} of {module.__name__!r} is no Agent but of type {type(agent).__name__}", "module")
        return agent
    agents = {each: value for each, value in vars(module).items() if isinstance(value, Agent)}
    if len({id(agent) for agent in agents.values()}) != 1:
        found = f"has {', '.join(agents)}: name one" if agents else "has no Agent"
        raise misused(f"{module.__name__!r} {found}; give MODULE:NAME")
    return next(iter(agents.values()))


def kept_key(name: str, url: str, host: HostFlags, connect: Callable[[Target], Rest] = Rest) -> str:
    """The key of the agent called `name`: the one that is kept, if it still opens the host, else a new one.

    Raises:
        Failed: there is no owner's key to register the agent with, or the host refuses.
    """
    path = key_file(data_folder(host.data), name)
    kept = read_key(path)
    if kept is not None and _is_known(name, Target(url, kept), connect):
        return kept
    owner_key = optional_key(host)
    if owner_key is None:
        raise Failed(
            f"agent {name!r} needs its key: pass --key, or set {KEY_VARIABLE}; `toolwire agent create` makes one",
            "unauthorized",
        )
    with connect(Target(url, owner_key)) as rest:
        key = _registered(rest, name)
    write_private(path, key.encode() + b"\n")
    say(f"its key is kept in {path}")
    return key


def key_file(folder: DataFolder, name: str) -> Path:
    """Where an agent's key is kept."""
    return folder.path / "agents" / f"{quote(name, safe=' ')}.key"


def _registered(rest: Rest, name: str) -> str:
    try:
        made = new_agent(rest, name)
    except Failed as failed:
        if failed.code != "conflict":
            raise
        key: str = rest.ask("POST", "/api/v1/keys", {"kind": "agk", "agent_id": name, "name": "agent run"})["key"]
        say(f"agent {name!r} is registered already; made another key for it")
        return key
    say(f"registered agent {name!r} as {made['agent_id']}")
    return made["agent_key"]


def _is_known(name: str, target: Target, connect: Callable[[Target], Rest]) -> bool:
    try:
        with connect(target) as rest:
            rest.ask("GET", f"/api/v1/agents/{quote(name, safe='')}")
    except Failed as failed:
        if failed.code in ("unauthorized", "forbidden", "agent_not_found"):
            return False
        raise
    return True
