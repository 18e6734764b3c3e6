"""A catalog that knows when it was read last, and by that whether its reader knows it; it changes nothing of it."""

from collections.abc import Callable

from toolwire.core.ports import Clock
from toolwire.engine.catalog import Catalog, CompileSchema


class ListedCatalog(Catalog):
    """A catalog that knows when it was read last.

    Attributes:
        listed_at: that moment, in Unix seconds; `None` if it has not been read since the start.
        listed_version: its version then.
        on_listed: is told when it is read.
    """

    def __init__(self, compile_schema: CompileSchema, clock: Clock) -> None:
        super().__init__(compile_schema)
        self._clock = clock
        self.listed_at: float | None = None
        self.listed_version = -1
        self.on_listed: Callable[[], None] = lambda: None

    def listing(self) -> bytes:
        """The list, for somebody who reads it now."""
        self.note_listed()
        return super().listing()

    def note_listed(self) -> None:
        """Somebody reads it now, in whatever form."""
        self.listed_at, self.listed_version = self._clock.now(), self.version
        self.on_listed()
