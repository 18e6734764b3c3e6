"""The remote tools of one turn: asked for at its start, mounted beside the others; it speaks to no server itself."""

import logging

import toolwire.sdk.payloads as p
from toolwire.sdk.options import RemoteTools, RemoteTurn, Skipped, ToolPlace
from toolwire.sdk.turns.compiled import context_maker
from toolwire.sdk.turns.mounted import mount
from toolwire.sdk.turns.turn_state import Turn, clipped

LOGGER = logging.getLogger("toolwire.sdk")


async def mount_remote(turn: Turn, remote: RemoteTools) -> None:
    """Give the turn the remote tools that are there, and record which servers are not.

    Raises:
        ValueError: a remote tool has the name of another tool, or a server is specified wrongly.
    """
    task = turn.task
    offered = await _offered(turn, remote)
    for skipped in offered.skipped:
        task.record(p.McpServerSkipped(skipped.alias, clipped(skipped.reason, 500)))
    if offered.servers:
        task.record(p.McpProvenanceRecorded(list(offered.servers)))
    context_for = context_maker(turn.host, turn.agent.workspace_dir)
    disallowed = turn.agent.options.disallowed_tools
    turn.mounts = turn.mounts.with_more(
        [
            mount(entry.tool, context_for, entry.source, False)
            for entry in offered.tools
            if entry.tool.name not in disallowed
        ]
    )


async def _offered(turn: Turn, remote: RemoteTools) -> RemoteTurn:
    place = ToolPlace(turn.task.id, turn.agent.workspace_dir, turn.options.enabled_mcp)
    try:
        return await remote.turn(place)
    except ValueError:  # a server's spec or an alias cannot be, which its author should read
        raise
    except Exception as error:
        LOGGER.exception("the source of remote tools raised")
        return RemoteTurn(skipped=[Skipped("*", f"{type(error).__name__}: {error}")])
