"""What a response costs, from tokens and a table of prices; it knows no price by itself (`price_list` does)."""

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from toolwire.sdk.messages import Usage

_MILLION = 1_000_000

_SNAPSHOT = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
"""The date of a snapshot, or what stands for the newest one; its price is that of the name without it."""


class Price(Struct, frozen=True, kw_only=True):
    """What a model's tokens cost, in US dollars per million.

    Attributes:
        input: tokens read that no cache had.
        output: tokens written, thinking among them.
        cache_read: tokens that a cache had; `None` for the same as `input`.
        cache_write: tokens that went into a cache; `None` for the same as `input`.
        long_input: how many input tokens a request may have at this price; `None` for any number.
        beyond: the price of the whole request where it has more.
    """

    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None
    long_input: int | None = None
    beyond: "Price | None" = None

    def cost_usd(self, usage: Usage) -> float:
        """What one response cost, in US dollars; a price by length goes by its tokens, so pass no sum of several."""
        if self.beyond is not None and self.long_input is not None and usage.input > self.long_input:
            return self.beyond.cost_usd(usage)
        read = self.input if self.cache_read is None else self.cache_read
        written = self.input if self.cache_write is None else self.cache_write
        dollars = usage.uncached * self.input + usage.cache_read * read + usage.cache_write * written
        return (dollars + usage.output * self.output) / _MILLION


class Prices(Mapping[str, Price]):
    """Prices by the model's name; a dated or `-latest` name has the price of the name without that.

        prices = KNOWN_PRICES.extended({"my-model": Price(input=0.2, output=0.8)})

    A model that is not listed has no price, which is not the same as costing nothing.
    """

    def __init__(self, prices: Mapping[str, Price] | None = None) -> None:
        self._prices = dict(prices or {})

    def extended(self, prices: Mapping[str, Price]) -> "Prices":
        """These prices and `prices`, which win."""
        return Prices({**self._prices, **prices})

    def find(self, model: str) -> Price | None:
        """The price of `model`: its own, or that of its name without the date."""
        return self._prices.get(model) or self._prices.get(_SNAPSHOT.sub("", model))

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """What one response of `model` cost, in US dollars; `None` without a price or without a count of tokens."""
        price = self.find(model)
        if price is None or not (usage.input or usage.output):
            return None
        return price.cost_usd(usage)

    def __getitem__(self, model: str) -> Price:
        return self._prices[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)

    def __repr__(self) -> str:
        return f"Prices({len(self._prices)} models)"
