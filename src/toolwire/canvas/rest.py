"""What every route of the canvas needs: which owner asks, the body, the version in If-Match; it has no route."""

import re
from typing import TypeVar

from starlette.requests import Request

from toolwire.canvas.identity import Directory, Visitor
from toolwire.core.errors import Forbidden, InvalidParam
from toolwire.surfaces.held_open import Hold
from toolwire.surfaces.limits import REQUEST_LIMIT_BYTES, credentials_in
from toolwire.surfaces.rest import read_json

T = TypeVar("T")

_VERSION = re.compile(r'(?:W/)?"(\d{1,15})"')


class OwnerReader:
    """Reads requests for the routes.

    Args:
        directory: finds out who is asking.
        max_bytes: the largest body, unless a route takes larger ones.
    """

    def __init__(self, directory: Directory, max_bytes: int = REQUEST_LIMIT_BYTES) -> None:
        self._directory = directory
        self._max_bytes = max_bytes

    def owner(self, request: Request) -> Visitor:
        """The owner who is asking.

        Raises:
            Unauthorized: no key, an unknown or revoked one, or two that differ.
            Forbidden: it is no owner's.
        """
        visitor = self._directory.visitor(credentials_in(request.scope["headers"]))
        if visitor.agent_id is not None:
            raise Forbidden("an agent's key opens its toolbox alone; use an oag_ key")
        return visitor

    def hold(self, request: Request) -> Hold:
        """What the key of the owner who is asking holds open.

        Raises:
            Unauthorized, Forbidden: as `owner`.
        """
        return self._directory.held_open.of(self.owner(request).key_id)

    async def body(self, request: Request, type_: type[T], max_bytes: int | None = None) -> T:
        """The JSON body as a value.

        Raises:
            UnsupportedMediaType, PayloadTooLarge, ParseError, InvalidParam: as `surfaces.rest.read_json`.
        """
        return await read_json(request, type_, self._max_bytes if max_bytes is None else max_bytes)


def expected_version(request: Request) -> int | None:
    """The version that an editor has seen, from `If-Match: "3"`; `None` where the last edit may win.

    Raises:
        InvalidParam: it is no version of ours.
    """
    sent = request.headers.get("if-match")
    if sent is None or sent.strip() == "*":
        return None
    found = _VERSION.fullmatch(sent.strip())
    if found is None:
        raise InvalidParam(f'If-Match takes a version in quotes, such as "3", not {sent!r}', param="If-Match")
    return int(found[1])


def path_param(request: Request, name: str) -> str:
    """A part of the path."""
    return str(request.path_params[name])
