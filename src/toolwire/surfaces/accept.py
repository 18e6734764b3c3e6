"""Which answers a client takes: JSON, an event stream, or both; it does not choose. Spec: RFC 9110, 12.5.1."""

from msgspec import Struct

from toolwire.core.errors import NotAcceptable
from toolwire.surfaces.endpoint import Headers

MAX_REMEMBERED = 256


class Accepted(Struct, frozen=True):
    """`sse` only where the header names it: `*/*` counts as JSON, because that is what plain curl sends."""

    json: bool
    sse: bool


_known: dict[bytes, Accepted] = {}
_JSON_ONLY = Accepted(json=True, sse=False)


def accepted_types(headers: Headers) -> Accepted:
    """What the Accept header admits; without one, JSON.

    Raises:
        NotAcceptable: it admits neither.
    """
    header = headers.get(b"accept")
    if not header:
        return _JSON_ONLY
    accepted = _known.get(header)
    if accepted is None:
        accepted = _parse(header.decode("latin-1"))
        if len(_known) < MAX_REMEMBERED:
            _known[header] = accepted
    return accepted


def _parse(header: str) -> Accepted:
    wanted: set[str] = set()
    refused: set[str] = set()
    for item in header.lower().split(","):
        media_type, *parameters = (part.strip() for part in item.split(";"))
        weights = [p[2:].strip() for p in parameters if p.startswith("q=")]
        (refused if weights and _is_zero(weights[0]) else wanted).add(media_type)
    json = bool(wanted & {"application/json", "application/*", "*/*"}) and "application/json" not in refused
    sse = bool(wanted & {"text/event-stream", "text/*"}) and "text/event-stream" not in refused
    if not json and not sse:
        raise NotAcceptable(f"Accept is {header!r}; take application/json or text/event-stream")
    return Accepted(json, sse)


def _is_zero(weight: str) -> bool:
    try:
        return float(weight) == 0
    except ValueError:
        return False
