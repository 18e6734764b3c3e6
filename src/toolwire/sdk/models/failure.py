"""What went wrong on the wire as a `ProviderError`, without a secret in it; it decides nothing about asking again.

The clients' exceptions hold the request with its headers, and servers like to repeat a key in their messages. So no
exception of theirs is chained to ours, and every text from outside is scrubbed.
"""

import re
import time
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.sdk.errors import ProviderError
from toolwire.sdk.models.retry import retry_after_s

_LONGEST_MESSAGE = 600

_KEY_LIKE = re.compile(r"\b(?:sk|pk|rk|key)[-_][\w*.-]{6,}|\bBearer\s+\S+", re.IGNORECASE)

_PASSING = frozenset(
    {
        "api_error",
        "internal_error",
        "internal_server_error",
        "overloaded",
        "overloaded_error",
        "rate_limit_error",
        "rate_limit_exceeded",
        "server_error",
        "server_overloaded",
        "service_unavailable",
        "timeout",
        "timeout_error",
        "vector_store_timeout",
    }
)
"""Types and codes of errors that may pass, as both providers name them inside a stream that began with 200."""

_LASTING = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"})
"""What comes with status 429 and does not pass by waiting."""

_HINTS = {
    401: "check the API key",
    403: "check what the API key may do",
    404: "check the name of the model and the base_url",
    413: "the conversation is too large for one request",
}


class Place(NamedTuple):
    """Who was asked, for messages, and what must never appear in them."""

    who: str
    secrets: tuple[str, ...] = ()

    def scrubbed(self, text: str) -> str:
        """`text` on one line, shortened, with everything that is or looks like a key masked."""
        for secret in self.secrets:
            if secret:
                text = text.replace(secret, "***")
        text = " ".join(_KEY_LIKE.sub("***", text).split())
        return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"

    def failure(self, text: str, *, retryable: bool) -> ProviderError:
        """An error of ours about this place."""
        return ProviderError(f"{self.who}: {self.scrubbed(text)}", retryable=retryable)


def client_failure(error: Exception, client: ModuleType, place: Place) -> ProviderError:
    """What an exception of an official client, of HTTP or of a decoder means.

    Args:
        error: caught where the client was used.
        client: the module `anthropic` or `openai`; both name their exceptions alike.
        place: who was asked.
    """
    sdk = cast("Any", client)
    if isinstance(error, sdk.APIStatusError):
        return _status_failure(cast("Any", error), place)
    if isinstance(error, (TimeoutError, sdk.APITimeoutError)) or "Timeout" in type(error).__name__:
        return place.failure("no answer in time; raise timeout_s if the model needs longer", retryable=True)
    if isinstance(error, sdk.APIConnectionError):
        return place.failure(f"no connection ({_cause(error)})", retryable=True)
    if isinstance(error, sdk.APIError):
        return reported_failure(as_object(cast("Any", error).body) or {"message": str(error)}, place)
    if isinstance(error, ValueError):
        return place.failure(f"the answer cannot be read ({type(error).__name__}: {error})", retryable=True)
    return place.failure(f"the connection broke off ({type(error).__name__}: {error})", retryable=True)


def reported_failure(error: JsonObject, place: Place) -> ProviderError:
    """An error that the server reported inside an answer: `{"type" or "code", "message"}`."""
    kinds = _kinds(error)
    status = error.get("code")
    passing = any(kind in _PASSING for kind in kinds) or (isinstance(status, int) and _passing_status(status))
    text = f"{kinds[0] if kinds else 'error'}: {error.get('message') or 'no message'}"
    return place.failure(text, retryable=passing and _LASTING.isdisjoint(kinds))


def host_of(url: str) -> str:
    """The host in `url`, which may have a name and password in front."""
    return urlsplit(url).hostname or ""


def _status_failure(error: Any, place: Place) -> ProviderError:
    headers = cast("Mapping[str, str]", error.response.headers)
    body = as_object(error.body) or {}
    reported = as_object(body.get("error")) or body
    status = int(error.status_code)
    kinds = _kinds(reported)
    message = str(reported.get("message") or error.message)
    request = f" (request {error.request_id})" if error.request_id else ""
    hint = f"; {_HINTS[status]}" if status in _HINTS else ""
    text = f"HTTP {status}{' ' + kinds[0] if kinds else ''}: {message}{request}{hint}"
    return ProviderError(
        f"{place.who}: {place.scrubbed(text)}",
        retryable=_may_pass(status, kinds, headers),
        retry_after_s=retry_after_s(headers, time.time()),
        status=status,
    )


def _may_pass(status: int, kinds: Sequence[str], headers: Mapping[str, str]) -> bool:
    if not _LASTING.isdisjoint(kinds):
        return False
    said = headers.get("x-should-retry")
    if said in ("true", "false"):
        return said == "true"
    return _passing_status(status) or not _PASSING.isdisjoint(kinds)


def _passing_status(status: int) -> bool:
    return status in (408, 409, 429) or status >= 500


def _kinds(error: JsonObject) -> list[str]:
    return [kind for kind in (error.get("type"), error.get("code")) if isinstance(kind, str) and kind != "error"]


def _cause(error: Exception) -> str:
    inner = error.__cause__ or error
    return f"{type(inner).__name__}: {inner}"
