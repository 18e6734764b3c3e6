"""The numbered moments of something that people look at, such as a workspace, for everybody who does.

It keeps the latest of them, so that a reader who was away goes on where it left off, and tells one who was away too
long to read everything anew. It holds no truth: boards, logs and records do.
"""

from collections import deque

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.sse import event

KEPT_MOMENTS = 1024
"""For each subject, of those that happened since somebody first looked at it."""
KEPT_BYTES = 8 * 1024 * 1024
"""Of the moments of a subject together, as JSON; the latest is kept whatever its size."""


class Moment(Struct, frozen=True):
    """Something that happened. `id` is opaque to readers, and what they give back to go on."""

    id: str
    kind: str
    data: JsonObject

    def frame(self) -> bytes:
        """The moment as an event of an event stream; its kind is the data's `type`."""
        return event(_encode({"type": self.kind, **self.data}), self.id)


_encode = msgspec.json.Encoder().encode

RESET = "reset"
"""The kind of the first moment of a reader that has missed some: what it knows is stale."""


class _Page:
    """One subject's moments; `first` is the number of the oldest that is kept, 0 when the subject is gone."""

    def __init__(self) -> None:
        self.first = 1
        self.moments: deque[Moment] = deque()
        self.sizes: deque[int] = deque()
        self.n_bytes = 0
        self.news = anyio.Event()

    @property
    def last(self) -> int:
        return self.first + len(self.moments) - 1

    def add(self, moment: Moment, kept: int) -> None:
        """Keep a moment, and let go of the oldest that are too many or too much."""
        size = len(_encode(moment.data))
        self.moments.append(moment)
        self.sizes.append(size)
        self.n_bytes += size
        while len(self.moments) > kept or (self.n_bytes > KEPT_BYTES and len(self.moments) > 1):
            self.moments.popleft()
            self.n_bytes -= self.sizes.popleft()
            self.first += 1


class Follower:
    """One reader of a subject. `seen` is the number of the last moment it has had, `None` if that is not known."""

    def __init__(self, page: _Page, age: str, seen: int | None) -> None:
        self._page = page
        self._age = age
        self._seen = seen

    async def next(self) -> Moment | None:
        """The next moment, when it comes; `None` when the subject is gone. A cancelled call has missed nothing."""
        page = self._page
        while page.first > 0:
            if self._seen is None or self._seen + 1 < page.first:
                self._seen = page.last
                return Moment(f"{self._age}-{page.last}", RESET, {})
            if self._seen < page.last:
                self._seen += 1
                return page.moments[self._seen - page.first]
            await page.news.wait()
        return None


class Feed:
    """The moments of all subjects, in this process. Numbers begin anew with it, which readers notice by the id."""

    def __init__(self, kept: int = KEPT_MOMENTS) -> None:
        self._kept = kept
        self._age = new_id("feed")[-8:]
        self._pages: dict[str, _Page] = {}

    def tell(self, subject: str, kind: str, data: JsonObject) -> None:
        """Something has happened; readers are woken, and nobody is waited for.

        Nothing is kept of a subject that nobody has looked at, or that is gone: nobody could go on from there.
        """
        page = self._pages.get(subject)
        if page is None:
            return
        page.add(Moment(f"{self._age}-{page.last + 1}", kind, data), self._kept)
        page.news.set()
        page.news = anyio.Event()

    def forget(self, subject: str) -> None:
        """The subject is gone: its readers end."""
        page = self._pages.pop(subject, None)
        if page is not None:
            page.first = 0
            page.moments.clear()
            page.news.set()

    def follow(self, subject: str, after: str | None = None) -> "Follower":
        """Read what happens from now on, or since the moment whose id is `after`, until the subject is gone.

        A reader whose moment is not kept any more gets a `RESET` first, whose id is that of now.
        """
        page = self._pages.setdefault(subject, _Page())
        return Follower(page, self._age, page.last if after is None else self._number(page, after))

    def position(self, subject: str) -> str:
        """The id of the latest moment, to follow after it; from now on moments are kept."""
        return f"{self._age}-{self._pages.setdefault(subject, _Page()).last}"

    def _number(self, page: _Page, id_: str) -> int | None:
        """The number in an id of ours, if all that came after it is still kept."""
        age, _, digits = id_.partition("-")
        if age != self._age or not (digits.isascii() and digits.isdigit() and len(digits) < 16):
            return None
        number = int(digits)
        return number if page.first - 1 <= number <= page.last else None
