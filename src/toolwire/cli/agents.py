"""`toolwire agent create`, `list` and `pin`; it runs no agent."""

from typing import Annotated, Any
from urllib.parse import quote

from cyclopts import Parameter

from toolwire.cli.failure import DONE
from toolwire.cli.output import print_json, print_table, print_text, say
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of

HERE = HostFlags()


def create(
    name: Annotated[str, Parameter(help="What you call it, unique among your agents.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Register an agent. Its key is shown this once: the agent attaches with it.

    With `--json`: `{"agent_id", "agent_key"}`.
    """
    with Rest(target_of(host)) as rest:
        made = new_agent(rest, name)
    if json:
        print_json(made)
    else:
        print_text(f"agent_id   {made['agent_id']}\nagent_key  {made['agent_key']}")
        say("keep the key: it is not shown again; `toolwire agent run MODULE:NAME --key …` attaches with it")
    return DONE


def new_agent(rest: Rest, name: str) -> dict[str, str]:
    """Register an agent; its `agent_id` and `agent_key`.

    Raises:
        Failed: the host refuses, or does not answer.
    """
    made = rest.ask("POST", "/api/v1/agents", {"name": name})
    return {"agent_id": made["agent_id"], "agent_key": made["agent_key"]}


def list_agents(*, host: HostFlags = HERE, json: JsonFlag = False) -> int:
    """List your agents, and whether each is attached.

    With `--json`: `{"agents": […]}`, each as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        agents: list[dict[str, Any]] = rest.ask("GET", "/api/v1/agents")
    if json:
        print_json({"agents": agents})
    else:
        print_table(
            ("ID", "NAME", "STATE", "TOOLS", "VISIBILITY"),
            [_row(agent) for agent in agents],
            "no agents yet; make one with `toolwire agent create NAME`",
        )
    return DONE


def pin(
    name: Annotated[str, Parameter(help="The agent's name or id.")],
    /,
    *,
    off: Annotated[bool, Parameter(negative="", help="Let the agent's own word count again.")] = False,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Hold what an agent changes of its tools from now on, until you accept it with `toolwire consent accept`.

    With `--json`: the agent, as the REST surface shows it.
    """
    with Rest(target_of(host)) as rest:
        agent: dict[str, Any] = rest.ask("PATCH", f"/api/v1/agents/{quote(name, safe='')}", {"pinned": not off})
    if json:
        print_json(agent)
    else:
        words = "changes its tools as it likes" if off else "is pinned: what it changes of its tools waits for you"
        say(f"{agent['name']} {words}")
    return DONE


def _row(agent: dict[str, Any]) -> tuple[str, ...]:
    return (
        agent["agent_id"],
        agent["name"],
        "attached" if agent["attached"] else "offline",
        str(len(agent["skills"])),
        agent["visibility"],
    )
