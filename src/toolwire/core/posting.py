"""The port through which bytes are posted to addresses that others have named; it does not open connections."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct


class Posted(Struct, frozen=True, omit_defaults=True):
    """What came of one attempt.

    `status` is the HTTP status of the answer, `None` when there was none; `error` then says why, in words for whoever
    named the address. `blocked` says that the address may not be asked at all. `retry_after_s` is what the receiver
    wants to be waited for.
    """

    status: int | None = None
    error: str = ""
    blocked: bool = False
    retry_after_s: float | None = None

    @property
    def received(self) -> bool:
        """Whether the receiver has taken it."""
        return self.status is not None and 200 <= self.status < 300


class Poster(Protocol):
    """Posts to receivers on the public internet, and nowhere else (gateway.md 35, D26)."""

    async def check(self, url: str) -> str | None:
        """Why `url` may not be asked, as far as can be told now; `None` if it may. It never raises."""
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Posted:
        """One attempt: the address is checked anew, the connection goes to what was checked. It never raises."""
        ...
