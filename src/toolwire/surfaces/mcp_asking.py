"""Requests whose body may ask the client, on either wire; it knows no tool and reads no socket.

On the initialize wire a question goes out on the request's own stream while the body waits. On 2026-07-28 the request
is answered with the question, the body is parked, and the repeat of the request goes on in it.
"""

import hashlib
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar, cast

import anyio
import msgspec
from msgspec.structs import replace

from toolwire.core.asking import require
from toolwire.core.call import Call
from toolwire.core.errors import ServiceTimeout
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import failed
from toolwire.engine.asking import Asking
from toolwire.engine.engine import TIMEOUT_TEXT, Engine, Submission
from toolwire.engine.record import Listener
from toolwire.surfaces.asked import Asked, Reply
from toolwire.surfaces.direct import DirectWork, answer_in_place, call_for
from toolwire.surfaces.mcp_tasks import let_become_task
from toolwire.surfaces.parking import Parked, Parking
from toolwire.wire.jsonrpc import result_body
from toolwire.wire.mcp.asking import has_answers, input_required_result, read_answers

T = TypeVar("T")
_canonical = msgspec.json.Encoder(order="deterministic").encode
_Begin = Callable[[Call, Parked], Awaitable[Parked]]
"""Lets a body begin; gives the `Parked` to wait for, which is an older one where a key stands for a running call."""


def can_be_asked(asked: Asked, call: Call) -> bool:
    """Whether the client behind a request says that it can be asked anything, or has been asked already."""
    return call.client_capabilities is not None or (asked.modern and has_answers(asked.message))


async def submit_asking(engine: Engine, asked: Asked, call: Call, listener: Listener | None) -> Submission | Reply:
    """As `Engine.submit`, for a tool that may ask; a `Reply` asks.

    Raises:
        InvalidParam: what the repeat of a request brings is malformed, or its state is not ours.
        ToolwireError: as `Engine.submit`.
    """
    parking = asked.endpoint.parking
    if not asked.modern:
        return await _on_stream(engine, asked, call, listener)
    if parking is None:
        return await engine.submit(call, asked.endpoint.catalog, listener)
    waited = await _until_turn(engine, asked, call, parking, partial(_begin_call, engine, asked), listener)
    if isinstance(waited, Reply):
        return waited
    assert isinstance(waited.work, RecordWork)
    return waited.work.submission


async def reply_directly(
    engine: Engine,
    asked: Asked,
    name: str,
    arguments: JsonObject,
    work: Callable[[Call, Emit], Awaitable[T]],
    reply: Callable[[T], Reply],
) -> Reply:
    """As `direct.ask`, for work that may ask.

    Args:
        engine: whose clock it is.
        asked: the request.
        name: what is asked for, such as a URI.
        arguments: what comes with it.
        work: gives the answer; it gets who asks and until when, and where its events go.
        reply: makes the response of it.

    Raises:
        InvalidParam: as `submit_asking`.
        ServiceTimeout: the endpoint's time-out has passed.
    """
    call = call_for(engine, asked, name, arguments)
    parking = asked.endpoint.parking
    if not can_be_asked(asked, call) or (asked.modern and parking is None):
        return reply(await answer_in_place(engine, asked, call, work))
    if not asked.modern or parking is None:
        asking = Asking(call.client_capabilities, call.deadline)
        _attach(asked, asking)
        return reply(await answer_in_place(engine, asked, call, work, asking))

    async def begin(begun: Call, parked: Parked) -> Parked:
        made = DirectWork(engine, begun, work, parked)
        parked.work = made
        parking.start(made.run)
        return parked

    waited = await _until_turn(engine, asked, call, parking, begin, asked.listener)
    if isinstance(waited, Reply):
        return waited
    made = cast("DirectWork[T]", waited.work)  # a state is bound to its method, so it is of this very kind
    return reply(made.result())


async def _on_stream(engine: Engine, asked: Asked, call: Call, listener: Listener | None) -> Submission:
    """The initialize wire: ask on the stream of the request."""
    submission = await engine.begin(call, asked.endpoint.catalog, listener)
    record = submission.record
    if not submission.replayed:
        record.asker = asking = Asking(call.client_capabilities, call.deadline)
        record.listen(asking.hear)
        _attach(asked, asking)
    elif isinstance(record.asker, Asking) and not record.over and asked.request is not None:
        # The same key again, perhaps because the stream with the question is lost: ask on this one, too.
        _attach(asked, record.asker)
        if record.asker.questions and record.asker.way is not None:
            record.asker.way.ask(record.asker.questions)
    try:
        await _until(engine, call, record.wait, partial(engine.cancel, record.call.id))
    finally:
        if listener is not None and not submission.replayed:
            record.unlisten(listener)
    return submission


def _attach(asked: Asked, asking: Asking) -> None:
    dialogue = asked.dialogue
    if dialogue is not None:
        session_id = "" if asked.session is None else asked.session.id
        asking.way = dialogue.way((session_id, asked.caller.principal), asking, asked.request)


