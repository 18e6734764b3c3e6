"""Asks the client behind a call what its agent wants to know; it does not know how clients or agents are reached.

An agent that wants its call to go on as a task asks for that in the same way. Questions and answers are as
wire/link.py has them.
"""

from collections.abc import Sequence

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.asking import NobodyToAsk, Question, asker_of, is_declared
from toolwire.core.errors import InvalidParam, ToolwireError
from toolwire.core.event import Asks
from toolwire.core.handler import Emit
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.ports import Clock
from toolwire.core.tasking import task_maker_of
from toolwire.engine.asking import Asking
from toolwire.gateway.channel import GATEWAY
from toolwire.gateway.delivery import Delivery
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.task_state import Standing
from toolwire.wire.link import USER_CONTINUE, Message
from toolwire.wire.rest import rfc3339


class _Questions(Struct, frozen=True):
    questions: tuple[Question, ...]


async def ask_meanwhile(delivery: Delivery, clock: Clock) -> None:
    """Ask what the agent wants to know, until it has answered the message or is given up.

    An answer is told to whoever has the message, and again to who takes it over, because it stands on no channel.

    Cancellation: what is asked is withdrawn.
    """
    async with anyio.create_task_group() as tasks:
        while not delivery.settled:
            for message in delivery.take_questions():
                tasks.start_soon(_ask, delivery, message, clock)
            await delivery.stirred()
        tasks.cancel_scope.cancel("the message is answered")


async def answers_to(payload: JsonObject, emit: Emit | None) -> JsonObject:
    """What the client behind `emit` answers to the questions of a payload, or why it does not, for the agent."""
    try:
        questions = _read(payload)
        asker = None if emit is None else asker_of(emit)
        if asker is None or emit is None:
            raise NobodyToAsk("the client of this call cannot be asked any more, or could never be")
        emit(Asks(tuple(questions)))
        answers = await asker.ask(questions, _unfit)
    except ToolwireError as error:
        return {"error": {"code": error.code, "message": error.told, "data": error.data}}
    except ValueError as error:
        return {"error": {"code": InvalidParam.code, "message": str(error)}}
    return {"answers": dict(answers), "deadline": asker.deadline, "client_capabilities": asker.can}


async def _ask(delivery: Delivery, message: Message, clock: Clock) -> None:
    """Ask the client, unless the owner is faster. What waits for an approval waits for the owner if nobody else can."""
    if "task" in message.payload:
        _tell(delivery, message, await _made_task(delivery), clock)
        return
    is_approval = "approvals" in message.payload
    if is_approval and not _can_decide(delivery.emit):
        return
    with (delivery.asked or {})[message.message_id]:
        payload = await answers_to(message.payload, delivery.emit)
        if not (is_approval and "error" in payload):
            _tell(delivery, message, payload, clock)


async def _made_task(delivery: Delivery) -> JsonObject:
    """Make a task of the call, if its client takes one: until when it may take, or why it is none."""
    make_task = None if delivery.emit is None else task_maker_of(delivery.emit)
    if make_task is None:
        return {}
    try:
        if delivery.commit is not None:
            await delivery.commit()
        return {"deadline": await make_task()}
    except ToolwireError as error:
        return {"error": {"code": error.code, "message": error.told, "data": error.data}}


def _can_decide(emit: Emit | None) -> bool:
    """Whether there is somebody behind the call who can be shown a form, or looks after its task."""
    asker = None if emit is None else asker_of(emit)
    if asker is None:
        return False
    return is_declared(asker.can, "elicitation") or (isinstance(asker, Asking) and isinstance(asker.way, Standing))


def _tell(delivery: Delivery, message: Message, payload: JsonObject, clock: Clock) -> None:
    now, channel_id = rfc3339(clock.now()), message.channel_id
    answer = Message(new_id("msg"), channel_id, 0, USER_CONTINUE, payload, GATEWAY, now, message.message_id)
    delivery.tell_answer(answer)


def _read(payload: JsonObject) -> Sequence[Question]:
    try:
        return msgspec.convert(payload, _Questions).questions
    except msgspec.ValidationError as error:
        raise InvalidParam(f"the questions are malformed: {error}", param="questions") from None


def _unfit(question: Question, answer: JsonObject) -> str | None:
    """What is wrong with an answer as far as the question itself says; the agent, who asked, looks again."""
    match question.method:
        case "elicitation/create":
            return _unfit_form(question.params, answer)
        case "sampling/createMessage":
            missing = [name for name in ("role", "content", "model") if name not in answer]
            return f"it has no {missing[0]}" if missing else None
        case "roots/list":
            return None if isinstance(answer.get("roots"), list) else "it has no list of roots"


def _unfit_form(params: JsonObject, answer: JsonObject) -> str | None:
    action, content = answer.get("action"), as_object(answer.get("content"))
    if action not in ("accept", "decline", "cancel"):
        return f"its action is {action!r}"
    if action != "accept" or params.get("mode") == "url":
        return None
    if content is None:
        return "it is accepted and has no content"
    try:
        violations = compile_validator(as_object(params.get("requestedSchema")) or {}).check(content)
    except InvalidParam:
        return None  # a schema that we cannot use says nothing
    return f"{violations[0].path or 'content'}: {violations[0].message}" if violations else None
