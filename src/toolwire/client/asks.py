"""What a client asks, as values, and what comes back; it sends nothing."""

from collections.abc import Generator, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import UNSET, Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.calls import Problem

T = TypeVar("T")

API: Final = "/api/v1"


class Ask(Struct, Generic[T], frozen=True, kw_only=True):
    """One request. `answers` is the type of the `data` that comes back; `bytes` is the body as it is.

    `lines` says that no envelope comes, but the items of that list as JSON, one a line. `idempotent` says that it may
    be sent again when nobody knows whether it arrived. One that is `signed` has its credential in its address and
    carries no key. `content` is bytes, or what `contents` can send in pieces.
    """

    method: str
    path: str
    answers: Any
    query: Mapping[str, str | list[str]] = {}
    content: Any = None
    headers: Mapping[str, str] = {}
    idempotent: bool = False
    signed: bool = False
    lines: bool = False


class Watch(Struct, Generic[T], frozen=True, kw_only=True):
    """A stream of events. `last` are the types that end it; without them it goes on for as long as its reader stays.

    `resumable` says that it may be asked for once more, after the last event that has come.
    """

    ask: Ask[Any]
    event: Any
    last: tuple[type, ...] = ()
    resumable: bool = True


Flow: TypeAlias = Generator[Ask[Any], Any, T]
"""Several requests, one after the other: each `Ask` that is yielded comes back as its answer."""


class ApiError(Exception):
    """The host has refused a request, or has not answered.

    Attributes:
        code: stable, a key of the table in the reference of errors; `no_answer` where nobody answered, `no_toolwire`
            where somebody else did.
        status: of HTTP; `None` where nobody answered.
        details: for a program, such as `param` or `retry_after_ms`.
        request_id: names the request in the host's log.
    """

    def __init__(
        self,
        message: str,
        code: str,
        status: int | None = None,
        details: JsonObject | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.details: JsonObject = details or {}
        self.request_id = request_id

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later, unchanged."""
        return bool(self.details.get("retryable", self.status is None))


def get(path: str, answers: type[T], query: Mapping[str, Any] | None = None) -> Ask[T]:
    """Ask for something; entries of `query` that are `None` are left out, those of a list are sent each."""
    sent = {name: _word(value) for name, value in (query or {}).items() if value is not None}
    return Ask(method="GET", path=API + path, answers=answers, query=sent, idempotent=True)


def post(path: str, answers: type[T], body: Any = UNSET, *, key: str | None = None) -> Ask[T]:
    """Have something done; under an idempotency key it may be sent again."""
    return _sent("POST", path, answers, body, {} if key is None else {"idempotency-key": key}, key is not None)


def done(path: str) -> Ask[None]:
    """Have something done that answers nothing."""
    return _sent("POST", path, None, UNSET, {}, False)


def patch(path: str, answers: type[T], body: Any, version: int | None = None) -> Ask[T]:
    """Change something; with `version`, only if nobody has changed it since."""
    return _sent("PATCH", path, answers, body, if_match(version), False)


def put(path: str, answers: type[T], body: Any) -> Ask[T]:
    """Put something in a place; once more does no harm."""
    return _sent("PUT", path, answers, body, {}, True)


def delete(path: str, query: Mapping[str, str] | None = None, version: int | None = None) -> Ask[None]:
    """Remove something; with `version`, only if nobody has changed anything since."""
    return Ask(
        method="DELETE",
        path=API + path,
        answers=None,
        query=query or {},
        headers=if_match(version),
        idempotent=version is None,
    )


def if_match(version: int | None) -> dict[str, str]:
    """The header that refuses an edit of another version than the one that was seen."""
    return {} if version is None else {"if-match": f'"{version}"'}


def part(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe="")


def given(**fields: Any) -> JsonObject:
    """A body of the fields that are not `UNSET`."""
    return {name: value for name, value in fields.items() if value is not UNSET}


def present(**fields: Any) -> JsonObject:
    """A body of the fields that are not `None`."""
    return {name: value for name, value in fields.items() if value is not None}


class Reply(Struct, frozen=True):
    """What came back; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class _Refusal(Struct, frozen=True):
    error: Problem


_decode_refusal: Final = msgspec.json.Decoder(_Refusal).decode


def answer_of(ask: Ask[T], reply: Reply) -> T:
    """What an answer says.

    Raises:
        ApiError: it is a refusal, or no answer of a Toolwire host.
    """
    if not 200 <= reply.status < 300:
        raise refusal_of(reply)
    answers: Any = ask.answers
    if answers is bytes:
        return reply.content  # pyright: ignore[reportReturnType] - T is bytes
    if answers in (None, type(None)) or reply.status == 204:
        return None  # pyright: ignore[reportReturnType] - T is None
    try:
        if ask.lines:
            return msgspec.json.decode(b"[" + b",".join(reply.content.splitlines()) + b"]", type=answers)
        return msgspec.json.decode(reply.content, type=_envelope(answers)).data
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ApiError(f"the answer is not what a Toolwire host says: {error}", "no_toolwire", reply.status) from None


def refusal_of(reply: Reply) -> ApiError:
    """A refusal as an error."""
    try:
        problem = _decode_refusal(reply.content).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        words = f"HTTP {reply.status}, and not as a Toolwire host answers; is the address right?"
        return ApiError(words, "no_toolwire", reply.status)
    return ApiError(problem.message, problem.code, reply.status, problem.details, problem.request_id)


_envelopes: Final[dict[str, Any]] = {}


def _envelope(answers: Any) -> Any:
    """The type of an envelope around a type."""
    found = _envelopes.get(repr(answers))
    if found is None:
        found = _envelopes[repr(answers)] = msgspec.defstruct("Envelope", [("data", answers)], frozen=True)
    return found


def _sent(method: str, path: str, answers: Any, body: Any, headers: Mapping[str, str], idempotent: bool) -> Ask[Any]:
    content = None if body is UNSET else msgspec.json.encode(body)
    kind = {} if content is None else {"content-type": "application/json"}
    return Ask(
        method=method,
        path=API + path,
        answers=answers,
        content=content,
        headers={**kind, **headers},
        idempotent=idempotent,
    )


def _word(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [str(one) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return str(value).lower() if isinstance(value, bool) else str(value)
