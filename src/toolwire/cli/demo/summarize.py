"""Summarises a text by choosing its most telling sentences and leaving them as they are, in their order.

It writes no sentence of its own, needs no model, and takes any text; `toolwire.cli.demo.text` knows the scripts.
"""

import math
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

_ONCE: Final = 0.25
"""What a word counts that only one sentence holds: it is hardly what the text is about."""

_SHORTNESS_MALUS: Final = 4
"""Added to a sentence's number of words when its mean is taken, or else "Tides." would beat every real sentence."""


def choose(text: str, max_sentences: int = DEFAULT_SENTENCES) -> list[str]:
    """The summary of `text` as its sentences.

    A word weighs as much as the share of sentences that hold it, and a sentence is worth the mean weight of its words.
    The best are taken one after the other, each marked down by its overlap (common words over all words) with those
    taken before, so that every choice adds something new.

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
    words = [set(terms(part)) - STOP_WORDS for part in parts]
    worth = _worth(words)
    overlap = [0.0] * len(parts)
    open_places = dict.fromkeys(range(len(parts)))
    chosen: list[int] = []
    while len(chosen) < wanted:
        best = max(open_places, key=lambda place: worth[place] * (1 - overlap[place]))
        del open_places[best]
        chosen.append(best)
        for place in open_places:
            if both := len(words[place] & words[best]):
                overlap[place] = max(overlap[place], both / len(words[place] | words[best]))
    return chosen


def _worth(words: list[set[str]]) -> list[float]:
    """How much each sentence says of what the whole text speaks of, before any is chosen."""
    holders = Counter(word for sentence in words for word in sentence)
    weights = {word: (count if count > 1 else _ONCE) / len(words) for word, count in holders.items()}
    # A set has another order in each process; fsum gives the same sum in all of them, and so the same choice.
    worth = [math.fsum(map(weights.__getitem__, sentence)) / (len(sentence) + _SHORTNESS_MALUS) for sentence in words]
    worth[0] *= _OPENING_BONUS
    return worth
