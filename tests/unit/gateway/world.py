"""A gateway's registries over a store in memory, for tests that need no network; it asserts nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Call
from toolwire.core.errors import InvalidParam
from toolwire.core.handler import Emit
from toolwire.core.ports import Op, Store
from toolwire.core.result import Result, text_result
from toolwire.core.tool import Tool
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth
from toolwire.gateway.keys import Keys
from toolwire.providers.schema import compile_validator


class ManualClock:
    """Wall time that moves when the test says so."""

    def __init__(self, at: float = 1_800_000_000.0) -> None:
        self.at = at

    def now(self) -> float:
        return self.at


class Present:
    """A delegate whose agent is always there and answers with its tool's name."""

    def __init__(self, record: AgentRecord) -> None:
        self.agent_id = record.agent_id

    def tools(self) -> Sequence[Tool]:
        return ()

    async def attach(self, call: Call) -> Call:
        raise InvalidParam("there are no files here", param="attachments[0].file_id")

    def ready(self, call: Call, tool: Tool) -> None:
        return None

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        return ()

    def unclaim(self, call: Call) -> None:
        return None

    def end_ops(self, call: Call) -> Sequence[Op]:
        return ()

    def ended(self, call: Call, committed: bool) -> None:
        return None

    async def call(self, call: Call, emit: Emit) -> Result:
        return text_result(call.tool)

    async def resume(self, call: Call, emit: Emit) -> Result:
        return text_result(call.tool)


@dataclass
class World:
    store: Store
    clock: ManualClock
    keys: Keys
    auth: Auth
    agents: Agents


async def open_world(store: Store | None = None) -> World:
    """The registries over `store`, loaded; over the same store again they are what a restart finds."""
    clock = ManualClock()
    store = MemoryStore(clock) if store is None else store
    keys = Keys(store, clock)
    agents = Agents(store, clock, compile_validator, Present)
    await keys.load()
    await agents.load()
    return World(store, clock, keys, Auth(keys), agents)


def bearer(secret: str) -> list[bytes]:
    """What a surface hands over for `Authorization: Bearer …`."""
    return [f"Bearer {secret}".encode()]
