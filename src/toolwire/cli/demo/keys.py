"""The demo agent's place at a gateway: its id and its two keys, made once and kept in the data folder.

It does not run the agent.
"""

from typing import Final

import msgspec
from msgspec import Struct

from toolwire.cli.data_folder import DataFolder, write_private
from toolwire.core.errors import AgentNotFound, Conflict
from toolwire.gateway.agents import Agents
from toolwire.gateway.keys import FIRST_OWNER, Keys

DEMO_AGENT_ID: Final = "agent_demo"
DEMO_NAME: Final = "demo"
DEMO_KEY_FILE: Final = "demo.key"


class DemoKeys(Struct, frozen=True):
    """Who the demo agent is, the key it attaches with, and the key by which it may be called."""

    agent_id: str
    agent_key: str
    bak: str

    def __repr__(self) -> str:
        return f"DemoKeys({self.agent_id!r}, {self.agent_key[:12]!r}…, {self.bak[:12]!r}…)"


async def demo_keys(folder: DataFolder, agents: Agents, keys: Keys) -> DemoKeys:
    """The demo agent's id and keys; what of them is missing or does not count any more is made.

    Raises:
        Conflict: the owner has another agent called `demo`.
        OSError: the folder cannot be written.
        StoreUnavailable: the store cannot be written.
    """
    path = folder.path / DEMO_KEY_FILE
    try:
        agents.get(DEMO_AGENT_ID)
    except AgentNotFound:
        await agents.create(FIRST_OWNER, DEMO_NAME, agent_id=DEMO_AGENT_ID)
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=DemoKeys)
    except (OSError, msgspec.DecodeError):
        kept = DemoKeys(DEMO_AGENT_ID, "", "")
    known = DemoKeys(
        DEMO_AGENT_ID,
        kept.agent_key if _counts(keys, kept.agent_key, "agk") else await _agent_key(keys),
        kept.bak if _counts(keys, kept.bak, "bak") else await _calling_key(keys),
    )
    if known != kept:
        write_private(path, msgspec.json.encode(known) + b"\n")
    return known


def _counts(keys: Keys, secret: str, kind: str) -> bool:
    record = keys.find(secret.encode())
    return record is not None and (record.kind, record.agent_id) == (kind, DEMO_AGENT_ID)


async def _agent_key(keys: Keys) -> str:
    return (await keys.create("agk", FIRST_OWNER, DEMO_AGENT_ID, DEMO_NAME))[1]


async def _calling_key(keys: Keys) -> str:
    try:
        return (await keys.create("bak", FIRST_OWNER, DEMO_AGENT_ID, DEMO_NAME))[1]
    except Conflict:  # as many as an agent may have: ours was lost, so the oldest that we made can go
        ours = [r for r in keys.list(FIRST_OWNER, DEMO_AGENT_ID) if r.kind == "bak" and r.active]
        await keys.revoke(
            FIRST_OWNER, min(ours, key=lambda record: (record.name != DEMO_NAME, record.created_at)).key_id
        )
        return (await keys.create("bak", FIRST_OWNER, DEMO_AGENT_ID, DEMO_NAME))[1]
