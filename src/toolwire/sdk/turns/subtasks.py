"""Handing a part of a task to another agent of `Options.agents`, by a tool; what the other agent does is a task too.

The other agent runs on the same host, by the same permission mode, guards and resolver. Nobody waits beside it: where
there is no resolver, what would need a person's word is refused there.
"""

from dataclasses import replace
from typing import Any

import msgspec

import toolwire.sdk.payloads as p
from toolwire.core.call import Call
from toolwire.core.handler import Emit, Handler
from toolwire.core.result import Result
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.hosting.task import Task
from toolwire.sdk.options import AgentDefinition, Options
from toolwire.sdk.turns.compiled import BuiltinTools, Settings, compile_agent
from toolwire.sdk.turns.mounted import Mounted, provider_entry
from toolwire.sdk.turns.outcome import Outcome, failure
from toolwire.sdk.turns.permission import nobody
from toolwire.sdk.turns.runner import Runner
from toolwire.sdk.turns.selection import SUBTASK
from toolwire.sdk.turns.turn_state import Agent, clipped

MAX_GOAL_BYTES = 1024


def with_subtasks(agent: Agent, settings: Settings, host: Host, builtin: BuiltinTools) -> Agent:
    """The agent with the tool that hands parts to the agents of its options, if there are any.

    Raises:
        KeyError, TypeError, ValueError: the tools of one of them cannot be selected.
    """
    definitions = agent.options.agents
    if not definitions:
        return agent
    runners: dict[str, Runner] = {}
    for name, definition in definitions.items():
        options = _options(agent.options, name, definition)
        alone = msgspec.structs.replace(settings, multi_turn=False, model=definition.model or agent.model)
        child = compile_agent(options, alone, host, builtin)
        runners[name] = Runner(host, child, _no_remote)
    return msgspec.structs.replace(agent, mounts=agent.mounts.with_more([_tool(agent, host, runners)]))


def _options(parent: Options, name: str, definition: AgentDefinition) -> Options:
    return replace(
        parent,
        system_prompt=definition.prompt,
        name=name,
        agents={},
        allowed_tools=parent.allowed_tools if definition.tools is None else definition.tools,
        mcp_servers=parent.mcp_servers if definition.tools is None else (),
        can_use_tool=parent.can_use_tool or nobody,
        output_schema=None,
        toolbox=None,
        metadata={**parent.metadata, **definition.metadata},
    )


def _tool(agent: Agent, host: Host, runners: dict[str, Runner]) -> Mounted:
    listed = "\n".join(f"- {name}: {agent.options.agents[name].description}" for name in runners)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "agent": {"type": "string", "enum": list(runners)},
            "goal": {"type": "string", "description": "What to do, with all that the agent needs to know."},
        },
        "required": ["agent", "goal"],
        "additionalProperties": False,
    }
    description = f"Hand a part of the task to another agent and wait for its answer. The agents are:\n{listed}"

    def misfit(arguments: dict[str, Any]) -> str | None:
        if arguments.get("agent") not in runners:
            return f"invalid arguments: agent must be one of {', '.join(runners)}"
        goal = arguments.get("goal")
        return None if isinstance(goal, str) and goal else "invalid arguments: goal must be a text"

    return Mounted(
        name=SUBTASK,
        risk_level="low",
        handler=_handler(agent, host, runners),
        entry=provider_entry(SUBTASK, description, schema),
        source="Options.agents",
        builtin=True,
        overlaps=True,
        timeout_s=None,
        repeatable=False,
        misfit=misfit,
    )


def _handler(agent: Agent, host: Host, runners: dict[str, Runner]) -> Handler:
    most = agent.budget.max_spawned_subtasks

    async def hand_out(call: Call, _emit: Emit) -> Result:
        parent = await host.find(call.parent or "")
        name, goal = call.arguments["agent"], call.arguments["goal"]
        shown = clipped(goal, MAX_GOAL_BYTES)
        if most is not None and parent.turn.spawned >= most:
            reason = f"the budget of {most} subtasks for this turn is used up"
            parent.record(p.SubtaskDenied(name, shown, reason))
            return failure(reason)
        parent.turn.spawned += 1
        runner = runners[name]
        child = runner.begin(goal, (), p.TurnOptions(permission_mode=parent.options.permission_mode), parent)
        parent.record(p.SubtaskSpawned(child.id, name, shown))
        await host.save(parent)
        await runner.drive(child)
        ended = _ended(child)
        error = None if ended.success else clipped(ended.reason or "")
        said = {"status": child.status, "output_chars": len(ended.body), "error": error}
        parent.record(p.SubtaskCompleted(child.id, said))
        return ended

    return hand_out


def _ended(child: Task) -> Outcome:
    if child.status == "completed":
        answer = child.answer
        return Outcome(output=answer, body=msgspec.json.encode(answer))
    if child.failure is not None:
        detail = f": {child.failure.detail}" if child.failure.detail else ""
        return failure(f"the agent failed: {child.failure.reason}{detail}")
    return failure(f"the agent's task is {child.status}")


def _no_remote() -> None:
    """Another agent has no remote servers of its own."""
