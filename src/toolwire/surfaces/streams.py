"""The streams that can be resumed: those of requests under way, and for a while of requests that have ended.

What a stream tells of a call lies in the record of that call; kept here is only what no record has: who reads it now,
which requests of ours wait for a response, and the end of requests that nothing is recorded of.
Spec: MCP 2025-11-25 basic/transports#resumability-and-redelivery, #sending-messages-to-the-server.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import partial

import anyio
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.event import Stamped
from toolwire.core.ids import new_id
from toolwire.engine.deadline import Timer
from toolwire.engine.engine import Engine
from toolwire.engine.record import KEPT_EVENTS, Record
from toolwire.surfaces.asked import Asked, Reply
from toolwire.surfaces.event_ids import EventIds, Mark, holder_of
from toolwire.surfaces.exchange import Exchange
from toolwire.wire.mcp.versions import LATEST_LEGACY
from toolwire.wire.sse import comment, event, priming, retry

MAX_NAME_BYTES = 200
"""The longest request id or progress token whose stream can be resumed, because event ids hold them."""


class ResumeLimits(Struct, frozen=True):
    """What is kept of requests that have ended, so that their streams can be resumed.

    Attributes:
        retry_ms: after how long clients should come back.
        kept_s: how long it is kept.
        max_streams: of so many requests.
        max_bytes: so much in all; a quarter of it of one request.
    """

    retry_ms: int = 1000
    kept_s: float = 300.0
    max_streams: int = 1024
    max_bytes: int = 16 * 1024 * 1024


class Stream:
    """One answer that is a stream and can be resumed; `surfaces.exchange.Frames` of whatever it goes out on.

    Attributes:
        id: of the call that it tells of.
        asked: the request that it answers.
        exchange: where it goes out now; `None` while its client is away.
    """

    def __init__(self, streams: "Streams", asked: Asked, exchange: Exchange) -> None:
        self._streams = streams
        self._holder = holder_of(asked.caller, asked.endpoint.agent_id, asked.session)
        self._record: Record | None = None
        self._unrecorded: deque[Stamped] | None = None
        self._requests: dict[int, bytes] = {}
        self._seq = 0
        self._requested = 0
        self.id = asked.call_id or asked.planned_id or new_id("call")
        self.asked = asked
        self.exchange: Exchange | None = exchange
        asked.planned_id = self.id

    @property
    def mark(self) -> Mark:
        """Where it is now."""
        return _mark_of(self.asked, self.id, self._seq, self._requested)

    def first(self) -> bytes:
        """See `surfaces.exchange.Frames`."""
        return priming(self._id(self.mark), self._streams.limits.retry_ms)

    def last(self, body: bytes) -> bytes:
        """See `surfaces.exchange.Frames`."""
        return event(body, self._id(_mark_of(self.asked, self.id, self._seq, self._requested, over=True)))

    def tell(self, stamped: Stamped, body: bytes) -> None:
        """Send what the client hears of an event."""
        if self._find_record() is None:
            if self._unrecorded is None:
                self._unrecorded = deque(maxlen=KEPT_EVENTS)
            self._unrecorded.append(stamped)
        self._seq = stamped.seq
        self._push(event(body, self._id(self.mark)))

    def request(self, body: bytes) -> Callable[[], None]:
        """Send a request of ours; see `Asked.request`."""
        self._requested += 1
        self._requests[self._requested] = body
        self._push(event(body, self._id(self.mark)), owed=True)
        return partial(self._answered, self._requested)

    def pause(self, retry_ms: int | None) -> None:
        """Let the client come back for the rest: end what the stream goes out on."""
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            if retry_ms is not None:
                exchange.push(retry(retry_ms), owed=True)
            exchange.end()

    def attach(self, exchange: Exchange, after: Mark) -> None:
        """Go on from `after` on another exchange; the one before ends."""
        if self.exchange is not None:
            self.exchange.end()
        self.exchange = exchange
        exchange.push(priming(self._id(after), self._streams.limits.retry_ms), owed=True)
        exchange.frames = self
        self._find_record()
        if self.forgotten > after.seq:
            exchange.push(_gap(self.forgotten - after.seq))
        for seq, body in self.notices(after.seq):
            exchange.push(event(body, self._id(_mark_of(self.asked, self.id, seq, after.asked))))
        for number, body in tuple(self._requests.items()):
            if number > after.asked:
                mark = _mark_of(self.asked, self.id, self._seq, number)
                exchange.push(event(body, self._id(mark)), owed=True)

    def left(self, exchange: Exchange) -> None:
        """The client of an exchange is gone."""
        if self.exchange is exchange:
            self.exchange = None

    def notices(self, after: int) -> Sequence[tuple[int, bytes]]:
        """What the client is to hear of the events after that number, with theirs."""
        told = [(stamped.seq, self.asked.notice(stamped.event)) for stamped in self._kept(after)]
        return [(seq, body) for seq, body in told if body is not None]

    @property
    def forgotten(self) -> int:
        """The number of the last event that is not kept any more; 0 when all are."""
        kept = self._kept(0)
        return kept[0].seq - 1 if kept else 0

    @property
    def is_recorded(self) -> bool:
        """Whether the call that it tells of is known to have a record."""
        return self._record is not None

    async def finish(self, reply: Reply | None) -> None:
        """Send the answer wherever the stream goes out now; `None` ends it without one."""
        exchange, self.exchange = self.exchange, None
        if exchange is not None:
            await exchange.finish(200, None if reply is None else reply.body)

    def _id(self, mark: Mark) -> str:
        return self._streams.ids.mint(mark, self._holder)

    def _push(self, frame: bytes, *, owed: bool = False) -> None:
        if self.exchange is not None:
            self.exchange.push(frame, owed=owed)

    def _answered(self, number: int) -> None:
        self._requests.pop(number, None)

    def _kept(self, after: int) -> Sequence[Stamped]:
        if self._record is not None:
            return self._record.since(after)
        return [stamped for stamped in self._unrecorded or () if stamped.seq > after]

    def _find_record(self) -> Record | None:
        if self._record is None and self.asked.call_id is not None:
            self._record = self._streams.engine.find(self.id)
        return self._record


class Held(Struct, frozen=True):
    """The end of a request of which there is no record: what its client heard on the way, and the answer.

    `answer` is `None` where nothing more is to be said; `until` is a moment of the event loop's clock. `forgotten` is
    the number of the last event that is not known any more.
    """

    notices: Sequence[tuple[int, bytes]]
    answer: bytes | None
    until: float
    forgotten: int = 0

    @property
    def size(self) -> int:
        """How many bytes it keeps."""
        return sum(len(body) for _, body in self.notices) + len(self.answer or b"")

    def frames(self, after: Mark, ids: EventIds, holder: bytes) -> list[bytes]:
        """What a client has missed that has come as far as `after`."""
        frames = [_gap(self.forgotten - after.seq)] if self.forgotten > after.seq else []
        frames += [
            event(body, ids.mint(replace(after, seq=seq), holder)) for seq, body in self.notices if seq > after.seq
        ]
        if self.answer is not None:
            frames.append(event(self.answer, ids.mint(replace(after, over=True), holder)))
        return frames


class Streams:
    """All streams of one process that can be resumed.

    Attributes:
        engine: has the records.
        ids: seals where a stream is.
        limits: what is kept.
    """

    def __init__(self, engine: Engine, ids: EventIds, limits: ResumeLimits) -> None:
        self.engine = engine
        self.ids = ids
        self.limits = limits
        self._open: dict[str, Stream] = {}
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._held_bytes = 0
        self._expires: Timer | None = None

    def open(self, asked: Asked, exchange: Exchange) -> Stream:
        """The stream of a request whose answer begins to be one."""
        stream = Stream(self, asked, exchange)
        self._open[stream.id] = stream
        return stream

    def find(self, stream_id: str) -> Stream | Held | None:
        """A stream that is under way, or what is held of one that has ended."""
        return self._open.get(stream_id) or self._held.get(stream_id)

    async def finish(self, stream: Stream, reply: Reply | None) -> None:
        """End a stream with its answer; `None` says that there is none, because the request was cancelled."""
        self._open.pop(stream.id, None)
        if not self._is_stored(stream, reply):
            self._hold(stream, reply)
        await stream.finish(reply)

    def _is_stored(self, stream: Stream, reply: Reply | None) -> bool:
        """Whether the answer can be made again from the record of the call."""
        has_history = self.engine.limits.history_ttl_s > 0
        return has_history and stream.is_recorded and reply is not None and not reply.replayed

    def _hold(self, stream: Stream, reply: Reply | None) -> None:
        now = anyio.current_time()
        notices = () if reply is None else stream.notices(0)
        held = Held(notices, None if reply is None else reply.body, now + self.limits.kept_s, stream.forgotten)
        if held.size > self.limits.max_bytes // 4:
            return
        self._held[stream.id] = held
        self._held_bytes += held.size
        while len(self._held) > self.limits.max_streams or self._held_bytes > self.limits.max_bytes:
            self._forget_oldest()
        if self._expires is None:
            self._expires = self.engine.timekeeper.after(self.limits.kept_s, self._expire)

    def _expire(self) -> None:
        now, self._expires = anyio.current_time(), None
        while self._held:
            oldest = next(iter(self._held.values()))
            if oldest.until > now:
                self._expires = self.engine.timekeeper.at(oldest.until, self._expire)
                return
            self._forget_oldest()

    def _forget_oldest(self) -> None:
        _, held = self._held.popitem(last=False)
        self._held_bytes -= held.size


def can_resume(asked: Asked) -> bool:
    """Whether the stream of a request can be resumed: its client knows how, and an event id has room for its name."""
    return asked.version == LATEST_LEGACY and len(asked.message.id) <= MAX_NAME_BYTES


def _gap(number: int) -> bytes:
    return comment(f"{number} events are not kept any more")


def _mark_of(asked: Asked, stream_id: str, seq: int, requested: int, *, over: bool = False) -> Mark:
    token = asked.progress_token
    told = None if token is None or len(token) > MAX_NAME_BYTES else token.decode()
    return Mark("call", stream_id, seq, requested, over, asked.message.id.decode(), told)
