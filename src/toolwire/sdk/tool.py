"""`@tool`: a function as a tool, in the seed's form and from its type hints; it does not run calls."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypedDict, Unpack, cast, overload

import msgspec

from toolwire.core.handler import Handler
from toolwire.core.jsontypes import JsonObject
from toolwire.core.tool import RiskLevel, TaskMode, Tool
from toolwire.sdk.authoring.checks import (
    checked_annotations,
    checked_name,
    checked_options,
    checked_risk,
    checked_schema,
    checked_task,
    checked_text,
    checked_timeout,
    version_of,
)
from toolwire.sdk.authoring.coerce import Arguments, UnfitArguments
from toolwire.sdk.authoring.derive import derive_input, derive_output
from toolwire.sdk.authoring.docstring import read_docstring
from toolwire.sdk.authoring.handler import ContextFor, Ends, Plan, binder, checked, make_handler
from toolwire.sdk.authoring.inlining import inline_refs
from toolwire.sdk.authoring.signature import (
    Body,
    Signature,
    check_body,
    expects_a_dict,
    is_async,
    is_method,
    label_of,
    plain_function,
    raw_context_type,
    read_signature,
    takes_arguments_and_ctx,
)
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import NO_REASON, Refuse, ToolError, ToolResult

_LIKE_THE_FUNCTION = ("__module__", "__name__", "__qualname__", "__doc__")


class ToolOptions(TypedDict, total=False):
    """What `tool(…)` can be told; all of it by keyword.

    Attributes:
        name: what the model calls the tool: 1 to 64 of A-Z, a-z, 0-9, `_` and `-`; by default the function's name.
        version: part of the tool's identity; by default a digest of the schema and the source.
        input_schema: a JSON Schema of type object, for a function `(arguments, ctx)`; needs `name` and `version`.
        risk_level: "low" (the default), "medium" or "high"; read by the permission system.
        description: what the model knows of the tool; by default the docstring's first paragraph.
        title: a name for people.
        timeout: seconds a call may take; by default the caller's own limit.
        concurrency_safe: calls of one response may overlap with this tool's.
        idempotent: running it twice does no harm, so it may be sent again after a crash.
        output_schema: a JSON Schema that the structured content is checked against.
        structured: derive the output schema from the return hint; by default only when that names a record.
        annotations: MCP's hints, such as `readOnlyHint`.
        validate: check the arguments of a function `(arguments, ctx)` against its schema inside the SDK, too.
        strict: do not decode a text in which the model hid a number or an object.
        inline_refs: write what `$ref`s in the schemas name in place, for clients that cannot follow them.
        inline: run a synchronous function on the event loop, because it never blocks.
        task: whether a call over MCP is a task, which its client need not wait for: "never" (the default), "optional",
            where the client knows tasks, "required", so that no other client has the tool, or "later", as "required",
            but the body works and asks within the request until it calls `ctx.become_task()`.
        task_timeout: seconds a task may take; by default the server's own limit, a day.
    """

    name: str
    version: str
    input_schema: JsonObject
    risk_level: RiskLevel
    description: str
    title: str | None
    timeout: float | None
    concurrency_safe: bool
    idempotent: bool
    output_schema: JsonObject | None
    structured: bool
    annotations: JsonObject | None
    validate: bool
    strict: bool
    inline_refs: bool
    inline: bool
    task: TaskMode
    task_timeout: float | None


@dataclass(frozen=True)
class ToolRef:
    """A tool's identity, as agents declare and records name it (sdk.md 9)."""

    name: str
    version: str
    risk_level: RiskLevel


