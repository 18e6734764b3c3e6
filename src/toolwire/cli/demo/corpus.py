"""The articles the demo agent searches: original short texts that ship with the package.

It loads and addresses them; ranking is `search`'s.
"""

from functools import cache
from importlib import resources

import msgspec


class Article(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One page of the corpus.

    Attributes:
        title: One line, no markup.
        url: Its address, unique in the corpus, always under the reserved domain example.com.
        text: One paragraph of prose, English or Chinese.
    """

    title: str
    url: str
    text: str


@cache
def articles() -> tuple[Article, ...]:
    """All articles, in the order of the file, which also breaks ties in rankings."""
    raw = resources.files("toolwire.cli.demo").joinpath("corpus.jsonl").read_bytes()
    return tuple(msgspec.json.decode(line, type=Article) for line in raw.splitlines() if line)


def article_at(url: str) -> Article | None:
    """The article with exactly this address, as a search result prints it, or None."""
    return next((article for article in articles() if article.url == url), None)
