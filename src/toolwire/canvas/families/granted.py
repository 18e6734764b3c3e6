"""Which built-in tools an agent has: every family says by itself what the cards that it reaches are good for."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from toolwire.canvas.copies import Copy
from toolwire.canvas.families.arrows import BuiltIn
from toolwire.canvas.identity import AgentInfo
from toolwire.providers.function import LocalTool

Family: TypeAlias = Callable[[AgentInfo, Sequence[Copy]], Sequence[LocalTool]]
"""The tools of one family for an agent that reaches these cards."""


class Families:
    """All families; see `toolbox.BuiltIns`."""

    def __init__(self, families: Sequence[Family]) -> None:
        self._families = tuple(families)

    def tools(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What the cards that an agent reaches give it."""
        return [tool for family in self._families for tool in family(agent, found)]

    def by_arrow(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """Those among them whose calls go through an arrow."""
        return [tool for tool in self.tools(agent, found) if isinstance(tool, BuiltIn) and tool.by_arrow]
