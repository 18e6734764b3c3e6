"""From a call to its result through an author's function, whatever the function does; it derives no schemas.

Whatever the body returns or raises, even `SystemExit`, becomes a `Result`. Only being cancelled goes on, because then
nobody waits for one.
"""

import functools
import logging
import math
import sys
from collections.abc import Callable
from typing import Any, TypeAlias

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.errors import MissingCapability, PageRequired, ToolwireError
from toolwire.core.handler import Emit, Handler, mark_asking, mark_prompt
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result, Text, failed
from toolwire.providers.schema import Validator, compile_validator, explain
from toolwire.sdk.authoring.coerce import Arguments, UnfitArguments, deep_copy, unfit
from toolwire.sdk.authoring.prompt_bodies import never_asks, never_waits
from toolwire.sdk.authoring.threads import BodyThreads
from toolwire.sdk.context import ToolContext
from toolwire.sdk.encode import Unencodable, clean_text
from toolwire.sdk.result import NO_REASON, Refuse, ToolError, to_result

LOGGER = logging.getLogger("toolwire.sdk")

THREADS_PER_TOOL = 40
"""Synchronous bodies of one tool that run at once; further calls wait. Other tools have their own threads.

A body that was left behind by its cancelled call counts until it ends.
"""

ContextFor: TypeAlias = Callable[[Call, Emit], ToolContext]
_Ended: TypeAlias = Callable[[str, Call, BaseException], Result]
_Finish: TypeAlias = Callable[[Any, ToolContext | None], Result]
_Started: TypeAlias = tuple[tuple[Any, ...], dict[str, Any], ToolContext | None]
_Start: TypeAlias = Callable[[Call, Emit], _Started]


class Plan(Struct, frozen=True):
    """How to call one function.

    `arguments` converts the arguments of a typed function; a raw one gets them as they came. `input_schema`, where
    set, is what they are checked against first. `context` names the parameter of a typed function that takes the
    context. `inline` runs a synchronous body on the event loop. `output_schema` is what structured content is checked
    against, and `wrap` puts what is no object into one.
    """

    name: str
    fn: Callable[..., Any]
    is_async: bool
    arguments: Arguments | None
    context: str | None
    context_type: type[ToolContext]
    input_schema: JsonObject | None = None
    inline: bool = False
    output_schema: JsonObject | None = None
    wrap: bool = False


class Ends(Struct, frozen=True):
    """What a runtime of its own makes of a call's end; a surface takes the results that this module makes.

    `value` turns what the body returned into a result; what it raises, such as `Unencodable`, counts as the body's.
    `error` turns what the body raised into one, and raises nothing.
    """

    value: Callable[[Any, ToolContext | None], Result]
    error: Callable[[str, Call, BaseException], Result]


def make_handler(plan: Plan, context_for: ContextFor | None = None, ends: Ends | None = None) -> Handler:
    """The handler of one tool.

    Args:
        plan: how to call the function.
        context_for: makes the context of a call; by default `plan.context_type.for_call`.
        ends: makes the results; by default they are MCP's content blocks.

    Returns:
        A handler that raises nothing but cancellation.
    """
    start = _starter(plan, context_for or plan.context_type.for_call)
    finish = _finisher(plan)
    if ends is not None:
        finish = _finisher_of(ends, plan, finish)
    ended = ended_badly if ends is None else ends.error
    if plan.is_async or plan.inline:
        handler = _in_place(plan, start, finish, ended)
        if never_waits(plan.fn):
            return mark_prompt(handler)
    else:
        handler = _on_thread(plan, start, finish, ended)
    return mark_asking(handler) if _may_ask(plan) else handler


def _may_ask(plan: Plan) -> bool:
    if plan.arguments is None:
        return True
    if plan.context is None:
        return False
    return plan.context_type is not ToolContext or not never_asks(plan.fn, plan.context)


def checked(plan: Plan) -> Callable[[JsonObject], JsonObject]:
    """The check and the copy of arguments; its result shares nothing with what came.

    The function raises `UnfitArguments` when they do not fit `plan.input_schema`.
    """
    if plan.input_schema is None:
        return deep_copy
    schema, compiled = plan.input_schema, list[Validator]()

    def check(arguments: JsonObject) -> JsonObject:
        copied = deep_copy(arguments)
        if not compiled:
            compiled.append(compile_validator(schema))
        violations = compiled[0].check(copied)
        if violations:
            raise unfit(violations)
        return copied

    return check


def _starter(plan: Plan, context_for: ContextFor) -> _Start:
    if plan.arguments is None:
        check = checked(plan)

        def start_raw(call: Call, emit: Emit) -> _Started:
            ctx = context_for(call, emit)
            return (check(call.arguments), ctx), {}, ctx

        return start_raw
    bind, name = binder(plan.arguments, plan), plan.context
    if name is None:
        return lambda call, _emit: ((), bind(call.arguments), None)

    def start_typed(call: Call, emit: Emit) -> _Started:
        keywords = bind(call.arguments)
        ctx = keywords[name] = context_for(call, emit)
        return (), keywords, ctx

    return start_typed


