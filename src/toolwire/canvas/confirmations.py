"""What cards ask the user before something that cannot be undone; it waits, and nobody there is a no.

A question that is asked on behalf of a call is the host's own, whether or not the card is to be seen: it names agent,
tool and card, and ends with the call (cards.md 75, 79, decision 35).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import anyio
from msgspec import Struct

from toolwire.canvas.card_calls import CardCalls
from toolwire.canvas.workspaces import Workspace
from toolwire.card.texts import visible
from toolwire.core.board import Card
from toolwire.core.errors import Conflict
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import ConfirmParams
from toolwire.wire.rest import rfc3339

USUAL_S = 60.0
"""How long a question waits that no call asks."""
MAX_OPEN = 50
"""Questions of one workspace that wait at once."""
MAX_TITLE_CHARS = 120
MAX_MESSAGE_CHARS = 1_000
MAX_LABEL_CHARS = 40

Outcome: TypeAlias = Literal["confirmed", "declined", "expired", "withdrawn"]


class Confirmation(Struct, frozen=True, omit_defaults=True):
    """A question that waits. Times are Unix seconds, UTC."""

    id: str
    workspace: str
    workspace_name: str
    card: str
    card_title: str
    title: str
    message: str
    confirm_label: str
    cancel_label: str
    tone: str
    asked_at: float
    expires_at: float
    agent: str | None = None
    tool: str | None = None
    call_id: str | None = None


class Confirmations:
    """The questions of all cards.

    Args:
        calls: those that are under way.
        clock: tells the time.
        feed: is told of questions and their ends.
        boards_of: the ids of all workspaces of an owner: whichever is looked at, it hears of every question.
    """

    def __init__(self, calls: CardCalls, clock: Clock, feed: Feed, boards_of: Callable[[str], Iterable[str]]) -> None:
        self._calls = calls
        self._clock = clock
        self._feed = feed
        self._boards_of = boards_of
        self._open: dict[str, _Open] = {}
        calls.on_ended(self._withdraw)

    def of_workspace(self, workspace_id: str) -> Sequence[Confirmation]:
        """The questions that wait in a workspace, the oldest first."""
        return [one.confirmation for one in self._open.values() if one.confirmation.workspace == workspace_id]

    async def ask(self, workspace: Workspace, card: Card, params: ConfirmParams) -> bool:
        """Ask the user, and wait; says whether it was a yes.

        The question is withdrawn when the call that asks ends, and when the caller of this is cancelled.

        Raises:
            Conflict: too many questions wait already, or the call that asks is over.
        """
        if len(self.of_workspace(workspace.id)) >= MAX_OPEN:
            raise Conflict(f"{MAX_OPEN} questions wait for the user already; ask later")
        confirmation = self._made(workspace, card, params)
        one = self._open[confirmation.id] = _Open(confirmation)
        self._tell_asked(workspace.owner, confirmation)
        try:
            with anyio.move_on_after(max(0.0, confirmation.expires_at - self._clock.now())) as waiting:
                await one.answered.wait()
            if waiting.cancelled_caught:
                one.outcome = "expired"
        finally:
            del self._open[confirmation.id]
            self._tell_ended(workspace.owner, one)
        return one.outcome == "confirmed"

    def answer(self, workspace_id: str, confirmation_id: str, confirmed: bool) -> None:
        """The user's answer; only the first counts.

        Raises:
            Conflict: no such question waits in this workspace any more.
        """
        one = self._open.get(confirmation_id)
        if one is None or one.confirmation.workspace != workspace_id or one.answered.is_set():
            raise Conflict(f"question {confirmation_id!r} does not wait any more: it was answered, or its time is up")
        one.end("confirmed" if confirmed else "declined")

    def withdraw_of(self, card_id: str) -> None:
        """A card is gone: nobody answers for it any more."""
        for one in self._open.values():
            if one.confirmation.card == card_id and not one.answered.is_set():
                one.end("withdrawn")

    def _withdraw(self, call_id: str, was_answered: bool) -> None:
        for one in self._open.values():
            if one.confirmation.call_id == call_id and not one.answered.is_set():
                one.end("withdrawn")

    def shown(self, confirmation: Confirmation) -> JsonObject:
        """A question as the REST surface shows it now."""
        left_s = max(0.0, confirmation.expires_at - self._clock.now())
        return {
            "id": confirmation.id,
            "workspace": {"id": confirmation.workspace, "name": confirmation.workspace_name},
            "card": {"id": confirmation.card, "name": confirmation.card_title},
            "title": confirmation.title,
            "message": confirmation.message,
            "confirm_label": confirmation.confirm_label,
            "cancel_label": confirmation.cancel_label,
            "tone": confirmation.tone,
            "agent": confirmation.agent,
            "tool": confirmation.tool,
            "call_id": confirmation.call_id,
            "asked_at": rfc3339(confirmation.asked_at),
            "expires_at": rfc3339(confirmation.expires_at),
            "remaining_ms": round(left_s * 1000),
        }

    def _tell_asked(self, owner: str, confirmation: Confirmation) -> None:
        for board in self._boards_of(owner):
            self._feed.tell(board, "confirm", self.shown(confirmation))

    def _tell_ended(self, owner: str, one: "_Open") -> None:
        for board in self._boards_of(owner):
            self._feed.tell(board, "confirmed", {"id": one.confirmation.id, "outcome": one.outcome})

    def _made(self, workspace: Workspace, card: Card, params: ConfirmParams) -> Confirmation:
        now = self._clock.now()
        agent = tool = None
        expires_at = now + USUAL_S
        if params.call_id is not None:
            asking = self._calls.asking(params.call_id)
            if asking is None or asking.copy.card.id != card.id:
                raise Conflict(f"call {params.call_id!r} is over; nobody waits for what it asks")
            agent, tool, expires_at = asking.agent, asking.tool, asking.deadline
        return Confirmation(
            new_id("ask"),
            workspace.id,
            workspace.name,
            card.id,
            card.title,
            visible(params.title, MAX_TITLE_CHARS),
            visible(params.message, MAX_MESSAGE_CHARS, multiline=True),
            visible(params.confirm_label, MAX_LABEL_CHARS),
            visible(params.cancel_label, MAX_LABEL_CHARS),
            params.tone,
            now,
            expires_at,
            agent,
            tool,
            params.call_id,
        )


class _Open:
    def __init__(self, confirmation: Confirmation) -> None:
        self.confirmation = confirmation
        self.answered = anyio.Event()
        self.outcome: Outcome = "withdrawn"

    def end(self, outcome: Outcome) -> None:
        """It waits no more."""
        self.outcome = outcome
        self.answered.set()
