"""Changes on the wire: what a client wants to hear of, and the notifications; it listens to nothing.

Spec: MCP 2025-11-25 server/resources#subscriptions and #list-changed-notification of each list; MCP 2026-07-28
subscriptions/listen (mcp.md 1.2, change notifications).
"""

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Raw, Struct

from toolwire.core.change import Change, ListChanged
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.wire.jsonrpc import Message, notification_body
from toolwire.wire.mcp.handshake import Features

SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"
MAX_URIS = 1000
"""Resources that one client may wait for."""

_FLAGS = {"tools": "toolsListChanged", "prompts": "promptsListChanged", "resources": "resourcesListChanged"}
_URIS = "resourceSubscriptions"


class Wanted(Struct, frozen=True):
    """What a client is told of: which lists, and which resources."""

    lists: frozenset[str] = frozenset()
    uris: frozenset[str] = frozenset()

    def has(self, change: Change) -> bool:
        """Whether the client is told of `change`."""
        return change.which in self.lists if isinstance(change, ListChanged) else change.uri in self.uris


def read_wanted(message: Message, features: Features) -> Wanted:
    """What `subscriptions/listen` asks for, as far as it is offered.

    Raises:
        InvalidParam: the filter or a member of it is of the wrong type, or too long.
    """
    given = as_object(message.params.get("notifications"))
    if given is None:
        raise InvalidParam("params.notifications must be an object: what to be told of", param="notifications")
    offered = {"tools": features.changes, "prompts": features.prompts, "resources": features.resources}
    lists: set[str] = set()
    for name, flag in _FLAGS.items():
        wanted = given.get(flag)
        if wanted is not None and type(wanted) is not bool:
            raise InvalidParam(f"params.notifications.{flag} must be true or false", param=f"notifications.{flag}")
        if wanted and offered[name]:
            lists.add(name)
    uris = _uris(given.get(_URIS))
    return Wanted(frozenset(lists), uris if features.resources else frozenset())


def acknowledged_body(wanted: Wanted, subscription: bytes, task_ids: Sequence[str] = ()) -> bytes:
    """`notifications/subscriptions/acknowledged`.

    Args:
        wanted: the changes that are told.
        subscription: the request's id as JSON text.
        task_ids: the tasks that are told of (mcp.md 1.4).
    """
    shown: JsonObject = {flag: True for name, flag in _FLAGS.items() if name in wanted.lists}
    if wanted.uris:
        shown[_URIS] = sorted(wanted.uris)
    if task_ids:
        shown["taskIds"] = list(task_ids)
    return notification_body(
        "notifications/subscriptions/acknowledged", {"notifications": shown, "_meta": subscription_meta(subscription)}
    )


def change_body(change: Change, subscription: bytes | None = None) -> bytes:
    """The notification of a change; on 2026-07-28 it names its subscription."""
    params: JsonObject = {} if isinstance(change, ListChanged) else {"uri": change.uri}
    if subscription is not None:
        params["_meta"] = subscription_meta(subscription)
    if isinstance(change, ListChanged):
        return notification_body(f"notifications/{change.which}/list_changed", params)
    return notification_body("notifications/resources/updated", params)


def subscription_meta(subscription: bytes) -> JsonObject:
    """The `_meta` of everything that belongs to a subscription."""
    return {SUBSCRIPTION_KEY: Raw(subscription)}


def cancelled_body(request_id: bytes, reason: str) -> bytes:
    """`notifications/cancelled`, by which a server on stdio ends a subscription."""
    return notification_body("notifications/cancelled", {"requestId": Raw(request_id), "reason": reason})


def _uris(given: Any) -> frozenset[str]:
    if given is None:
        return frozenset()
    param = f"notifications.{_URIS}"
    if not isinstance(given, list) or not all(isinstance(uri, str) for uri in cast("list[Any]", given)):
        raise InvalidParam(f"params.{param} must be a list of URIs", param=param)
    listed = cast("list[str]", given)
    if len(listed) > MAX_URIS:
        raise InvalidParam(f"params.{param} has {len(listed)} URIs; ask for at most {MAX_URIS}", param=param)
    return frozenset(listed)
