"""The calls of each owner as they happen: a moment when one begins, goes on or ends; it holds no truth.

The engine is asked for its calls while somebody looks, and for a while after that, so that a reader who comes back goes
on where it left off.
"""

from typing import Final

from toolwire.core.event import Finished, Log, Progress, Stamped
from toolwire.engine.deadline import Timer
from toolwire.engine.engine import Engine
from toolwire.engine.record import Record
from toolwire.gateway.shown_calls import ShownCalls
from toolwire.surfaces.feed import Feed, Follower, Moment

LEAST_GAP_S: Final = 0.25
"""Between two moments of one call that only goes on."""
KEPT_FOR_S: Final = 120.0
"""How long an owner's moments are kept when nobody reads them any more. Who reads comes back every 15 s at least."""
CALL: Final = "call"


class CallFeed:
    """Tells of calls.

    Args:
        engine: runs them.
        shown: shows them.
    """

    def __init__(self, engine: Engine, shown: ShownCalls) -> None:
        self._engine = engine
        self._shown = shown
        self._feed = Feed()
        self._looked_at: dict[str, float] = {}

    def follow(self, owner: str, after: str | None = None) -> "CallFollower":
        """Read what happens from now on, or since the moment `after`; see `surfaces.feed.Feed.follow`."""
        self.look(owner)
        return CallFollower(self, owner, self._feed.follow(owner, after))

    def position(self, owner: str) -> str:
        """The moment that is the latest now, to follow after it."""
        self.look(owner)
        return self._feed.position(owner)

    def look(self, owner: str) -> None:
        """Somebody reads an owner's moments now."""
        self._looked_at[owner] = self._engine.clock.now()
        if self._observe not in self._engine.observers:
            self._engine.observers.append(self._observe)

    def _observe(self, record: Record) -> None:
        owner = record.call.caller.owner
        looked_at = self._looked_at.get(owner)
        if looked_at is None:
            return
        if self._engine.clock.now() > looked_at + KEPT_FOR_S:
            self._forget(owner)
        else:
            _Told(self, record, owner).begin()

    def _forget(self, owner: str) -> None:
        del self._looked_at[owner]
        self._feed.forget(owner)
        if not self._looked_at:
            self._engine.observers.remove(self._observe)

    def tell(self, owner: str, record: Record) -> None:
        """A call of an owner's as it is now."""
        self._feed.tell(owner, CALL, self._shown.summary(record))

    def later(self, told: "_Told") -> Timer:
        """Ring when a call may be told of again."""
        return self._engine.timekeeper.after(LEAST_GAP_S, told.gap_over)


class CallFollower:
    """One reader of an owner's calls."""

    def __init__(self, feed: CallFeed, owner: str, follower: Follower) -> None:
        self._feed = feed
        self._owner = owner
        self._follower = follower

    async def next(self) -> Moment | None:
        """The next moment, when it comes; see `surfaces.feed.Follower.next`."""
        self._feed.look(self._owner)
        return await self._follower.next()


class _Told:
    """One call, from its beginning to its end."""

    def __init__(self, feed: CallFeed, record: Record, owner: str) -> None:
        self._feed = feed
        self._record = record
        self._owner = owner
        self._timer: Timer | None = None
        self._is_news = False

    def begin(self) -> None:
        self._record.listen(self._hear)
        self._tell()

    def _hear(self, stamped: Stamped) -> None:
        match stamped.event:
            case Finished():
                if self._timer is not None:
                    self._timer.cancel()
                self._tell()
            case Progress() | Log():
                self._is_news = True
                if self._timer is None:
                    self._tell_news()
            case _:
                return

    def gap_over(self) -> None:
        self._timer = None
        if self._is_news and not self._record.over:
            self._tell_news()

    def _tell_news(self) -> None:
        self._is_news = False
        self._tell()
        self._timer = self._feed.later(self)

    def _tell(self) -> None:
        self._feed.tell(self._owner, self._record)
