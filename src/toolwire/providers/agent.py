"""Runs calls by handing them to an attached agent; it does not know how messages travel or where they are kept.

A `Courier` carries the call there and its answer back. This module says what the answer means (agent_reply.py does the
reading), so that a call of an agent's tool ends like a call of any other.
"""

from collections.abc import Sequence
from typing import Protocol

from toolwire.core.call import Call
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result
from toolwire.core.tool import Tool
from toolwire.providers.agent_reply import result_of
from toolwire.wire.link import Message


class Courier(Protocol):
    """Carries calls to agents as `chat_message`s and brings back the one terminal reply (gateway.md 14)."""

    async def attach(self, call: Call) -> Call:
        """The call with its files found; see `core.handler.Delegate.attach`."""
        ...

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse before the claim what cannot be delivered; see `core.handler.Delegate.ready`."""
        ...

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """What is committed with the claim; empty for a call that is not durable."""
        ...

    def unclaim(self, call: Call) -> None:
        """Forget a call that `claim_ops` was asked about; see `core.handler.Delegate.unclaim`."""
        ...

    def end_ops(self, call: Call) -> Sequence[Op]:
        """What is committed with the end of a call; see `core.handler.Delegate.end_ops`."""
        ...

    def ended(self, call: Call, committed: bool) -> None:
        """The end of a call is committed, or not yet; see `core.handler.Delegate.ended`."""
        ...

    async def exchange(self, call: Call, emit: Emit) -> Message:
        """Deliver a call that `claim_ops` was asked about, and wait for its terminal reply.

        Raises:
            ToolwireError: it could not be delivered, or whoever had taken it is lost.

        Cancellation: the agent is told that nobody waits any more, unless the call outlives its request.
        """
        ...

    async def resume(self, call: Call, emit: Emit) -> Message:
        """Wait for the terminal reply to a call that was claimed before a restart.

        Raises:
            ToolwireError: as `exchange`.
        """
        ...


class Settler(Protocol):
    """Looks after files in what an agent answers."""

    def concerns(self, result: Result) -> bool:
        """Whether there is anything to do."""
        ...

    async def settle(self, call: Call, result: Result) -> Result:
        """The result as the caller gets it.

        Raises:
            InvalidAgentResponse: the agent names what is not its own.
        """
        ...


class AgentProvider:
    """The tools of one agent, as a `Delegate`.

    Args:
        agent_id: whose tools these are.
        courier: carries the calls.
        tools: what `tools()` says; the gateway keeps the agent's catalogue itself and leaves this empty.
        settler: looks after files in answers; without it they go as they are.
    """

    def __init__(
        self, agent_id: str, courier: Courier, tools: Sequence[Tool] = (), settler: Settler | None = None
    ) -> None:
        self.agent_id = agent_id
        self._courier = courier
        self._settler = settler
        self._tools = tuple(tools)
        self.attach = courier.attach
        self.ready = courier.ready
        self.claim_ops = courier.claim_ops
        self.unclaim = courier.unclaim
        self.end_ops = courier.end_ops
        self.ended = courier.ended

    def tools(self) -> Sequence[Tool]:
        """The tools offered now, in their order."""
        return self._tools

    async def call(self, call: Call, emit: Emit) -> Result:
        """Deliver `call` and wait for the answer.

        Raises:
            AgentOffline: nobody was there to take it after all.
            AgentBusy: the agent takes no more now.
            AgentLost: the agent took it and will not answer.
            OutcomeUnknown: the agent had begun it before and cannot say how it ended.
            InvalidAgentResponse: the answer is no result.
        """
        result = result_of(await self._courier.exchange(call, emit))
        settler = self._settler
        return result if settler is None or not settler.concerns(result) else await settler.settle(call, result)

    async def resume(self, call: Call, emit: Emit) -> Result:
        """Wait for the end of a call from before a restart; see `core.handler.Delegate.resume`."""
        result = result_of(await self._courier.resume(call, emit))
        settler = self._settler
        return result if settler is None or not settler.concerns(result) else await settler.settle(call, result)
