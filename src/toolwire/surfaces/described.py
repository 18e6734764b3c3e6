"""How a route says what it takes and answers, for the document; it checks nothing of a request.

A handler is marked with `@described(...)`; its docstring's first sentence is the summary. `openapi` makes the document.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
FORM: Final = "application/x-www-form-urlencoded"
HTML: Final = "text/html"

KeyKind: TypeAlias = Literal["oag", "bak", "agk"]

Handler = TypeVar("Handler", bound=Callable[..., Any])

_ATTRIBUTE: Final = "__described__"


class Parameter(Struct, frozen=True):
    """A parameter of the query string, or a header. `type` is a type that msgspec knows."""

    name: str
    text: str
    type: Any = str
    where: Literal["query", "header"] = "query"
    many: bool = False
    """Whether it may be given several times."""


class Answers(Struct, frozen=True):
    """What is answered with one status, outside the envelope: by media type, a type that msgspec knows, or `None`.

    `None` stands for text or bytes that no schema describes. Without a media type there is no body.
    """

    text: str
    media: Mapping[str, Any] = {}
    headers: Mapping[str, str] = {}


class Described(Struct, frozen=True):
    """What a route takes and answers.

    `answers` is the `data` of the envelope, with `status`; `None` is an answer without a body. `others` are answers
    outside the envelope, by status; one with the status of the good answer is added to it. `errors` are codes of
    `ERRORS` besides those that follow from keys, path and body. `keys` are the kinds of key that open the route.
    """

    answers: Any = None
    status: int = 204
    keys: tuple[KeyKind, ...] = ()
    body: Any = None
    body_media: str = JSON
    parameters: tuple[Parameter, ...] = ()
    errors: tuple[str, ...] = ()
    others: Mapping[int, Answers] = {}
    enveloped: bool = True


def described(
    keys: str = "",
    answers: Any = None,
    status: int | None = None,
    *,
    body: Any = None,
    errors: str = "",
    parameters: tuple[Parameter, ...] = (),
) -> Callable[[Handler], Handler]:
    """Say what a handler takes and answers, in the envelope.

    Args:
        keys: the kinds of key that open it, in one string; "" opens it to all.
        answers: the type of `data`; without one, the answer has no body.
        status: of the good answer, by default 200, or 204 without a body.
        body: the type of the JSON body.
        errors: codes that do not follow from keys, path and body, in one string.
        parameters: of the query string, and headers.
    """
    kinds: tuple[Any, ...] = tuple(keys.split())
    usual = 204 if answers is None else 200
    return marked(Described(answers, status or usual, kinds, body, parameters=parameters, errors=tuple(errors.split())))


def event_stream(keys: str, event: Any, parameters: tuple[Parameter, ...] = ()) -> Callable[[Handler], Handler]:
    """Say that a handler answers events without end, and goes on where a reader left off.

    Args:
        keys: as for `described`.
        event: the type of an event's data.
        parameters: as for `described`, besides those that say where to go on.
    """
    kinds: tuple[Any, ...] = tuple(keys.split())
    where = header("Last-Event-ID", "go on after this event"), query("after", "the same, where no header can be sent")
    events = Answers("events, for as long as the reader stays", {EVENTS: event})
    return marked(Described(keys=kinds, parameters=(*parameters, *where), others={200: events}, enveloped=False))


def marked(description: Described) -> Callable[[Handler], Handler]:
    """Say what a handler takes and answers, where `described` has no words for it."""

    def mark(handler: Handler) -> Handler:
        setattr(handler, _ATTRIBUTE, description)
        return handler

    return mark


def description_of(handler: Any) -> Described | None:
    """What a handler, or the method behind it, says of itself."""
    return getattr(handler, _ATTRIBUTE, None)


def query(name: str, text: str, type_: Any = str, *, many: bool = False) -> Parameter:
    """A parameter of the query string."""
    return Parameter(name, text, type_, many=many)


def header(name: str, text: str, type_: Any = str) -> Parameter:
    """A header."""
    return Parameter(name, text, type_, "header")