def binder(arguments: Arguments, plan: Plan) -> Callable[[JsonObject], dict[str, Any]]:
    """From a typed function's JSON arguments to its keywords; raises `UnfitArguments`."""
    if plan.input_schema is None:
        return arguments.bind
    check = checked(plan)
    return lambda given: arguments.bind(check(given))


def _finisher(plan: Plan) -> _Finish:
    schema, wrap, compiled = plan.output_schema, plan.wrap, list[Validator]()

    def finish(value: Any, ctx: ToolContext | None) -> Result:
        result = to_result(value, None if ctx is None else ctx.artifact_store, wrap)
        if schema is None or result.error is not None:  # a failure owes no structured content (mcp.md S23)
            return result
        if not compiled:
            compiled.append(compile_validator(schema))
        return _with_checked_output(plan.name, compiled[0], result)

    return finish


def _finisher_of(ends: Ends, plan: Plan, finish: _Finish) -> _Finish:
    """`ends.value`, behind the check of the output where there is one."""
    if plan.output_schema is None:
        return ends.value

    def finish_checked(value: Any, ctx: ToolContext | None) -> Result:
        result = finish(value, ctx)
        return result if result.error is not None else ends.value(value, ctx)

    return finish_checked


def _with_checked_output(name: str, validator: Validator, result: Result) -> Result:
    if result.structured is msgspec.UNSET:
        return failed(f"tool {name!r} gave no structured content, which its output schema promises")
    violations = validator.check(result.structured)
    if not violations:
        return result
    return failed(f"tool {name!r} gave a result that does not fit its output schema: {explain(violations)}")


def _in_place(plan: Plan, start: _Start, finish: _Finish, ended: _Ended) -> Handler:
    fn, is_async, plain = plan.fn, plan.is_async, plan.output_schema is None

    async def handle(call: Call, emit: Emit) -> Result:
        try:
            positional, keywords, ctx = start(call, emit)
            value = fn(*positional, **keywords)
            if is_async or hasattr(value, "__await__"):
                value = await value
            if plain and type(value) is str and value.isascii():
                return Result(content=(Text(value),))
            return finish(value, ctx)
        except BaseException as error:
            if goes_on(error):
                raise
            return ended(plan.name, call, error)

    return handle


def _on_thread(plan: Plan, start: _Start, finish: _Finish, ended: _Ended) -> Handler:
    fn, threads = plan.fn, BodyThreads(plan.name, THREADS_PER_TOOL)

    async def handle(call: Call, emit: Emit) -> Result:
        ctx: ToolContext | None = None
        try:
            positional, keywords, ctx = start(call, emit)
            value, error = await threads.run(functools.partial(fn, *positional, **keywords))
            if error is not None:
                return ended(plan.name, call, error)
            if hasattr(value, "__await__"):
                value = await value
            return finish(value, ctx)
        except BaseException as error:
            if ctx is not None:
                ctx.abandon()
            if goes_on(error):
                raise
            return ended(plan.name, call, error)

    return handle


def ended_badly(name: str, call: Call, error: BaseException) -> Result:
    """The failed result for what a body raised.

    The model reads an author's own words (`ToolError`, `Refuse`) and ours. Of any other exception it reads the type
    and the call's id; the message and the traceback go to the logger `toolwire.sdk` alone (sdk.md 17, §3.12).
    """
    match error:
        case ToolError():
            return failed(clean_text(str(error)) or NO_REASON)
        case Refuse():
            return failed(clean_text(str(error)) or "refused", data={"refused": True})
        case UnfitArguments() | MissingCapability() | PageRequired():
            return failed(clean_text(error.message), error.code, error.data)
        case Unencodable():
            return failed(f"tool {name!r} returned a value that has no JSON form: {clean_text(str(error))}")
        case _:
            LOGGER.error("tool %r failed in call %s", name, call.id, exc_info=error)
    if isinstance(error, ToolwireError):
        return failed(clean_text(error.message))
    return failed(f"tool {name!r} failed: {type(error).__name__} (reference {call.id})")


def goes_on(error: BaseException) -> bool:
    """Whether `error` is not the body's but the end of the task that runs it."""
    if isinstance(error, (Exception, GeneratorExit)):
        return isinstance(error, GeneratorExit)
    cancelled = anyio.get_cancelled_exc_class()
    if not isinstance(error, cancelled):
        return False
    if cancelled.__module__.partition(".")[0] != "asyncio" or anyio.current_effective_deadline() == -math.inf:
        return True
    task = sys.modules["asyncio"].current_task()  # a body may let out the cancellation of a task of its own
    return task is None or task.cancelling() > 0
