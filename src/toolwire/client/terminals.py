"""What a client asks of terminals, and about what cards ask their user; it sends nothing.

Spec: cards.md, section 7.
"""

from msgspec.structs import replace

from toolwire.client.asks import Ask, get, part, post, present
from toolwire.client.doors import D, Group, Method
from toolwire.wire.answers.boards import CommandEnd, TerminalScreen, TerminalStatus, WaitingQuestions


class TerminalCalls(Group[D]):
    """Terminals, and the programs of agents' cards, by an owner's key. One is named by its card's id."""

    @Method
    def run(self, card: str, command: str, timeout_ms: int | None = None) -> Ask[CommandEnd]:
        """Run a command to its end, or to its time-out."""
        return post(_terminal(card, "run"), CommandEnd, present(command=command, timeout_ms=timeout_ms))

    @Method
    def write(self, card: str, data: str) -> Ask[None]:
        """Send characters, as if typed; a carriage return is the Enter key."""
        return post(_terminal(card, "write"), type(None), {"data": data})

    @Method
    def resize(self, card: str, columns: int, rows: int) -> Ask[None]:
        """Give the window another size, in characters."""
        ask = post(_terminal(card, "resize"), type(None), {"columns": columns, "rows": rows})
        return replace(ask, idempotent=True)

    @Method
    def start(self, card: str) -> Ask[TerminalStatus]:
        """Start the program of an agent's card."""
        return post(_terminal(card, "start"), TerminalStatus)

    @Method
    def kill(self, card: str) -> Ask[None]:
        """End what runs, with everything that it has started."""
        return post(_terminal(card, "kill"), type(None))

    @Method
    def screen(self, card: str, lines: int | None = None) -> Ask[TerminalScreen]:
        """The last lines, as text."""
        return get(_terminal(card, "screen"), TerminalScreen, {"lines": lines})


class ConfirmationCalls(Group[D]):
    """What cards of a workspace ask their user, by an owner's key."""

    @Method
    def list(self, workspace: str) -> Ask[WaitingQuestions]:
        """The questions that wait."""
        return get(_confirmations(workspace), WaitingQuestions)

    @Method
    def answer(self, workspace: str, confirmation: str, confirmed: bool) -> Ask[None]:
        """Answer a question, so that the card goes on."""
        path = f"{_confirmations(workspace)}/{part(confirmation)}"
        return post(path, type(None), {"confirmed": confirmed})


def _terminal(card: str, what: str) -> str:
    return f"/terminals/{part(card)}/{what}"


def _confirmations(workspace: str) -> str:
    return f"/workspaces/{part(workspace)}/confirmations"
