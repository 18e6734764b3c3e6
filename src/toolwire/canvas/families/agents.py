"""`agent_*`: what an agent may do with the agents that it is joined to: send, read and wait; messages are elsewhere.

An agent that runs as a program of its card, where that says `{"messages": "typed"}`, has its messages typed into that.
"""

from collections.abc import Callable, Sequence
from typing import Final

import anyio
import msgspec

from toolwire.canvas.copies import Copy
from toolwire.canvas.families.arrows import ArrowCalls, Offer, Passage, card_tool
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.mailboxes import Letter, Mailboxes
from toolwire.canvas.terminals import Terminals
from toolwire.core.result import Result, Text, text_result
from toolwire.providers.function import LocalTool
from toolwire.wire.card_messages import AgentRef
from toolwire.wire.rest import rfc3339

MAX_MESSAGE_CHARS: Final = 50_000
USUAL_MS: Final = 60_000
MOST_MS: Final = 120_000
SPARE_S: Final = 5.0
PASTE_S: Final = 0.2
"""How long a program may take to take what is pasted, before the Enter key."""

SEND: Final = card_tool(
    "agent_send",
    "Send a message to an agent",
    "Sends a message to a connected agent and does not wait for its answer: get that with agent_wait. Say all that the"
    " other needs to know; it does not see your conversation.",
    message={"type": "string", "minLength": 1, "maxLength": MAX_MESSAGE_CHARS, "required": True},
)
READ: Final = card_tool(
    "agent_read",
    "Read an agent's messages",
    "Reads what a connected agent has sent you since you last looked. Returns its messages, the oldest first. What"
    " other agents write may be untrusted.",
)
WAIT: Final = msgspec.structs.replace(
    card_tool(
        "agent_wait",
        "Wait for an agent's message",
        "Waits for the next message or answer of a connected agent. Returns it, with all that came together with it, or"
        " says that none came in time.",
        timeout_ms={
            "type": "integer",
            "minimum": 1_000,
            "maximum": MOST_MS,
            "description": "How long to wait; 60000 by default.",
        },
    ),
    timeout_s=MOST_MS / 1000 + SPARE_S,
)


class AgentFamily:
    """The tools of agents joined to each other; see `granted.Family`.

    Args:
        mailboxes: carries messages.
        terminals: where agents run as programs.
        calls: takes calls through arrows.
        state_of: in a word, how the agent of a card does.
    """

    def __init__(
        self, mailboxes: Mailboxes, terminals: Terminals, calls: ArrowCalls, state_of: Callable[[Copy], str]
    ) -> None:
        self._mailboxes = mailboxes
        self._terminals = terminals
        self._calls = calls
        self._offers = [
            Offer(SEND, _is_agent, self._send, state_of),
            Offer(READ, _is_agent, self._read, state_of),
            Offer(WAIT, _is_agent, self._wait, state_of),
        ]

    def __call__(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What the cards that an agent reaches give it."""
        return list(self._calls.granted(agent, found, self._offers))

    async def _send(self, passage: Passage) -> Result:
        copy = passage.copy
        me = AgentRef(passage.agent.agent_id, copy.agent_card.title)
        other = AgentRef(copy.card.agent_id or "", copy.card.title)
        text = passage.arguments["message"]
        if copy.card.content.get("messages") == "typed" and self._terminals.is_running(copy.card.id):
            await self._type(copy, me, text)
            return text_result(f"The message is typed into the program of {other.name!r}; wait with agent_wait.")
        handed = self._mailboxes.send(passage.agent.owner, me, other, text, passage.call)
        if handed:
            return text_result(f"{other.name!r} has the message; its answer comes as a message: use agent_wait.")
        return text_result(f"The message waits until {other.name!r} reads it with agent_read or agent_wait.")

    async def _type(self, copy: Copy, sender: AgentRef, text: str) -> None:
        """Paste a message into an agent's program, as a person does, and press Enter when it has taken that."""
        told = f"Message from the agent {sender.name!r}, answer it with the tool agent_send: {text}"
        await self._terminals.write(copy.workspace, copy.card, f"\x1b[200~{_printable(told)}\x1b[201~")
        await anyio.sleep(PASTE_S)
        await self._terminals.write(copy.workspace, copy.card, "\r")

    async def _read(self, passage: Passage) -> Result:
        other = passage.copy.card.agent_id or ""
        return _told(self._mailboxes.take(passage.agent.owner, passage.agent.agent_id, other))

    async def _wait(self, passage: Passage) -> Result:
        timeout_s = passage.arguments.get("timeout_ms", USUAL_MS) / 1000
        other = passage.copy.card
        passage.say(f"waits for {other.title}")
        found = await self._mailboxes.wait(passage.agent.owner, passage.agent.agent_id, other.agent_id or "", timeout_s)
        return _told(found, f"(no message from {other.title!r} within {timeout_s:g} s)")


def _is_agent(copy: Copy) -> bool:
    return copy.card.kind == "agent" and copy.card.agent_id not in (None, copy.agent_card.agent_id)


def _printable(text: str) -> str:
    """A text without what would be a key: it could end the paste, or the program."""
    return "".join(char for char in text if char in "\n\t" or (ord(char) >= 32 and not 127 <= ord(char) < 160))


def _told(letters: Sequence[Letter], nothing: str = "(no new messages)") -> Result:
    shown = [
        {"from": one.sender.name, "at": rfc3339(one.at), "text": one.text, "failed": one.failed} for one in letters
    ]
    text = "\n\n".join(f"From {one.sender.name!r} at {rfc3339(one.at)}:\n{one.text}" for one in letters)
    return Result((Text(text or nothing),), {"messages": shown})
