"""The lists of an MCP server: fetched page by page, kept until they are old; it makes nothing of what is listed."""

from collections.abc import Callable, MutableMapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import anyio
from msgspec import Struct

from toolwire.providers.remote_server import Listing

if TYPE_CHECKING:
    from mcp import Client

    from toolwire.providers.remote_changes import Following

MAX_PAGES = 200
MAX_LISTED = 5000
METHOD_NOT_FOUND = -32601

_METHODS: dict[Listing, tuple[str, str]] = {
    "tools": ("list_tools", "tools"),
    "prompts": ("list_prompts", "prompts"),
    "resources": ("list_resources", "resources"),
    "templates": ("list_resource_templates", "resource_templates"),
}
"""By listing: the official client's method, and where a page has its entries."""


class Fetched(Struct, frozen=True):
    """A whole list.

    Attributes:
        entries: in the server's order.
        ttl_s: how long they may be used unless the server tells of a change; 0 where it has not said.
        shared: whether others may be shown them, too, or the caller alone who asked.
    """

    entries: tuple[Any, ...]
    ttl_s: float = 0.0
    shared: bool = False


async def fetch(client: "Client", listing: Listing) -> Fetched:
    """All pages of a list.

    Raises:
        ValueError: it does not end, or goes round in a circle.
    """
    method, place = _METHODS[listing]
    entries: list[Any] = []
    ttls_ms: list[int] = []
    shared = True
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        try:
            page = await getattr(client, method)(cursor=cursor)
        except Exception as error:
            unknown = getattr(error, "code", None) == METHOD_NOT_FOUND
            if unknown and (listing == "templates" or getattr(client.server_capabilities, listing) is None):
                return Fetched(())  # many a server that has resources knows no templates, and some have no tools
            raise
        entries += getattr(page, place)
        ttls_ms.append(page.ttl_ms)
        shared = shared and page.cache_scope == "public"
        cursor = page.next_cursor
        if cursor is None:
            return Fetched(tuple(entries), min(ttls_ms) / 1000, shared)
        if cursor in seen:
            raise ValueError(f"its page {cursor[:50]!r} comes a second time")
        seen.add(cursor)
        if len(entries) > MAX_LISTED:
            break
    raise ValueError(f"it lists more than {MAX_LISTED} {listing} or {MAX_PAGES} pages")


class Source(Protocol):
    """A connection that has lists."""

    @property
    def following(self) -> "Following":
        """Which of them have changed."""
        ...

    async def fetch(self, name: str, listing: Listing) -> Fetched:
        """One of them; messages call the server `name`.

        Raises:
            ServiceUnavailable: the server does not list it.
            SessionGone: connect anew and ask again.
        """
        ...


class Entry(Struct, frozen=True):
    """A list, and the moment of the event loop's clock from which it is old."""

    made: Any
    until: float


Shelf: TypeAlias = MutableMapping[Listing, Entry]
"""Lists that a server lets everybody see, kept for all its connections."""


class Kept:
    """One list of one server, as new as the server says it must be; the value is what `make` made of it.

    Args:
        name: what messages call the server.
        listing: which list.
        make: what is kept of the entries.
        shelf: where lists are that everybody may see.
        empty: the value before there is a list.
    """

    def __init__(
        self, name: str, listing: Listing, make: Callable[[tuple[Any, ...]], Any], shelf: Shelf, empty: Any
    ) -> None:
        self.value = empty
        self._name = name
        self._listing: Listing = listing
        self._make = make
        self._shelf = shelf
        self._lock = anyio.Lock()
        self._by: Source | None = None
        self._at = 0.0
        self._until = 0.0

    async def fresh(self, connection: Source, max_age_s: float | None = None) -> Any:
        """The value, as it is on this connection.

        Args:
            connection: whom to ask.
            max_age_s: how old it may be where the server does not tell of changes.

        Raises:
            ServiceUnavailable, SessionGone: as `Source.fetch`.
        """
        if self._lock.locked() or not self._is_fresh(connection, max_age_s):  # what is being renewed is old
            async with self._lock:
                if not self._is_fresh(connection, max_age_s):
                    await self._renew(connection)
        return self.value

    def _is_fresh(self, connection: Source, max_age_s: float | None) -> bool:
        if self._by is not connection or self._listing in connection.following.stale:
            return False
        now = anyio.current_time()
        if now >= self._until:
            return False
        followed = ("resources" if self._listing == "templates" else self._listing) in connection.following.followed
        return max_age_s is None or followed or self._until != float("inf") or now - self._at <= max_age_s

    async def _renew(self, connection: Source) -> None:
        now = anyio.current_time()
        shelved = self._shelf.get(self._listing)
        if shelved is not None and now < shelved.until and self._by is not connection:
            connection.following.stale.discard(self._listing)
            self.value, self._until = shelved.made, shelved.until
        else:
            fetched = await connection.fetch(self._name, self._listing)
            self.value = self._make(fetched.entries)
            self._until = now + fetched.ttl_s if fetched.ttl_s > 0 else float("inf")
            if fetched.shared and fetched.ttl_s > 0:
                self._shelf[self._listing] = Entry(self.value, self._until)
        self._by, self._at = connection, now
