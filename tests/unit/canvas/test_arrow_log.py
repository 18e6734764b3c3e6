"""The log of an arrow: in the order of its calls, also of those whose ids say nothing about that (cards.md 64)."""

from typing import Any

from tests.unit.engine.fakes import running
from toolwire.adapters.memory import MemoryStore
from toolwire.canvas.arrow_log import ArrowLog, Place
from toolwire.core.board import Arrow
from toolwire.core.result import text_result
from toolwire.surfaces.feed import Feed
from toolwire.wire.card_messages import AgentRef

PLACE = Place("alice", "ws_1", Arrow("arrow_1", "card_1", "card_2"))
WRITER = AgentRef("agent_1", "writer")


class Steps:
    """A clock that goes on by a moment at each look."""

    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        self.at += 0.000_1
        return self.at


async def test_calls_of_one_millisecond_are_in_their_order_and_read_on_from_any_of_them():
    store = MemoryStore(Steps())
    async with running(store) as engine:
        log = ArrowLog(store, engine.recorder, Steps(), Feed(), 3600)
        for call_id in ("call_c", "call_a", "call_d", "call_b"):
            log.begin(PLACE, call_id, "work", WRITER, {}, {}).end(text_result("done"))

        async def ids(**more: Any) -> list[str]:
            return [call.call_id for call in await log.read("alice", "arrow_1", 10, **more)]

        for _ in range(2):  # from the store, then from memory
            assert await ids() == ["call_c", "call_a", "call_d", "call_b"]
            assert await ids(after="call_a") == ["call_d", "call_b"]
        assert await ids(after="call_bb") == ["call_c", "call_d"]
