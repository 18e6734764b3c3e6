"""REST: an owner's audit chain, as JSON lines; it keeps nothing."""

from collections.abc import Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.gateway.audit import Audit
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import Answers, Described, marked, query
from toolwire.surfaces.rest import query_number

MAX_ENTRIES: Final = 10_000


class AuditRoutes:
    """The route.

    Args:
        reader: reads requests.
        audit: has the chains.
    """

    def __init__(self, reader: Reader, audit: Audit) -> None:
        self._reader = reader
        self._audit = audit

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (Route("/api/v1/audit", self.export, methods=["GET"]),)

    @marked(
        Described(
            keys=("oag",),
            parameters=(
                query("after", "only entries with a higher number", Annotated[int, Meta(ge=0, le=2**53)]),
                query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_ENTRIES)]),
            ),
            others={200: Answers("one entry a line", {"application/x-ndjson": None})},
            enveloped=False,
        )
    )
    async def export(self, request: Request) -> Response:
        """Entries with a higher number than `after`, at most `limit`, one a line; each is `audit.AuditEntry`."""
        owner = self._reader.identify(request, "oag").owner
        after = query_number(request, "after", 0, 0, 2**53)
        limit = query_number(request, "limit", MAX_ENTRIES, 1, MAX_ENTRIES)
        lines: list[bytes] = []
        entries = self._audit.read(owner, after)
        try:
            async for entry in entries:
                lines.append(msgspec.json.encode(entry))
                if len(lines) == limit:
                    break
        finally:
            await entries.aclose()
        return Response(b"".join(line + b"\n" for line in lines), media_type="application/x-ndjson")