class DecoratedTool:
    """A function made a tool by `@tool`. Calling the object calls the function itself.

    Attributes:
        tool: the definition, as every surface shows it.
        concurrency_safe: whether its calls may overlap with others of the same response.
        validate: whether the arguments of a raw function are checked inside the SDK.
    """

    tool: Tool
    concurrency_safe: bool
    validate: bool
    __qualname__: str
    __wrapped__: Body
    _plan: Plan
    _method: bool
    _handler: Handler

    def __init__(self, tool: Tool, plan: Plan, *, concurrency_safe: bool, validate: bool, method: bool) -> None:
        """Made by `tool`; `method` says that `plan.fn` still waits for its instance."""
        body = plain_function(plan.fn)
        vars(self).update({name: getattr(body, name, None) for name in _LIKE_THE_FUNCTION})
        vars(self).update(tool=tool, concurrency_safe=concurrency_safe, validate=validate)
        vars(self).update(__wrapped__=plan.fn, _plan=plan, _method=method, _handler=make_handler(plan))

    @property
    def handler(self) -> Handler:
        """Runs a `Call` and gives its `Result`; raises nothing but cancellation.

        Raises:
            TypeError: the tool is a method, and was not taken from an instance.
        """
        if self._method:
            raise TypeError(f"{self.__qualname__} is a method; take the tool from an instance, or decorate a function")
        return self._handler

    @property
    def name(self) -> str:
        """What the model calls the tool."""
        return self.tool.name

    @property
    def description(self) -> str:
        """What the model knows of the tool."""
        return self.tool.description

    @property
    def risk_level(self) -> RiskLevel:
        """How much harm a call can do."""
        return self.tool.risk_level

    @property
    def version(self) -> str:
        """The author's version, or the digest of schema and source."""
        return self.tool.version

    @property
    def input_schema(self) -> JsonObject:
        """A copy of the schema of the arguments."""
        return checked_schema(self.tool.input_schema, "input_schema")

    @property
    def ref(self) -> ToolRef:
        """The tool's identity."""
        return ToolRef(self.tool.name, self.tool.version, self.tool.risk_level)

    def invoke(self, arguments: JsonObject, ctx: ToolContext | None = None) -> Any:
        """Run the body here and now, as a unit test does; `handler` is for calls.

        Args:
            arguments: the JSON arguments; the body gets a copy.
            ctx: the context; by default one that keeps content in memory.

        Returns:
            A `ToolResult`, or an awaitable of one when the function is asynchronous. Arguments that do not fit,
            `ToolError` and `Refuse` give a failed one; other exceptions of the body come through.
        """
        plan = self._plan
        ctx = plan.context_type() if ctx is None else ctx
        try:
            value = _called(plan, arguments, ctx)
        except (UnfitArguments, ToolError, Refuse) as error:
            return ToolResult(success=False, summary=str(error) or NO_REASON)
        return _awaited(value) if inspect.isawaitable(value) else _as_tool_result(value)

    def bind(self, context_for: ContextFor, ends: Ends | None = None) -> Handler:
        """A handler like `handler` whose calls get the context that `context_for(call, emit)` makes.

        `ends` makes their results; by default they are those of `handler`.
        """
        return make_handler(self._plan, context_for, ends)

    def renamed(self, name: str) -> "DecoratedTool":
        """The same tool under another name, which is not checked: `toolwire.Server` serves names that models do not."""
        plan = msgspec.structs.replace(self._plan, name=name)
        return DecoratedTool(
            msgspec.structs.replace(self.tool, name=name),
            plan,
            concurrency_safe=self.concurrency_safe,
            validate=self.validate,
            method=self._method,
        )

    def misfit(self, arguments: JsonObject) -> str | None:
        """Why a call with these arguments would be refused, or `None`; a raw tool takes whatever comes (sdk.md 4)."""
        plan = self._plan
        try:
            if plan.arguments is not None:
                binder(plan.arguments, plan)(arguments)
            elif plan.input_schema is not None:
                checked(plan)(arguments)
        except UnfitArguments as error:
            return error.message
        return None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the author's function itself."""
        return self.__wrapped__(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> "DecoratedTool":
        fn = self._plan.fn
        if not self._method or (instance is None and not isinstance(fn, classmethod)):
            return self
        plan = msgspec.structs.replace(self._plan, fn=cast("Any", fn).__get__(instance, owner))
        return DecoratedTool(
            self.tool, plan, concurrency_safe=self.concurrency_safe, validate=self.validate, method=False
        )

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a tool does not change: {name!r} is set by tool({name}=…)")

    def __repr__(self) -> str:
        where = f"{self.__module__}.{self.__qualname__}"
        return f"<tool {self.name!r} version={self.version!r} risk_level={self.risk_level!r} of {where}>"


@overload
def tool(fn: Body, **options: Unpack[ToolOptions]) -> DecoratedTool: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Body], DecoratedTool]: ...
def tool(fn: Any = None, **options: Unpack[ToolOptions]) -> DecoratedTool | Callable[[Body], DecoratedTool]:
    """Make a function a tool: `@tool`, `@tool(…)` or `tool(fn, …)`.

    With `input_schema` the function is `fn(arguments, ctx)` and takes the arguments as they come (sdk.md 1-10).
    Without it the schema comes from the type hints, the defaults and the docstring, and the function gets each
    argument by name, converted to its hint.

    Args:
        fn: the function; left out where `tool(…)` is used as a decorator.
        **options: see `ToolOptions`.

    Raises:
        TypeError: `version` or `name` is missing beside `input_schema`, an option is unknown or of the wrong type,
            or a parameter has no JSON Schema; the message names it.
        ValueError: a name, risk level, version or time-out that cannot be.
    """
    checked_options(options, ToolOptions.__optional_keys__)
    if "input_schema" in options:
        for needed, reason in (("version", "it is part of the tool's identity"), ("name", "the model calls it so")):
            if needed not in options:
                raise TypeError(f"tool() with input_schema needs {needed}=…, because {reason}")
    if fn is not None:
        return build_tool(cast("Body", fn), options)

    def decorate(body: Body) -> DecoratedTool:
        return build_tool(body, options)

    return decorate


