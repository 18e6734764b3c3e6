"""One request with all that its answer depends on, and the answer as bytes; it knows no method.

Spec: JSON-RPC 2.0, 5; contract mcp.md 1.2, 1.3.
"""

import logging
from collections.abc import Callable

from msgspec import Struct

from toolwire.core.call import Caller
from toolwire.core.errors import ToolwireError
from toolwire.core.event import Event, Log, Progress
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.result import Failure
from toolwire.engine.record import Listener
from toolwire.surfaces.dialogue import Dialogue
from toolwire.surfaces.endpoint import Endpoint
from toolwire.surfaces.sessions import NOTHING_KEPT, Keep, Kept, Session
from toolwire.wire.jsonrpc import Message, error_body, result_body
from toolwire.wire.mcp.client_features import unpack_capabilities
from toolwire.wire.mcp.envelope import CAPABILITIES_KEY
from toolwire.wire.mcp.logging import is_wanted, log_body
from toolwire.wire.mcp.replies import modern_result, plain_result, progress_body

logger = logging.getLogger("toolwire.surfaces")


class Asked(Struct):
    """One request, with everything that its answer depends on.

    `call_id` and `outlives_request` are filled in once the request has become a call, for whoever may have to cancel
    it. `progress_token` is JSON text. `listener` hears the call's events. `log_level` is from which level on the client
    wants log messages. `kept` is what the client of a connection without sessions has asked for, and `declared` what it
    can do; `keep` changes what the session or connection keeps, where there is one. `notify` sends a notification ahead
    of the answer, where that can be. `parting` is the answer in case that the server ends the request. `request` sends
    a request of ours ahead of the answer, where the client can be asked on its own request; what it gives is to be
    called once nobody waits for the response any more, and until then a client that comes back is asked again.
    `planned_id` is the id of the call that is to become of the request, where that has been told already.
    `dialogue` knows what the clients of the initialize wire have been asked here.
    """

    message: Message
    caller: Caller
    endpoint: Endpoint
    version: str
    modern: bool = False
    key_header: str | None = None
    session: Session | None = None
    listener: Listener | None = None
    progress_token: bytes | None = None
    call_id: str | None = None
    outlives_request: bool = False
    log_level: str | None = None
    kept: Kept = NOTHING_KEPT
    keep: Keep | None = None
    declared: JsonObject | None = None
    notify: Callable[[bytes], None] | None = None
    parting: bytes | None = None
    request: Callable[[bytes], Callable[[], None]] | None = None
    planned_id: str | None = None
    dialogue: Dialogue | None = None

    def client_capabilities(self, meta: JsonObject) -> JsonObject | None:
        """What the client can do, `meta` being the request's; `None` for nothing."""
        if self.modern:
            return as_object(meta.get(CAPABILITIES_KEY)) or None
        if self.session is not None and self.session.capabilities:
            return unpack_capabilities(self.session.capabilities)
        return self.declared

    @property
    def wants_events(self) -> bool:
        """Whether the client hears of anything before the answer."""
        return self.progress_token is not None or self.log_level is not None

    def notice(self, event: Event) -> bytes | None:
        """The notification by which the client hears of `event`, if it wants to."""
        if isinstance(event, Progress):
            return None if self.progress_token is None else progress_body(self.progress_token, event)
        if isinstance(event, Log) and self.log_level is not None and is_wanted(event, self.log_level):
            return log_body(event)
        return None


class Reply(Struct, frozen=True):
    """A JSON-RPC response and the HTTP status that goes with it; `refused` says that it is an error.

    `retry_after_s` is what goes with a 429.
    """

    body: bytes
    status: int = 200
    replayed: bool = False
    refused: bool = False
    retry_after_s: int = 0


def error_reply(asked: Asked, error: ToolwireError, request_id: str | None = None) -> Reply:
    """The response to a request that was refused; `request_id` is what the log knows it by, if it is in there."""
    if error.told != error.message:
        request_id = request_id or new_id("req")
        logger.error("request %s was refused: %s", request_id, error.message)
    failure = Failure(error.code, error.told, error.data)
    return failure_reply(asked.endpoint, asked.message.id, failure, asked.modern, request_id)


def failure_reply(
    endpoint: Endpoint, id_: bytes, failure: Failure, modern: bool, request_id: str | None = None
) -> Reply:
    """A failure as a JSON-RPC error, by the endpoint's row for its code."""
    row = endpoint.row(failure.code, modern)
    data = {**(failure.data or {}), "request_id": request_id or new_id("req")}
    body = error_body(id_, row, failure.code, failure.message, data)
    later_s = max(1, -(-int(data.get("retry_after_ms", 1000)) // 1000)) if failure.code == "rate_limited" else 0
    return Reply(body, row.http_modern if modern else row.http_legacy, refused=True, retry_after_s=later_s)


def result_reply(asked: Asked, members: JsonObject) -> Reply:
    """The response with a result that has no `_meta` of its own."""
    result = modern_result(members, asked.endpoint.stamp) if asked.modern else plain_result(members)
    return Reply(result_body(asked.message.id, result))
