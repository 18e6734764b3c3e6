"""A client that comes back for the rest of a stream: it gets what it has missed, and then what comes; it checks no key.

Where the request is still under way here its stream goes on; else its end is read from what is held of it, or from the
record of its call, which is there after a restart too.
Spec: MCP 2025-11-25 basic/transports#resumability-and-redelivery.
"""

from contextlib import aclosing

import anyio
from msgspec.structs import replace

from toolwire.core.errors import CallNotFound, OutcomeUnknown, ToolwireError
from toolwire.core.event import Finished
from toolwire.engine.engine import Engine, Submission
from toolwire.engine.follow import follow
from toolwire.engine.record import Record
from toolwire.surfaces.asked import Asked, Reply, error_reply
from toolwire.surfaces.endpoint import Admission
from toolwire.surfaces.event_ids import Mark, holder_of
from toolwire.surfaces.exchange import Exchange, Receive
from toolwire.surfaces.mcp_logging import wanted_level
from toolwire.surfaces.mcp_methods import ended
from toolwire.surfaces.sessions import Session
from toolwire.surfaces.standalone import LAST_FRAME_S
from toolwire.surfaces.streams import Held, Stream, Streams
from toolwire.wire.jsonrpc import Message
from toolwire.wire.mcp.versions import LATEST_LEGACY
from toolwire.wire.sse import event, priming


def is_said(streams: Streams, after: Mark) -> bool:
    """Whether nothing comes after this place, so that a client need not come back again."""
    found = streams.find(after.stream)
    return after.over or (isinstance(found, Held) and found.answer is None)


class Resumption:
    """One client that has come back."""

    def __init__(self, streams: Streams, admission: Admission, session: Session | None, after: Mark) -> None:
        self._streams = streams
        self._admission = admission
        self._session = session
        self._after = after
        self._holder = holder_of(admission.caller, admission.endpoint.agent_id, session)

    async def serve(self, exchange: Exchange, receive: Receive) -> None:
        """Send the rest of the stream."""
        found = self._streams.find(self._after.stream)
        try:
            if isinstance(found, Stream):
                found.attach(exchange, self._after)
                await self._hold(exchange, receive)
                found.left(exchange)
                return
            exchange.push(priming(self._id(self._after), self._streams.limits.retry_ms), owed=True)
            if found is None:
                await self._read_record(exchange, receive)
            else:
                for frame in found.frames(self._after, self._streams.ids, self._holder):
                    exchange.push(frame, owed=True)
        finally:
            with anyio.move_on_after(LAST_FRAME_S, shield=True):
                await exchange.finish(200, None)

    async def _hold(self, exchange: Exchange, receive: Receive) -> None:
        try:
            await exchange.hold(receive)
        except BaseException:
            # We are cancelled, so the server stops; the request, which is too, has the last word on its stream.
            with anyio.move_on_after(LAST_FRAME_S, shield=True):
                await exchange.ended()
            raise

    async def _read_record(self, exchange: Exchange, receive: Receive) -> None:
        asked = Asked(
            Message("tools/call", {}, self._after.request_id.encode()),
            self._admission.caller,
            self._admission.endpoint,
            LATEST_LEGACY,
            session=self._session,
            progress_token=None if self._after.token is None else self._after.token.encode(),
        )
        asked.log_level = wanted_level(asked, {})

        async def until_gone() -> None:
            await exchange.hold(receive)
            tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(until_gone)
            reply = await self._follow(asked, exchange)
            if reply is not None:
                exchange.push(event(reply.body, self._id(replace(self._after, over=True))), owed=True)
            tasks.cancel_scope.cancel()

    async def _follow(self, asked: Asked, exchange: Exchange) -> Reply | None:
        """The answer, from the record; `None` when it is not there yet, and the client should come back once more."""
        engine, after = self._streams.engine, self._after
        try:
            record = await _record_of(engine, asked.caller.owner, after.stream)
            if record.call.caller.principal != asked.caller.principal:
                raise CallNotFound("this call was made by somebody else")
            async with aclosing(follow(engine, asked.caller.owner, after.stream, after.seq)) as told:
                async for stamped in told:
                    if isinstance(stamped.event, Finished):
                        record.finish(stamped.event.result)
                        return ended(asked, Submission(record))
                    body = asked.notice(stamped.event)
                    if body is not None:
                        exchange.push(event(body, self._id(replace(after, seq=stamped.seq))))
        except CallNotFound:
            lost = "what became of this request is not kept any more; look whether it was done before you send it again"
            return error_reply(asked, OutcomeUnknown(lost))
        except ToolwireError:
            return None  # such as a store that cannot be read now
        return None

    def _id(self, mark: Mark) -> str:
        return self._streams.ids.mint(mark, self._holder)


async def _record_of(engine: Engine, owner: str, call_id: str) -> Record:
    """A record of our own of a call that runs here or is stored, to be ended by what `follow` tells."""
    live = engine.find(call_id)
    if live is not None:
        return Record(live.call, engine.clock, live.created_at)
    stored = await engine.load(owner, call_id)
    if stored is None:
        raise CallNotFound(f"no call {call_id!r} here")
    return Record(stored.call, engine.clock, stored.created_at)
