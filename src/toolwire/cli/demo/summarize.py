"""Summarises a text by choosing its most telling sentences and leaving them as they are, in their order.

It writes no sentence of its own, needs no model, and takes any text; `toolwire.cli.demo.text` knows the scripts.
"""

from collections import Counter
from collections.abc import AsyncGenerator
from typing import Final

import anyio.lowlevel
import anyio.to_thread

from toolwire.cli.demo.text import STOP_WORDS, sentences, shorten, terms

DEFAULT_SENTENCES: Final = 3
MAX_SENTENCES: Final = 20
MAX_TEXT_CHARS: Final = 200_000
MAX_SENTENCE_CHARS: Final = 1_000
"""A chosen sentence longer than this (a text without punctuation, say) is cut with an ellipsis."""

_OPENING_BONUS: Final = 1.25
"""Writers tell in the first sentence what a text is about."""

_SHORTNESS_MALUS: Final = 4
"""Added to a sentence's number of terms when its mean is taken, or else "Tides." would beat every real sentence."""


def choose(text: str, max_sentences: int = DEFAULT_SENTENCES) -> list[str]:
    """The summary of `text` as its sentences.

    A term weighs as much as the share of sentences that hold it; a sentence scores the mean weight of its terms. Once
    a sentence is chosen, the weights of its terms are squared, so that the next choice adds something new.

    Args:
        text: Prose in any language; English and Chinese punctuation end sentences. At most `MAX_TEXT_CHARS`.
        max_sentences: From 1 to `MAX_SENTENCES`.

    Returns:
        Sentences of `text` in their order, none twice: all of them if there are no more than `max_sentences`.

    Raises:
        ValueError: There is no text or too much of it, or `max_sentences` is out of bounds.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"text has {len(text)} characters; send at most {MAX_TEXT_CHARS}, in parts if need be")
    if not 1 <= max_sentences <= MAX_SENTENCES:
        raise ValueError(f"max_sentences must be from 1 to {MAX_SENTENCES}, got {max_sentences!r}")
    parts = list(dict.fromkeys(sentences(text)))
    if not parts:
        raise ValueError("text is empty; send the text to summarise")
    places = range(len(parts)) if len(parts) <= max_sentences else sorted(_best(parts, max_sentences))
    return [shorten(parts[place], MAX_SENTENCE_CHARS) for place in places]


async def summarize(text: str, max_sentences: int = DEFAULT_SENTENCES) -> AsyncGenerator[str]:
    """Yields the sentences of `choose` one by one, for an agent that streams them.

    The choice is made in a thread, so that a long text does not hold up the event loop.

    Raises:
        ValueError: As `choose`, before the first sentence.
    """
    for sentence in await anyio.to_thread.run_sync(choose, text, max_sentences):
        yield sentence
        await anyio.lowlevel.checkpoint()


def _best(parts: list[str], wanted: int) -> list[int]:
    """The places of the `wanted` best sentences, in the order of choice."""
    topics = [set(terms(part)) - STOP_WORDS for part in parts]
    shares = Counter(term for topic in topics for term in topic)
    weights = {term: count / len(parts) for term, count in shares.items()}

    def score(place: int) -> float:
        topic = topics[place]
        mean = sum(weights[term] for term in topic) / (len(topic) + _SHORTNESS_MALUS)
        return mean * _OPENING_BONUS if place == 0 else mean

    open_places = dict.fromkeys(range(len(parts)))
    chosen: list[int] = []
    while len(chosen) < wanted:
        place = max(open_places, key=score)
        del open_places[place]
        chosen.append(place)
        for term in topics[place]:
            weights[term] **= 2
    return chosen
