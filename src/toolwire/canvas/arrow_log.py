"""The calls of each arrow: what is told of them while they run, and what is kept of them; it runs none.

A label follows the feed: one moment `call` when a call begins, at each progress and when it ends. The store keeps short
previews alone, memory the latest calls as they were, and of an arrow that is not recorded nothing is kept of what went
through (cards.md 63-65, decisions 38, 39).
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.canvas.secret_values import without_secrets
from toolwire.canvas.whole_calls import ProgressLine, WholeCall, WholeCalls
from toolwire.core.board import Arrow
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock, Put, Store
from toolwire.core.result import Result
from toolwire.engine.recorder import Recorder
from toolwire.surfaces.feed import Feed
from toolwire.surfaces.previews import cut_short, json_preview, result_preview
from toolwire.wire.card_messages import AgentRef
from toolwire.wire.rest import rfc3339

KEPT_CALLS = 200
"""Of one arrow."""
HELD_ARROWS = 256
"""Arrows whose calls are held in memory, those used last."""

Status: TypeAlias = Literal["running", "ok", "error", "timeout", "cancelled", "denied"]
_STATUS: Mapping[str, Status] = {
    "service_timeout": "timeout",
    "cancelled": "cancelled",
    "forbidden": "denied",
    "consent_required": "denied",
}


class LoggedCall(Struct, frozen=True, omit_defaults=True):
    """What is kept of a call. `tool` is the exposed name; texts are previews; times are Unix seconds, UTC."""

    call_id: str
    tool: str
    caller: AgentRef
    started_at: float
    status: Status = "running"
    ended_at: float | None = None
    arguments: str = ""
    progress: str = ""
    result_preview: str = ""
    error: str | None = None


class RunningCall:
    """A call on its way through an arrow. `update` it as it goes on, and `end` it once.

    Attributes:
        place: where it goes.
        logged: what is told of it.
        stop: ends it at its user's wish, if whoever runs it can.
    """

    def __init__(self, log: "ArrowLog", place: "Place", logged: LoggedCall) -> None:
        self._log = log
        self.place = place
        self.logged = logged
        self.stop: Callable[[], None] | None = None

    def progress(self, text: str) -> None:
        """The latest line of it."""
        self._log.update(self, msgspec.structs.replace(self.logged, progress=text))

    def end(self, result: Result) -> None:
        """How it ended; a second end changes nothing."""
        if self.logged.status == "running":
            self._log.end(self, result)


class Place(Struct, frozen=True):
    """The arrow that a call goes through, and where that is."""

    owner: str
    workspace: str
    arrow: Arrow


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(LoggedCall).decode


class ArrowLog:
    """The calls of all arrows.

    Args:
        store: has what was kept.
        recorder: keeps what is new, behind the calls.
        clock: tells the time.
        feed: is told.
        history_ttl_s: how long a call is kept, in seconds.
    """

    def __init__(self, store: Store, recorder: Recorder, clock: Clock, feed: Feed, history_ttl_s: float) -> None:
        self._store = store
        self._recorder = recorder
        self._clock = clock
        self._feed = feed
        self._history_ttl_s = history_ttl_s
        self._held: OrderedDict[str, deque[LoggedCall]] = OrderedDict()
        self._whole = WholeCalls()
        self._running: dict[str, dict[str, RunningCall]] = {}

    def begin(
        self, place: Place, call_id: str, tool: str, caller: AgentRef, arguments: JsonObject, schema: JsonObject
    ) -> RunningCall:
        """A call goes through an arrow from now on; `schema` says what of its arguments is secret."""
        shown = ""
        if place.arrow.recorded:
            kept, hidden = without_secrets(arguments, schema)
            shown = json_preview(kept)
            self._whole.begin(place.arrow.id, call_id, kept, hidden)
        logged = LoggedCall(call_id, tool, caller, self._clock.now(), arguments=shown)
        running = RunningCall(self, place, logged)
        self._running.setdefault(place.arrow.id, {})[call_id] = running
        self._tell(running)
        return running

    def update(self, running: RunningCall, logged: LoggedCall) -> None:
        """Tell of a call what is new."""
        whole = self.whole(running.place.arrow.id, logged.call_id)
        if whole is not None and logged.progress and logged.progress != running.logged.progress:
            whole.say(ProgressLine(self._clock.now(), logged.progress))
        running.logged = logged
        self._tell(running)

    def end(self, running: RunningCall, result: Result) -> None:
        """Keep a call that has ended."""
        place, error = running.place, result.error
        seen = place.arrow.recorded
        ended = msgspec.structs.replace(
            running.logged,
            status=ended_as(result),
            ended_at=self._clock.now(),
            progress=running.logged.progress if seen else "",
            result_preview=result_preview(result) if seen else "",
            error=None if error is None else cut_short(error.message if seen else error.code),
        )
        mine = self._running.get(place.arrow.id, {})
        mine.pop(ended.call_id, None)
        if not mine:
            self._running.pop(place.arrow.id, None)
        self._whole.end(place.arrow.id, ended.call_id, result)
        self._hold(place.arrow.id, ended)
        key, expires_at = f"{place.arrow.id}/{ended.call_id}", self._clock.now() + self._history_ttl_s
        self._recorder.add(lambda: (Put("arrow_call", place.owner, key, _encode(ended), None, expires_at),))
        self.update(running, ended)

    async def read(
        self, owner: str, arrow_id: str, limit: int, after: str | None = None, before: str | None = None
    ) -> list[LoggedCall]:
        """The latest calls of an arrow, at most `limit`; the oldest first, running ones last.

        Args:
            owner: whose arrow it is.
            arrow_id: the arrow.
            limit: how many.
            after: only calls after this one, and of those the first.
            before: only calls before this one, and of those the last.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        known = await self._known(owner, arrow_id)
        ids = [call.call_id for call in known]
        if before in ids:
            known = known[: ids.index(before)]
        elif before is not None:  # it is not kept any more
            known = [call for call in known if call.call_id < before]
        if after is None:
            return known[-limit:]
        ids = [call.call_id for call in known]
        if after in ids:
            return known[ids.index(after) + 1 :][:limit]
        return [call for call in known if call.call_id > after][:limit]

    async def find(self, owner: str, arrow_id: str, call_id: str) -> LoggedCall | None:
        """One call of an arrow, if it is still kept.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        return next((one for one in await self._known(owner, arrow_id) if one.call_id == call_id), None)

    def whole(self, arrow_id: str, call_id: str) -> WholeCall | None:
        """A call as it was, if it is one of the latest and was recorded."""
        return self._whole.get(arrow_id, call_id)

    def running(self, arrow_id: str, call_id: str) -> RunningCall | None:
        """A call that runs."""
        return self._running.get(arrow_id, {}).get(call_id)

    def let_go(self, arrow_id: str) -> None:
        """The arrow is gone for good: what is kept of it ends with its time."""
        self._held.pop(arrow_id, None)
        self._whole.forget(arrow_id)

    async def _known(self, owner: str, arrow_id: str) -> list[LoggedCall]:
        held = self._held.get(arrow_id)
        if held is None:
            held = await self._load(owner, arrow_id)
        return [*held, *(one.logged for one in self._running.get(arrow_id, {}).values())]

    async def _load(self, owner: str, arrow_id: str) -> deque[LoggedCall]:
        await self._recorder.caught_up()
        rows = await self._rows(owner, arrow_id)
        held = self._held.get(arrow_id)  # a call may have ended while we read
        known = {call.call_id for call in held or ()}
        loaded = deque((call for _, call in rows if call.call_id not in known), maxlen=KEPT_CALLS)
        loaded.extend(held or ())
        self._held[arrow_id] = loaded
        self._let_go_of_old()
        return loaded

    async def _rows(self, owner: str, arrow_id: str) -> Sequence[tuple[str, LoggedCall]]:
        found: list[tuple[str, LoggedCall]] = []
        after = f"{arrow_id}/"
        while rows := await self._store.scan("arrow_call", owner, after, 1000):
            mine = [(row.key, _decode(row.value)) for row in rows if row.key.startswith(f"{arrow_id}/")]
            found += mine
            if len(mine) < len(rows):
                break
            after = rows[-1].key
        return sorted(found, key=lambda row: row[1].started_at)  # keys of one millisecond are in no order

    def _hold(self, arrow_id: str, ended: LoggedCall) -> None:
        held = self._held.get(arrow_id)
        if held is not None:  # else the store has it, for whoever reads
            held.append(ended)
            self._held.move_to_end(arrow_id)

    def _let_go_of_old(self) -> None:
        while len(self._held) > HELD_ARROWS:
            self._held.popitem(last=False)

    def _tell(self, running: RunningCall) -> None:
        self._feed.tell(
            running.place.workspace, "call", {"arrow": running.place.arrow.id, **shown_call(running.logged)}
        )


def ended_as(result: Result) -> Status:
    """The status of a call that has ended so."""
    return "ok" if result.error is None else _STATUS.get(result.error.code, "error")


def shown_call(call: LoggedCall) -> JsonObject:
    """A call as the REST surface shows it (cards.md, section 7)."""
    shown: JsonObject = {
        "call_id": call.call_id,
        "tool": call.tool,
        "caller": {"id": call.caller.id, "name": call.caller.name},
        "status": call.status,
        "started_at": rfc3339(call.started_at),
        "ended_at": None if call.ended_at is None else rfc3339(call.ended_at),
        "arguments": call.arguments,
        "progress": call.progress,
        "result_preview": call.result_preview,
    }
    return shown if call.error is None else {**shown, "error": call.error}
