"""Ranks the corpus for a query with BM25 over an inverted index, and prints the best as numbered text.

It knows nothing of tools or calls, and nothing outside the corpus is looked at.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

import msgspec

from toolwire.cli.demo.corpus import Article, articles
from toolwire.cli.demo.text import STOP_WORDS, characters, joined, sentences, shorten, terms

DEFAULT_RESULTS: Final = 5
MAX_RESULTS: Final = 20
MAX_QUERY_CHARS: Final = 1_000
SNIPPET_CHARS: Final = 200

_ECHO_CHARS: Final = 200
"""Room for the query in the heading; a longer one is cut there."""

_TITLE_WEIGHT: Final = 3
"""A word of the title counts like three of the text: titles are short and say what a text is about."""

# The customary constants of BM25: how soon repetition stops to help, and how much length costs.
_K1: Final = 1.2
_B: Final = 0.75


class Hit(msgspec.Struct, frozen=True):
    """An article found, with its BM25 score (above 0, comparable within one query alone)."""

    article: Article
    score: float


class Index:
    """An inverted index over a fixed set of articles; immutable once made, so any thread may ask it."""

    def __init__(self, pages: Iterable[Article]) -> None:
        self._pages = tuple(pages)
        self._postings: dict[str, list[tuple[int, int]]] = {}
        lengths: list[int] = []
        for number, page in enumerate(self._pages):
            counted = Counter(terms(page.title) * _TITLE_WEIGHT + terms(page.text))
            lengths.append(counted.total())
            counted.update(characters(page.title) * _TITLE_WEIGHT + characters(page.text))
            for term, count in counted.items():
                self._postings.setdefault(term, []).append((number, count))
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._norms = [_K1 * (1 - _B + _B * length / mean) for length in lengths]

    def __len__(self) -> int:
        return len(self._pages)

    def weight(self, term: str) -> float:
        """How telling `term` is in this index (inverse document frequency, above 0; 0 for an unknown term)."""
        holders = len(self._postings.get(term, ()))
        return math.log(1 + (len(self._pages) - holders + 0.5) / (holders + 0.5)) if holders else 0.0

    def rank(self, wanted: Iterable[str], limit: int) -> list[Hit]:
        """The at most `limit` best articles that hold any of the terms, best first; ties keep the given order."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(wanted):
            weight = self.weight(term)
            for number, count in self._postings.get(term, ()):
                gain = weight * count * (_K1 + 1) / (count + self._norms[number])
                scores[number] = scores.get(number, 0.0) + gain
        best = sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit]
        return [Hit(self._pages[number], score) for number, score in best]


@cache
def corpus_index() -> Index:
    """The index of the shipped corpus, made at the first call."""
    return Index(articles())


def query_terms(query: str) -> list[str]:
    """The different terms of a query, without stop words unless it has nothing else."""
    found = list(dict.fromkeys(terms(query)))
    return [term for term in found if term not in STOP_WORDS] or found


def search(query: str, max_results: int = DEFAULT_RESULTS, index: Index | None = None) -> str:
    """Searches the corpus and returns the results as text for a model or a person.

    Args:
        query: Words in any order; at most `MAX_QUERY_CHARS` characters. Any word may match, rare ones count more.
        max_results: From 1 to `MAX_RESULTS`.
        index: What to search; the shipped corpus by default.

    Returns:
        "Here are the top N results for '<query>':" and N numbered entries with title, address and a snippet, where N
        is the number found; or a sentence that says nothing was found.

    Raises:
        ValueError: The query has no word or is too long, or `max_results` is out of bounds.
    """
    shown = " ".join(query.split())
    if len(shown) > MAX_QUERY_CHARS:
        raise ValueError(f"query has {len(shown)} characters; shorten it to at most {MAX_QUERY_CHARS}")
    wanted = query_terms(shown)
    if not wanted:
        raise ValueError(f"query {query!r} has no word to search for; give one or more words")
    if not 1 <= max_results <= MAX_RESULTS:
        raise ValueError(f"max_results must be from 1 to {MAX_RESULTS}, got {max_results!r}")
    index = corpus_index() if index is None else index
    hits = index.rank(wanted, max_results)
    echo = shorten(shown, _ECHO_CHARS)
    if not hits:
        return f"No results for '{echo}'. Try other words; {len(index)} articles were searched."
    entries = [
        f"{place}. {hit.article.title} \u2014 {hit.article.url}\n   {snippet(hit.article, wanted, index)}"
        for place, hit in enumerate(hits, 1)
    ]
    return f"Here are the top {len(hits)} results for '{echo}':\n\n" + "\n\n".join(entries)


def snippet(article: Article, wanted: Sequence[str], index: Index) -> str:
    """The part of an article's text that best answers the terms: from its best sentence on, `SNIPPET_CHARS` at most."""
    parts = sentences(article.text)
    goal = {term: index.weight(term) for term in wanted}

    def worth(number: int) -> tuple[float, int]:
        present = {*terms(parts[number]), *characters(parts[number])}
        return sum(weight for term, weight in goal.items() if term in present), -number

    first = max(range(len(parts)), key=worth, default=0)
    # A good sentence near the end leaves room: begin earlier, as long as nothing of it is cut.
    while first > 0 and len(joined(parts[first - 1 :])) <= SNIPPET_CHARS:
        first -= 1
    return shorten(joined(parts[first:]), SNIPPET_CHARS)
