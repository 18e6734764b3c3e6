"""Asks a search endpoint that the host configured, and reads the results out of what such endpoints answer.

They differ in little: JSON with a list of results somewhere, each with a title, a link and an extract. It takes whichever
names the common ones use.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote

import anyio
import httpx2
import msgspec

MAX_BYTES = 4 * 1024 * 1024
TOTAL_S = 30.0
MAX_EXTRACT = 1000
_LISTS = ("results", "organic", "organic_results", "items", "webPages", "web", "data", "value", "hits")
_TITLES = ("title", "name", "heading")
_LINKS = ("url", "link", "href")
_EXTRACTS = ("snippet", "description", "content", "text", "body", "abstract", "summary")


class SearchFailed(Exception):
    """There are no results; the text says why, and never the key or the URL."""


class Found(NamedTuple):
    """One result."""

    title: str
    url: str
    extract: str


class Endpoint(NamedTuple):
    """Where to ask: a URL with `{query}` and `{count}` in it, or one that takes `q` and `count`; and the secret."""

    url: str
    key: str | None
    header: str

    def headers(self) -> dict[str, str]:
        """The headers of a request."""
        headers = {"Accept": "application/json", "User-Agent": "toolwire-websearch/1"}
        if self.key:
            headers[self.header] = f"Bearer {self.key}" if self.header.lower() == "authorization" else self.key
        return headers

    def request_url(self, query: str, count: int) -> str:
        """The URL to ask."""
        if "{query}" in self.url:
            return self.url.replace("{query}", quote(query, safe="")).replace("{count}", str(count))
        joint = "&" if "?" in self.url else "?"
        return f"{self.url}{joint}q={quote(query, safe='')}&count={count}"


async def search_web(endpoint: Endpoint, query: str, count: int) -> list[Found]:
    """At most `count` results.

    Raises:
        SearchFailed: for whatever reason.
    """
    body = b""
    with anyio.move_on_after(TOTAL_S) as scope:
        try:
            body = await _asked(endpoint, query, count)
        except httpx2.TimeoutException:
            raise SearchFailed("the search service does not answer; try later") from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, ValueError):
            raise SearchFailed("the search is set up wrongly (web_search_url or its key); tell the user") from None
        except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
            raise SearchFailed(f"the search service cannot be asked ({type(error).__name__}); try later") from None
    if scope.cancelled_caught:
        raise SearchFailed(f"the search service did not answer within {TOTAL_S:g} s; try later")
    try:
        return results_in(msgspec.json.decode(body), count)
    except msgspec.DecodeError:
        raise SearchFailed("the search service did not answer with JSON; tell the user to check web_search_url") from None


def results_in(answer: Any, count: int) -> list[Found]:
    """The results in what an endpoint answered; none when nothing in it looks like one."""
    found: list[Found] = []
    for entry in _entries(answer, 4):
        url = _first(entry, _LINKS)
        if url.startswith(("http://", "https://")):
            extract = " ".join(_first(entry, _EXTRACTS).split())[:MAX_EXTRACT]
            found.append(Found(" ".join(_first(entry, _TITLES).split())[:300] or url, url, extract))
    return found[:count]


async def _asked(endpoint: Endpoint, query: str, count: int) -> bytes:
    async with (
        httpx2.AsyncClient(trust_env=False, follow_redirects=False, timeout=TOTAL_S) as client,
        client.stream("GET", endpoint.request_url(query, count), headers=endpoint.headers()) as response,
    ):
        if response.status_code in (401, 403):
            raise SearchFailed(f"the search service refuses the key (status {response.status_code}); tell the user")
        if response.status_code == 429:
            raise SearchFailed("the search service has had too many requests (status 429); try later")
        if not response.is_success:
            raise SearchFailed(f"the search service answers with status {response.status_code}; tell the user")
        body = bytearray()
        async for data in response.aiter_bytes():
            body += data
            if len(body) > MAX_BYTES:
                raise SearchFailed("the search service answers with too much; ask for fewer results")
        return bytes(body)


def _entries(answer: Any, depth: int) -> list[Mapping[str, Any]]:
    """The list of results: the answer itself, or what stands under one of the usual names, also within each other."""
    if isinstance(answer, list):
        return [cast("Mapping[str, Any]", entry) for entry in cast("list[Any]", answer) if isinstance(entry, dict)]
    if isinstance(answer, dict) and depth:
        known = cast("Mapping[str, Any]", answer)
        for name in _LISTS:
            found = _entries(known.get(name), depth - 1)
            if found:
                return found
    return []


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((entry[name] for name in names if isinstance(entry.get(name), str)), "")
