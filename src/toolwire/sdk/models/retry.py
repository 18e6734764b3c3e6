"""When a model is asked again and after how long: the one place that decides it; it sends nothing itself.

The official clients' own retries are off. Asking again is given up as soon as parts of an answer have been handed on,
since they cannot be taken back: whoever got them decides, from `ProviderError.retryable`.
"""

import logging
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

import anyio

from toolwire.sdk.errors import ProviderError

LOGGER = logging.getLogger("toolwire.sdk.models")

T = TypeVar("T")

_LONGEST_DOUBLING = 32
"""Doublings beyond this one are far above any `max_delay_s`, and would only overflow."""


@dataclass(frozen=True)
class Retries:
    """How a provider asks again after an error that may pass: 408, 409, 429, 5xx, an overload, a lost connection.

    Attributes:
        limit: how often it asks again; 0 for never.
        first_delay_s: the wait before the first time; it doubles each time.
        max_delay_s: the longest of these waits.
        max_retry_after_s: the longest wait that a server may ask for. One that asks for more is not waited for: the
            error says what it asked for.
        sleep: waits for that many seconds.
    """

    limit: int = 2
    first_delay_s: float = 0.5
    max_delay_s: float = 30.0
    max_retry_after_s: float = 60.0
    sleep: Callable[[float], Awaitable[object]] = anyio.sleep

    def __post_init__(self) -> None:
        if self.limit < 0:
            raise ValueError(f"Retries(limit) must be 0 or more, got {self.limit!r}")

    def delay_s(self, tries: int, asked_s: float | None = None) -> float:
        """How long to wait after the failure of try number `tries`, from 1.

        What the server asked for is the least, and some more keeps all who were sent away from coming back at once;
        else it is somewhere in the upper half of the doubled delay.
        """
        if asked_s is not None:
            return asked_s + random.uniform(0, min(1.0, asked_s / 10))
        full = min(self.max_delay_s, self.first_delay_s * 2 ** min(tries - 1, _LONGEST_DOUBLING))
        return random.uniform(full / 2, full)

    async def keep_asking(self, ask: Callable[[], Awaitable[T]], heard: Callable[[], bool], who: str) -> T:
        """`ask()` until it answers, as often as these rules allow.

        Args:
            ask: one try.
            heard: whether a part of its answer has been handed on already.
            who: the provider and model, for the log.

        Raises:
            ProviderError: the last try's; it carries how many there were, in `attempts`.
        """
        tries = 0
        while True:
            try:
                return await ask()
            except ProviderError as error:
                tries += 1
                error.attempts = tries
                if not self._again(error, tries) or heard():
                    raise
                delay = self.delay_s(tries, error.retry_after_s)
                LOGGER.warning("%s: asking again in %.1f s (%d of %d): %s", who, delay, tries, self.limit, error)
            await self.sleep(delay)

    def _again(self, error: ProviderError, tries: int) -> bool:
        if not error.retryable or tries > self.limit:
            return False
        return error.retry_after_s is None or error.retry_after_s <= self.max_retry_after_s


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """How long a response asks to wait, in seconds from `now` (Unix seconds); `None` where it does not say.

    Spec: RFC 9110, 10.2.3 (seconds or a date), and `retry-after-ms`, which both providers send.
    """
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now)
    except ValueError:
        return None
