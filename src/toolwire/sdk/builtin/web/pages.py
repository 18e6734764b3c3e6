"""Pages as text for a model, kept for a while so that a second question about one is cheap; it asks no model."""

import codecs
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import NamedTuple

from toolwire.sdk.builtin.isolated.parent import NoReply, reply_to
from toolwire.sdk.builtin.isolated.request import MarkdownRequest
from toolwire.sdk.builtin.web.fetch import Document, FetchFailed, Redirected, fetch

KEPT_S = 15 * 60.0
MAX_PAGES = 100
MAX_CHARS = 100_000
"""Of one page."""

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTS = frozenset(
    "application/json application/xml application/javascript application/x-javascript application/yaml "
    "application/x-yaml application/toml application/x-ndjson application/sql application/x-sh".split()
)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset=["']?\s*([\w-]{1,40})""", re.IGNORECASE)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


class Page(NamedTuple):
    """A page as text: Markdown where it was HTML. `url` is where it was found in the end."""

    url: str
    text: str


class Pages:
    """The pages that were fetched lately; for one event loop at a time."""

    def __init__(self, private_hosts: Collection[str], now: Callable[[], float] = time.monotonic) -> None:
        self._private_hosts = private_hosts
        self._now = now
        self._kept: OrderedDict[str, tuple[float, Page]] = OrderedDict()

    async def get(self, url: str) -> Page | Redirected:
        """The page at `url`, from memory when it was fetched within the last 15 minutes.

        Raises:
            FetchFailed: there is none, or it is no text.
        """
        kept = self._kept.get(url)
        if kept is not None and kept[0] > self._now():
            return kept[1]
        document = await fetch(url, self._private_hosts)
        if isinstance(document, Redirected):
            return document
        page = Page(document.url, await _text(document))
        self._kept[url] = (self._now() + KEPT_S, page)
        self._kept.move_to_end(url)
        while len(self._kept) > MAX_PAGES:
            self._kept.popitem(last=False)
        return page


async def _text(document: Document) -> str:
    kind = document.media_type or _guessed(document.body)
    if kind in _HTML:
        text = await _markdown(_decoded(document), document.url)
    elif kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml")):
        text = _decoded(document)
    else:
        raise FetchFailed(f"this is not a page but {kind[:100]!r}; download it with a command in Bash if you need it")
    if len(text) > MAX_CHARS:
        return f"{text[:MAX_CHARS]}\n\n… [{len(text) - MAX_CHARS} more characters]"
    return f"{text}\n\n… [the page goes on; it is too large]" if document.cut else text


async def _markdown(html: str, url: str) -> str:
    try:
        reply = await reply_to(MarkdownRequest(html, url, MAX_CHARS))
    except NoReply as error:
        raise FetchFailed(f"the page cannot be converted: {error}") from None
    if reply.error:
        raise FetchFailed(f"the page cannot be converted: {reply.error}")
    return reply.lines[0]


def _guessed(body: bytes) -> str:
    """The media type of what came without one."""
    start = body[:1024].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<body")):
        return "text/html"
    return "application/octet-stream" if b"\0" in body[:8192] else "text/plain"


def _decoded(document: Document) -> str:
    body = document.body
    marked = next((encoding for mark, encoding in _BOMS if body.startswith(mark)), None)
    found = _CHARSET.search(body[:4096])
    named = document.charset or (found[1].decode("ascii") if found and document.media_type in (*_HTML, "") else None)
    for encoding in (marked, named, "utf-8"):
        if encoding is not None and _is_text_encoding(encoding):
            return body.decode(encoding, "replace")
    return body.decode("utf-8", "replace")


def _is_text_encoding(name: str) -> bool:
    try:
        codecs.lookup(name)
        "".encode(name)
    except (LookupError, ValueError):  # unknown, or one of Python's that turn bytes into bytes
        return False
    return True
