"""Who wants to hear of changes: `subscriptions/listen` of 2026-07-28, `resources/subscribe` of the wire before.

The first is a request that lasts and is told itself. What the second asks for is told where its client listens anyway.
"""

import anyio
from msgspec import Raw

from toolwire.core.change import Change
from toolwire.core.errors import InvalidParam, InvalidRequest, MethodNotFound, NotAcceptable
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.changes import Changes
from toolwire.surfaces.sessions import Kept
from toolwire.surfaces.task_watch import watch_tasks
from toolwire.wire.jsonrpc import result_body
from toolwire.wire.mcp.changes import MAX_URIS, acknowledged_body, change_body, read_wanted, subscription_meta
from toolwire.wire.mcp.envelope import SERVER_INFO_KEY
from toolwire.wire.mcp.library import read_uri
from toolwire.wire.mcp.replies import plain_result
from toolwire.wire.mcp.tasks import read_watched


async def listen(engine: Engine, asked: Asked) -> Reply:
    """Tell of changes until the client has had enough; where the server ends it, `asked.parting` is the last word."""
    endpoint, notify, id_ = asked.endpoint, asked.notify, asked.message.id
    changes, task_ids = endpoint.library.changes, read_watched(asked.message)
    if changes is None and not task_ids:
        raise MethodNotFound("'subscriptions/listen': nothing that is offered here changes, and no task is named")
    wanted = read_wanted(asked.message, endpoint.features)
    watch = await watch_tasks(engine, asked, task_ids)
    if notify is None:
        raise NotAcceptable("a subscription is a stream; accept text/event-stream")

    def hear(change: Change) -> None:
        if wanted.has(change):
            notify(change_body(change, id_))

    meta = {**subscription_meta(id_), SERVER_INFO_KEY: Raw(endpoint.stamp.server_info)}
    asked.parting = result_body(id_, plain_result({"resultType": "complete", "_meta": meta}))
    with (changes or Changes()).heard(hear):
        notify(acknowledged_body(wanted, id_, watch.task_ids))
        if changes is not None:
            for uri in wanted.uris:
                changes.want(uri)
        with watch.heard(notify, id_):
            await anyio.sleep_forever()
    return Reply(asked.parting)


async def subscribe(engine: Engine, asked: Asked) -> Reply:
    """`resources/subscribe` of the older wire."""
    return await _keep_uri(asked, wanted=True)


async def unsubscribe(engine: Engine, asked: Asked) -> Reply:
    """`resources/unsubscribe` of the older wire; of what nobody waits for, too."""
    return await _keep_uri(asked, wanted=False)


async def _keep_uri(asked: Asked, *, wanted: bool) -> Reply:
    endpoint = asked.endpoint
    if endpoint.library.changes is None or endpoint.library.resources is None:
        raise MethodNotFound(f"{asked.message.method!r}: no resource that is offered here changes")
    uri = read_uri(asked.message)
    if asked.keep is None:
        raise InvalidRequest("a subscription belongs to a session; send initialize and repeat its Mcp-Session-Id")

    def change(kept: Kept) -> Kept:
        uris = kept.uris | {uri} if wanted else kept.uris - {uri}
        if len(uris) > MAX_URIS:
            raise InvalidParam(f"more than {MAX_URIS} subscriptions; unsubscribe from some first", param="uri")
        return Kept(kept.log_level, uris)

    await asked.keep(change)
    if wanted:
        endpoint.library.changes.want(uri)
    return result_reply(asked, {})