def build_tool(fn: Body, options: ToolOptions) -> DecoratedTool:
    """What `tool` does after its own checks; here a typed function may have a hand-written schema of its own.

    Raises:
        TypeError, ValueError: as `tool`.
    """
    if isinstance(fn, DecoratedTool):
        raise TypeError(f"{fn.name!r} is a tool already")
    check_body(fn)
    raw = takes_arguments_and_ctx(fn)
    if raw and "input_schema" in options:
        return _built(fn, options, None)
    if raw and expects_a_dict(fn):
        raise TypeError(
            f"tool(): {label_of(plain_function(fn))} takes (arguments, ctx), so it needs input_schema=…, name=… "
            "and version=…; or give the function one parameter with a type hint for each argument"
        )
    return _built(fn, options, read_signature(fn))


def _built(fn: Body, options: ToolOptions, signature: Signature | None) -> DecoratedTool:
    body = plain_function(fn)
    doc = read_docstring(body.__doc__ if signature is not None else None)
    name = checked_name(options["name"] if "name" in options else getattr(body, "__name__", ""))
    schema = _input(name, options, signature, doc.parameters)
    output_schema, wrap = _output(options, signature)
    if options.get("inline_refs", False):
        schema = inline_refs(schema)
        output_schema = None if output_schema is None else inline_refs(output_schema)
    plan = Plan(
        name=name,
        fn=fn,
        is_async=is_async(fn),
        arguments=None
        if signature is None
        else Arguments(name, signature.parameters, schema, options.get("strict", False)),
        context=None if signature is None else signature.context,
        context_type=raw_context_type(fn) if signature is None else signature.context_type,
        input_schema=schema if _checked_first(options, signature) else None,
        inline=options.get("inline", False),
        output_schema=output_schema,
        wrap=wrap,
    )
    definition = Tool(
        name=name,
        description=checked_text(options.get("description", doc.text), "description"),
        input_schema=schema,
        title=options.get("title"),
        output_schema=output_schema,
        annotations=checked_annotations(options.get("annotations")),
        risk_level=checked_risk(options.get("risk_level", "low")),
        version=version_of(options.get("version"), schema, body),
        timeout_s=checked_timeout(options.get("timeout")),
        idempotent=options.get("idempotent", False),
        task=checked_task(options.get("task", "never")),
        task_timeout_s=checked_timeout(options.get("task_timeout"), "task_timeout"),
        strict=options.get("strict", False),
    )
    return DecoratedTool(
        definition,
        plan,
        concurrency_safe=options.get("concurrency_safe", False),
        validate=options.get("validate", False),
        method=is_method(fn),
    )


def _checked_first(options: ToolOptions, signature: Signature | None) -> bool:
    """A raw function's arguments are checked when asked; a typed one's when the schema says more than its hints."""
    return options.get("validate", False) if signature is None else "input_schema" in options


def _input(name: str, options: ToolOptions, signature: Signature | None, descriptions: Mapping[str, str]) -> JsonObject:
    if "input_schema" in options or signature is None:
        return checked_schema(options.get("input_schema", {}), "input_schema")
    return derive_input(name, signature, descriptions)


def _output(options: ToolOptions, signature: Signature | None) -> tuple[JsonObject | None, bool]:
    given = options.get("output_schema")
    if given is not None:
        return checked_schema(given, "output_schema"), False
    if signature is None:
        return None, False
    return derive_output(signature.returns, options.get("structured"))


def _called(plan: Plan, arguments: JsonObject, ctx: ToolContext) -> Any:
    if plan.arguments is None:
        return plan.fn(checked(plan)(arguments), ctx)
    keywords = binder(plan.arguments, plan)(arguments)
    if plan.context is not None:
        keywords[plan.context] = ctx
    return plan.fn(**keywords)


async def _awaited(value: Awaitable[Any]) -> ToolResult:
    try:
        return _as_tool_result(await value)
    except (ToolError, Refuse) as error:
        return ToolResult(success=False, summary=str(error) or NO_REASON)


def _as_tool_result(value: Any) -> ToolResult:
    return value if isinstance(value, ToolResult) else ToolResult(success=True, output=value)
