"""The list prices known when this was written, November 2026; they are what the providers publish, not what you pay.

Batch, fast, priority and regional rates, one-hour caches and your own discounts are not in it: say yours with
`KNOWN_PRICES.extended(…)`. A name that is missing has no price.
"""

from collections.abc import Mapping

from toolwire.sdk.models.pricing import Price, Prices


def _anthropic(input_usd: float, output_usd: float, cache_read: float = 0.1) -> Price:
    """Writing into the five-minute cache costs a quarter more than input, reading from it the part `cache_read`."""
    return Price(
        input=input_usd,
        output=output_usd,
        cache_read=round(input_usd * cache_read, 6),
        cache_write=round(input_usd * 1.25, 6),
    )


def _openai(input_usd: float, cached_usd: float, output_usd: float, writes: bool = False) -> Price:
    """From the 5.6 models on, writing into the cache costs a quarter more than input; before, it costs the same."""
    return Price(
        input=input_usd,
        output=output_usd,
        cache_read=cached_usd,
        cache_write=round(input_usd * 1.25, 6) if writes else None,
    )


def _long(price: Price, long_input: int = 272_000) -> Price:
    """A longer prompt makes the whole request cost twice as much for input and half as much again for output."""
    return Price(
        input=price.input,
        output=price.output,
        cache_read=price.cache_read,
        cache_write=price.cache_write,
        long_input=long_input,
        beyond=Price(
            input=price.input * 2,
            output=price.output * 1.5,
            cache_read=None if price.cache_read is None else price.cache_read * 2,
            cache_write=None if price.cache_write is None else price.cache_write * 2,
        ),
    )


_HAIKU_5_5 = Price(
    input=0.10,
    output=0.50,
    cache_read=0.01,
    cache_write=0.125,
    long_input=100_000,
    beyond=Price(input=0.50, output=2.50, cache_read=0.05, cache_write=0.625),
)

_ANTHROPIC = {
    "claude-fable-5-1": _anthropic(10, 50, cache_read=0.025),
    "claude-mythos-5-1": _anthropic(10, 50, cache_read=0.025),
    "claude-fable-5": _anthropic(10, 50),
    "claude-mythos-5": _anthropic(10, 50),
    "claude-opus-5-5": _anthropic(4, 20, cache_read=0.05),
    "claude-opus-5": _anthropic(5, 25),
    "claude-opus-4-8": _anthropic(5, 25),
    "claude-opus-4-7": _anthropic(5, 25),
    "claude-opus-4-6": _anthropic(5, 25),
    "claude-opus-4-5": _anthropic(5, 25),
    "claude-opus-4-1": _anthropic(15, 75),
    "claude-opus-4": _anthropic(15, 75),
    "claude-sonnet-5-5": _anthropic(2, 10, cache_read=0.05),
    "claude-sonnet-5": _anthropic(2, 10),
    "claude-sonnet-4-6": _anthropic(3, 15),
    "claude-sonnet-4-5": _long(_anthropic(3, 15), 200_000),
    "claude-sonnet-4": _long(_anthropic(3, 15), 200_000),
    "claude-haiku-5-5": _HAIKU_5_5,
    "claude-haiku-4-5": _anthropic(1, 5),
    "claude-3-5-haiku": _anthropic(0.80, 4),
}

_OPENAI = {
    "gpt-6.2-astra": _long(_openai(8, 0.40, 40, writes=True)),
    "gpt-6.2-sol": _long(_openai(2, 0.10, 10, writes=True)),
    "gpt-6.1-sol": _long(_openai(2, 0.10, 10, writes=True)),
    "gpt-6.1-terra": _long(_openai(1, 0.05, 5, writes=True)),
    "gpt-6-astra": _long(_openai(10, 1.00, 50, writes=True)),
    "gpt-6-sol": _long(_openai(2, 0.20, 10, writes=True)),
    "gpt-6-luna": _long(_openai(0.10, 0.01, 0.50, writes=True)),
    "gpt-5.6-sol": _long(_openai(4, 0.40, 20, writes=True)),
    "gpt-5.6-terra": _long(_openai(2, 0.20, 12, writes=True)),
    "gpt-5.6-luna": _long(_openai(0.20, 0.02, 1.20, writes=True)),
    "gpt-5.5": _long(_openai(5, 0.50, 30)),
    "gpt-5.4": _long(_openai(2.50, 0.25, 15)),
    "gpt-5.4-mini": _openai(0.75, 0.075, 4.50),
    "gpt-5.4-nano": _openai(0.20, 0.02, 1.25),
    "gpt-5.2": _openai(1.75, 0.175, 14),
    "gpt-5.1": _openai(1.25, 0.125, 10),
    "gpt-5": _openai(1.25, 0.125, 10),
    "gpt-5-mini": _openai(0.25, 0.025, 2),
    "gpt-5-nano": _openai(0.05, 0.005, 0.40),
    "gpt-4.1": _openai(2, 0.50, 8),
    "gpt-4.1-mini": _openai(0.40, 0.10, 1.60),
    "gpt-4.1-nano": _openai(0.10, 0.025, 0.40),
    "gpt-4o": _openai(2.50, 1.25, 10),
    "gpt-4o-mini": _openai(0.15, 0.075, 0.60),
    "o3": _openai(2, 0.50, 8),
    "o4-mini": _openai(1.10, 0.275, 4.40),
}

KNOWN_PRICES = Prices({**_ANTHROPIC, **_OPENAI})
"""What a provider reckons with unless it is given other prices."""


def prices_of(prices: Mapping[str, Price] | None) -> Prices:
    """What a provider reckons with that was given `prices`: these beside the known ones, or a `Prices` alone."""
    return prices if isinstance(prices, Prices) else KNOWN_PRICES.extended(prices or {})
