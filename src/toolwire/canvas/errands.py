"""Calls that the owner makes in an agent's place: who they are told as, and the one arrow that each keeps to.

It makes none; `own_calls` does.
"""

from collections.abc import Sequence

from toolwire.canvas.copies import Copy
from toolwire.core.call import Call
from toolwire.wire.card_messages import AgentRef

OWNER = AgentRef("owner", "you")
"""Who made a call that no agent made."""
STOPPED = "cancelled: the user stopped this call"
"""What whoever made a call reads when its user ends it."""


class Errands:
    """The calls of owners that are under way, each with its arrow."""

    def __init__(self) -> None:
        self._arrows: dict[str, str] = {}

    def begin(self, call_id: str, arrow_id: str) -> None:
        """A call of an owner goes through an arrow."""
        self._arrows[call_id] = arrow_id

    def end(self, call_id: str) -> None:
        """It is over."""
        self._arrows.pop(call_id, None)

    def copies(self, call: Call, found: Sequence[Copy]) -> Sequence[Copy]:
        """Those among `found` that a call may be for: all, for an agent's."""
        arrow_id = self._arrows.get(call.id)
        return found if arrow_id is None else [copy for copy in found if copy.arrow.id == arrow_id]

    def caller(self, call: Call, agent: AgentRef) -> AgentRef:
        """Who made a call that comes with an agent's tools."""
        return OWNER if call.id in self._arrows else agent
