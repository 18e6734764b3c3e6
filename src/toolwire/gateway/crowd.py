"""How many calls an agent and an owner may have under way at once; how often they come is `rates`' to say.

A call takes its place before it is claimed and leaves it with its end. A repeat under a known key takes none. Counts
are this process' alone, and nothing is counted where nothing is limited.
"""

from collections.abc import Callable, Sequence
from typing import Final

from toolwire.core.call import Call
from toolwire.core.errors import RateLimited
from toolwire.core.handler import Delegate
from toolwire.core.ports import Op
from toolwire.core.tool import Tool
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.passed_on import PassedOn

RETRY_MS: Final = 1000
"""Nobody knows when a place becomes free; this is a polite guess."""


class Crowd:
    """The calls that are under way.

    Args:
        engine: runs them.
        agent_limit: how many one agent may have; 0 for as many as it likes.
        owner_limit: how many all callers of one owner may have.
    """

    def __init__(self, engine: Engine, agent_limit: int, owner_limit: int) -> None:
        self._engine = engine
        self._limits = {"agent": agent_limit, "owner": owner_limit}
        self._counts: dict[tuple[str, str], int] = {}
        self._places: dict[str, tuple[tuple[str, str], ...]] = {}
        self._waiting: set[str] = set()
        if agent_limit or owner_limit:
            engine.observers.append(self._begins)

    def limited(self, provider_for: Callable[[AgentRecord], Delegate]) -> Callable[[AgentRecord], Delegate]:
        """What makes delegates that take no more calls than they may; the same where nothing is limited."""
        if not any(self._limits.values()):
            return provider_for
        return lambda record: _Limited(provider_for(record), self)

    def enter(self, call: Call) -> None:
        """A call takes its place.

        Raises:
            RateLimited: there is none; `retry_after_ms` says when to try again.
        """
        if call.id in self._places:
            return
        whose = tuple(
            (kind, name)
            for kind, name in (("agent", call.agent_id), ("owner", call.caller.owner))
            if self._limits[kind]
        )
        for kind, name in whose:
            if self._is_full(kind, name):
                self._forget_unclaimed()
            if self._is_full(kind, name):
                who = "this agent has" if kind == "agent" else "you have"
                words = f"{who} {self._limits[kind]} calls under way, as many as there may be; try again in a moment"
                raise RateLimited(words, retry_after_ms=RETRY_MS)
        for each in whose:
            self._counts[each] = self._counts.get(each, 0) + 1
        self._places[call.id] = whose
        self._waiting.add(call.id)

    def leave(self, call_id: str) -> None:
        """A call gives its place up, if it has one."""
        self._waiting.discard(call_id)
        for each in self._places.pop(call_id, ()):
            self._counts[each] -= 1
            if not self._counts[each]:
                del self._counts[each]

    def _is_full(self, kind: str, name: str) -> bool:
        return self._counts.get((kind, name), 0) >= self._limits[kind]

    def _forget_unclaimed(self) -> None:
        """Free the places of calls that have never begun and are not being claimed: they were refused after all."""
        for call_id in tuple(self._waiting):
            if self._engine.find(call_id) is None:
                self.leave(call_id)

    def _begins(self, record: Record) -> None:
        call_id = record.call.id
        if call_id not in self._places:
            return
        self._waiting.discard(call_id)
        record.at_end(self._ended)

    def _ended(self, record: Record) -> None:
        self.leave(record.call.id)


class _Limited(PassedOn):
    """A delegate whose calls need a place."""

    def __init__(self, delegate: Delegate, crowd: Crowd) -> None:
        super().__init__(delegate)
        self._crowd = crowd

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse what cannot be delivered, and then what has no place."""
        super().ready(call, tool)
        self._crowd.enter(call)

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """As the delegate's."""
        try:
            return super().claim_ops(call, tool)
        except BaseException:
            self._crowd.leave(call.id)
            raise

    def unclaim(self, call: Call) -> None:
        """As the delegate's; the call gives its place up."""
        self._crowd.leave(call.id)
        super().unclaim(call)
