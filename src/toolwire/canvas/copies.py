"""Which copy of a card a call is for: those that an agent's arrows reach, and the one that it names (cards.md 15-17).

An agent learns of cards that its arrows reach, and of no other (decisions 14, 15).
"""

from collections.abc import Sequence

from msgspec import Struct

from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.core.board import Arrow, Board, Card, grants
from toolwire.core.result import Result, failed


class Copy(Struct, frozen=True):
    """A card that an agent's arrow reaches, and where."""

    workspace: Workspace
    agent_card: Card
    card: Card
    arrow: Arrow


def reached(workspaces: Workspaces, owner: str, agent_id: str) -> list[Copy]:
    """All cards that an agent's arrows reach, in the order in which they were drawn."""
    return [
        Copy(workspace, agent_card, grant.card, grant.arrow)
        for workspace, agent_card in workspaces.standing(owner, agent_id)
        for grant in grants(workspace.board, agent_card.id)
    ]


def copies_of(found: Sequence[Copy], package: str, tool: str) -> list[Copy]:
    """Those that are copies of a package and whose arrow lets a tool (its manifest name) through; each card once."""
    fitting = {
        copy.card.id: copy
        for copy in found
        if copy.card.package == package and (copy.arrow.tools is None or tool in copy.arrow.tools)
    }
    return list(fitting.values())


def is_granted(board: Board, copy: Copy, tool: str) -> bool:
    """Whether the arrow that a call goes through is still there, between the same cards, and lets the tool through."""
    arrow = board.arrows.get(copy.arrow.id)
    if arrow is None or arrow.other_end(copy.agent_card.id) != copy.card.id:
        return False
    return arrow.tools is None or tool in arrow.tools


def picked(copies: Sequence[Copy], named: str | None, states: Sequence[str]) -> Copy | Result:
    """The one copy that is meant, or words for the agent.

    Args:
        copies: those that it can reach.
        named: the `card` argument: an id or a name.
        states: in a word, how each of them does.
    """
    if not copies:
        return failed("this card is not connected to you any more; ask the user to draw an arrow to it")
    if named is None:
        if len(copies) == 1:
            return copies[0]
        return failed(f"several copies of this card are connected; say which in 'card': {_listed(copies, states)}")
    folded = named.casefold()
    for found in (
        [copy for copy in copies if copy.card.id == named],
        [copy for copy in copies if copy.card.title == named],
        [copy for copy in copies if copy.card.title.casefold() == folded],
    ):
        if len(found) == 1:
            return found[0]
        if found:
            chosen = [states[copies.index(copy)] for copy in found]
            return failed(
                f"several connected copies are named {named!r}; give an id in 'card': {_listed(found, chosen)}"
            )
    return failed(f"no card {named!r} is connected to you; connected are: {_listed(copies, states)}")


def _listed(copies: Sequence[Copy], states: Sequence[str]) -> str:
    return "; ".join(
        f"{copy.card.id} ({copy.card.title!r}, {state}, in workspace {copy.workspace.name!r})"
        for copy, state in zip(copies, states, strict=True)
    )