async def _until_turn(
    engine: Engine, asked: Asked, call: Call, parking: Parking, begin: _Begin, listener: Listener | None
) -> Parked | Reply:
    """2026-07-28: let the body go on until it has ended or asks; the `Reply` asks."""
    given = read_answers(asked.message)
    state = parked = None
    if given.state is not None:
        bound = _bound(asked, call)
        state = parking.seal.open(given.state, bound)
        parked = parking.find(state.call_id, bound)
    before = given.responses if state is None else {**given.responses, **state.answers}
    if parked is None:
        on_gateway = asked.endpoint.plane == "gateway"  # where an agent remembers what it answered under the old id
        if state is not None and not on_gateway and engine.find(state.call_id) is None:
            call = replace(call, id=state.call_id)  # begun anew, it is still the same call
        asking = Asking(call.client_capabilities, call.deadline, before, repeats=True)
        parked = begun = Parked(call.id, asking)
        parked = await begin(call, begun)
        is_new = parked is begun
    else:
        is_new = False
    if not is_new:
        parking.resume(parked, call.deadline)
        parked.asking.can = call.client_capabilities or {}
        parked.asking.bring(before)
    work = parked.work
    assert work is not None
    if isinstance(work, RecordWork):
        asked.call_id = parked.call_id
    with work.heard_by(listener):
        await _until(engine, call, parked.turn, work.stop)
    if parked.over or parked.is_task:
        parking.end(parked)
        return parked
    questions = parked.asking.questions
    token = parking.park(parked, parked.bound or _bound(asked, call))
    require(parked.asking.can, [need for question in questions for need in question.needs])
    return Reply(result_body(asked.message.id, input_required_result(questions, token, asked.endpoint.stamp)))


async def _until(
    engine: Engine, call: Call, wait: Callable[[], Awaitable[object]], stop: Callable[[str], object]
) -> None:
    """Wait for the body, and end it with the request unless the call outlives that.

    Raises:
        ServiceTimeout: the request's time is up, and the call goes on.
    """
    if call.outlives_request:
        with anyio.move_on_after(max(0.0, call.deadline - engine.clock.now())) as patience:
            await wait()
        if patience.cancelled_caught:
            keyed = call.idempotency_key is not None
            raise ServiceTimeout(TIMEOUT_TEXT, task_id=call.id, retryable=keyed)
        return
    try:
        await wait()
    except anyio.get_cancelled_exc_class():
        stop("nobody waits for the answer any more")
        raise


async def _begin_call(engine: Engine, asked: Asked, call: Call, parked: Parked) -> Parked:
    submission = await engine.begin(call, asked.endpoint.catalog)
    record = submission.record
    if not submission.replayed:
        record.asker = parked.asking
        let_become_task(engine, asked, record, parked.become_task)
    elif isinstance(record.asker, Asking) and isinstance(record.asker.way, Parked):
        return record.asker.way  # the key stands for a call that asks, or will
    parked.call_id = record.call.id
    parked.is_task = record.call.task is not None
    parked.work = RecordWork(engine, submission)
    if not record.over:
        record.listen(parked.hear)
    return parked


class RecordWork:
    """A `Work` that is a call with a record."""

    def __init__(self, engine: Engine, submission: Submission) -> None:
        self._engine = engine
        self.submission = submission
        self._record = submission.record

    @property
    def over(self) -> bool:
        """See `parking.Work.over`."""
        return self._record.over

    @contextmanager
    def heard_by(self, listener: Listener | None) -> Generator[None]:
        """See `parking.Work.heard_by`."""
        record = self._record
        if listener is None or record.over:
            yield
            return
        record.listen(listener)
        try:
            yield
        finally:
            record.unlisten(listener)

    def pause(self) -> None:
        """See `parking.Work.pause`."""
        self._record.slow = None
        if self._record.timer is not None:
            self._record.timer.cancel()

    def go_on(self, deadline: float) -> None:
        """See `parking.Work.go_on`."""
        record, engine = self._record, self._engine
        self.pause()
        if record.call.outlives_request:
            deadline = max(deadline, engine.last_moment(record))
        verdict = failed(TIMEOUT_TEXT, "service_timeout")
        left = max(0.0, deadline - engine.clock.now())
        record.timer = engine.timekeeper.after(left, partial(record.stop, verdict))

    def stop(self, reason: str) -> None:
        """See `parking.Work.stop`."""
        self._engine.cancel(self._record.call.id, reason)


def _bound(asked: Asked, call: Call) -> tuple[str, ...]:
    """What a state is good for: this caller, this endpoint, this request (mcp.md 1.2)."""
    endpoint = asked.endpoint
    arguments = hashlib.sha256(_canonical(call.arguments)).hexdigest()
    return (call.caller.principal, endpoint.agent_id, endpoint.name, asked.message.method, call.tool, arguments)
