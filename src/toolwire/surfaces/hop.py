"""One HTTP request while it is handled, and what its headers alone say; it reads no body and answers nothing."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from toolwire.surfaces.accept import Accepted, accepted_types
from toolwire.surfaces.endpoint import Admission
from toolwire.surfaces.exchange import WHOLE, Receive, Send, Whole
from toolwire.surfaces.limits import check_json, credentials_in, map_headers
from toolwire.wire.mcp.envelope import Routing
from toolwire.wire.mcp.versions import legacy_version


class Facts(Struct):
    """What headers say that have passed all checks of headers alone: the same for every request that has them.

    `version` is that of the initialize wire, `None` on the other one, where `routing` is what the routing headers were
    found to say. `key` is the idempotency key. `plain` says that they ask for nothing that a plain call has not, but
    perhaps for a session, of which `session` is the id.
    """

    accepted: Accepted
    credentials: Sequence[bytes]
    version: str | None
    key: str | None
    routing: Routing | None = None
    plain: bool = False
    session: str | None = None


class Hop:
    """What is known of one HTTP request while it is handled."""

    __slots__ = ("admission", "facts", "headers", "receive", "scope", "send", "whole")

    def __init__(self, scope: Any, receive: Receive, send: Send) -> None:
        self.scope = scope
        self.receive = receive
        self.send = send
        self.admission: Admission | None = None
        self.facts: Facts | None = None
        extensions = scope.get("extensions")
        self.whole: Whole | None = None if extensions is None else extensions.get(WHOLE)
        if self.whole is None:
            self.headers = map_headers(scope["headers"])
        else:
            self.headers = self.whole.headers
            self.facts = self.whole.memo.get(Facts)

    def read_facts(self) -> Facts:
        """Check the headers of a POST, once where they will come again.

        Raises:
            UnsupportedMediaType: see `check_json`.
            NotAcceptable: see `accepted_types`.
        """
        headers = self.headers
        check_json(headers)
        key = headers.get(b"idempotency-key")
        facts = Facts(
            accepted_types(headers),
            credentials_in(self.scope["headers"]),
            legacy_version(headers.get(b"mcp-protocol-version")),
            None if key is None else key.decode("latin-1"),
        )
        if self.whole is not None:
            facts.plain = facts.accepted.json and key is None
            if facts.version is not None and b"mcp-session-id" in headers:
                facts.session = headers[b"mcp-session-id"].decode("latin-1")
            self.whole.memo[Facts] = facts
        return facts
