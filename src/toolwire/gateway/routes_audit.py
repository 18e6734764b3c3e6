"""REST: an owner's audit chain, as JSON lines, and where it begins; it keeps nothing."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.gateway.audit import Audit
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import Answers, Described, described, marked, query
from toolwire.surfaces.rest import answer, query_number
from toolwire.wire.answers.records import AuditAnchor, AuditEntry

MAX_ENTRIES: Final = 10_000


class AuditRoutes:
    """The routes.

    Args:
        reader: reads requests.
        audit: has the chains.
    """

    def __init__(self, reader: Reader, audit: Audit) -> None:
        self._reader = reader
        self._audit = audit

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/audit", self.export, methods=["GET"]),
            Route("/api/v1/audit/anchor", self.anchor, methods=["GET"]),
        )

    @marked(
        Described(
            keys=("oag",),
            parameters=(
                query("after", "only entries with a higher number", Annotated[int, Meta(ge=0, le=2**53)]),
                query("before", "the last `limit` entries with a lower number", Annotated[int, Meta(ge=1, le=2**53)]),
                query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_ENTRIES)]),
            ),
            others={200: Answers("one entry a line", {"application/x-ndjson": AuditEntry})},
            enveloped=False,
        )
    )
    async def export(self, request: Request) -> Response:
        """Entries with a higher number than `after`, or the last ones before `before`, one a line."""
        owner = self._reader.identify(request, "oag").owner
        limit = query_number(request, "limit", MAX_ENTRIES, 1, MAX_ENTRIES)
        after = query_number(request, "after", 0, 0, 2**53)
        if "before" in request.query_params:
            before = min(query_number(request, "before", 1, 1, 2**53), await self._audit.end(owner) + 1)
            after = max(after, before - 1 - limit)
            limit = min(limit, before - 1 - after)
        lines: list[bytes] = []
        async with aclosing(self._audit.read(owner, after)) as entries:
            while len(lines) < limit and (entry := await anext(entries, None)) is not None:
                lines.append(msgspec.json.encode(entry))
        return Response(b"".join(line + b"\n" for line in lines), media_type="application/x-ndjson")

    @described("oag", AuditAnchor)
    async def anchor(self, request: Request) -> Response:
        """The last entry that is not kept any more: what is kept holds if its first entry follows this one."""
        anchor = self._audit.anchor(self._reader.identify(request, "oag").owner)
        return answer({"seq": anchor.seq, "hash": anchor.hash})
