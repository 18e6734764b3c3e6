"""cards.md §4: messages between agents wait for a while, and take no room for ever."""

from toolwire.adapters.memory import MemoryStore
from toolwire.canvas.mailboxes import MAX_WAITING, SWEEP_S, Mailboxes
from toolwire.core.call import Call, Caller
from toolwire.core.result import Result
from toolwire.engine.recorder import Recorder
from toolwire.wire.card_messages import AgentRef

KEPT_S = 3_600.0
WRITER, CRITIC = AgentRef("agent_writer", "writer"), AgentRef("agent_critic", "critic")
CAUSE = Call("call_1", Caller("me", "me", "toolbox"), "agent_send", {}, 2_000_000_000.0)


class Now:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


class NobodyThere:
    """Agents of whom none is attached."""

    def takes(self, owner: str, agent_id: str) -> bool:
        return False

    async def hand(self, owner: str, agent_id: str, sender: AgentRef, text: str, cause: Call) -> Result:
        raise AssertionError("nobody takes messages")


async def opened(clock: Now, store: MemoryStore | None = None) -> Mailboxes:
    kept = store or MemoryStore(clock)
    mailboxes = Mailboxes(NobodyThere(), kept, Recorder(kept), clock, KEPT_S)
    await mailboxes.load()
    return mailboxes


async def test_a_message_that_was_not_read_in_time_is_gone_from_memory_as_from_the_store() -> None:
    clock = Now()
    mailboxes = await opened(clock)
    mailboxes.send("me", WRITER, CRITIC, "old", CAUSE)
    clock.at += KEPT_S - 1
    mailboxes.send("me", WRITER, CRITIC, "new", CAUSE)
    assert mailboxes.waiting("me", CRITIC.id, WRITER.id) == 2
    clock.at += 2
    assert mailboxes.waiting("me", CRITIC.id, WRITER.id) == 1
    assert [one.text for one in await mailboxes.wait("me", CRITIC.id, WRITER.id, 5)] == ["new"]
    assert await mailboxes.wait("me", CRITIC.id, WRITER.id, 0) == []


async def test_messages_that_nobody_will_read_hold_up_no_later_ones() -> None:
    clock = Now()
    mailboxes = await opened(clock)
    for _ in range(MAX_WAITING):
        mailboxes.send("me", WRITER, CRITIC, "x", CAUSE)
    clock.at += KEPT_S + SWEEP_S
    mailboxes.send("me", WRITER, CRITIC, "y", CAUSE)
    assert [one.text for one in mailboxes.take("me", CRITIC.id, WRITER.id)] == ["y"]
