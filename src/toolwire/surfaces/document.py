"""Serves the document of REST routes and the page made of it, to everybody: they say nothing of what is kept here."""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from toolwire.surfaces.described import HTML, JSON, Answers, Described, marked
from toolwire.surfaces.openapi import document_of
from toolwire.surfaces.reference_page import POLICY, reference_page

DOCUMENT_PATH = "/openapi.json"
PAGE_PATH = "/docs/api"


class DocumentRoutes:
    """The routes of the document; it is made when somebody first asks for it.

    Args:
        described: the routes that it is about; these two are added.
    """

    def __init__(self, described: Sequence[BaseRoute]) -> None:
        self._described = described
        self._document: bytes | None = None
        self._page: bytes | None = None

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route(DOCUMENT_PATH, self.document, methods=["GET"]),
            Route(PAGE_PATH, self.page, methods=["GET"]),
        )

    @marked(Described(others={200: Answers("this document", {JSON: dict[str, Any]})}, enveloped=False))
    async def document(self, request: Request) -> Response:
        """What the REST surface takes and answers, as OpenAPI 3.1."""
        if self._document is None:
            self._document = msgspec.json.encode(document_of([*self._described, *self.routes()]))
        return Response(self._document, media_type=JSON)

    @marked(Described(others={200: Answers("a page for people", {HTML: None})}, enveloped=False))
    async def page(self, request: Request) -> Response:
        """The same as a page for people."""
        if self._page is None:
            self._page = reference_page(document_of([*self._described, *self.routes()])).encode()
        headers = {"content-security-policy": POLICY, "referrer-policy": "no-referrer", "x-frame-options": "DENY"}
        return Response(self._page, headers=headers, media_type=HTML)
