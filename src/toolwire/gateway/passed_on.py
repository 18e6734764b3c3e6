"""A delegate that passes everything on to another one, for those that refuse some calls; it refuses none."""

from collections.abc import Sequence

from toolwire.core.call import Call
from toolwire.core.handler import Delegate
from toolwire.core.ports import Op
from toolwire.core.tool import Tool


class PassedOn:
    """See `core.handler.Delegate`; what is no method of this class is the very method of `delegate`."""

    def __init__(self, delegate: Delegate) -> None:
        self.delegate = delegate
        self.tools = delegate.tools
        self.attach = delegate.attach
        self.end_ops = delegate.end_ops
        self.ended = delegate.ended
        self.call = delegate.call
        self.resume = delegate.resume

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse what cannot be delivered."""
        self.delegate.ready(call, tool)

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """What is committed with the claim."""
        return self.delegate.claim_ops(call, tool)

    def unclaim(self, call: Call) -> None:
        """Forget what was made for a call."""
        self.delegate.unclaim(call)
