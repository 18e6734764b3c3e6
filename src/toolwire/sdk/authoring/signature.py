"""A function's parameters with their hints resolved; it does not say which hints a tool may have."""

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from toolwire.sdk.context import ToolContext

if sys.version_info >= (3, 14):
    import annotationlib

Body = Callable[..., Any]
REQUIRED = inspect.Parameter.empty
"""Stands for a missing default, a missing annotation and a missing return annotation, as in `inspect`."""


class Parameter(NamedTuple):
    """A parameter that the caller fills: `hint` is its resolved annotation, `default` is `REQUIRED` or a value."""

    name: str
    hint: Any
    default: Any = REQUIRED


class Signature(NamedTuple):
    """What a function takes and gives.

    `context` names the parameter the runtime fills and `context_type` its class; `method` says that the first
    parameter is the instance, which is not there yet; `returns` is `REQUIRED` when the hint is missing or unknown.
    """

    parameters: tuple[Parameter, ...]
    context: str | None
    context_type: type[ToolContext]
    method: bool
    returns: Any


def plain_function(fn: Body) -> Body:
    """The function at the bottom of wrappers, partials and callable objects: its source and names are those meant."""
    while True:
        if isinstance(fn, functools.partial):
            fn = fn.func
        elif isinstance(fn, (staticmethod, classmethod)):
            fn = cast("Any", fn).__func__
        elif hasattr(fn, "__wrapped__"):
            fn = cast("Any", fn).__wrapped__
        elif not isinstance(fn, (types.FunctionType, types.MethodType, types.BuiltinFunctionType)):
            return type(fn).__call__
        else:
            return fn


def check_body(fn: object, where: str = "tool()") -> None:
    """Refuse what can never be a tool.

    Raises:
        TypeError: `fn` is a class, a generator function or not callable at all.
    """
    if isinstance(fn, type) or not (callable(fn) or isinstance(fn, classmethod)):
        raise TypeError(f"{where} needs a function, got {fn!r}; write `def` or `async def`")
    body = plain_function(cast("Body", fn))
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        raise TypeError(f"{label_of(body)} is a generator; return the whole answer and send parts with ctx.say(…)")


def is_async(fn: Body) -> bool:
    """Whether calling `fn` gives a coroutine."""
    fn = _unwrap(fn)
    if inspect.iscoroutinefunction(fn):
        return True
    callable_object = not isinstance(fn, (types.FunctionType, types.MethodType, functools.partial))
    return callable_object and inspect.iscoroutinefunction(type(fn).__call__)


def is_method(fn: Body) -> bool:
    """Whether `fn` was taken from a class' body, so that its first parameter waits for the instance."""
    if isinstance(fn, classmethod):
        return True
    found = _parameters(fn)
    if not found or found[0].name not in ("self", "cls") or found[0].annotation is not REQUIRED:
        return False
    return not hasattr(fn, "__self__")


def raw_context_type(fn: Body) -> type[ToolContext]:
    """The class that the second parameter of an `(arguments, ctx)` function asks for."""
    scope = _Scope(plain_function(fn))
    asked = (_context_class(parameter, scope) for parameter in _parameters(fn) or ())
    return next((choice for choice in asked if choice is not None), ToolContext)


def takes_arguments_and_ctx(fn: Body) -> bool:
    """Whether `fn` has the seed's form `(arguments, ctx)`: two parameters, of which the first takes the dict."""
    found = _parameters(fn)
    if found is None:
        return True
    needed = [p for p in found if p.default is REQUIRED and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in found) and len(needed) <= 2:
        return True
    if is_method(fn):
        needed = needed[1:]
    return len(needed) == 2 and _is_dict_hint(needed[0]) and _is_context_hint(needed[1])


def expects_a_dict(fn: Body) -> bool:
    """Whether a function of two parameters, by its first, means the dict of all arguments rather than one argument."""
    found = [parameter for parameter in _parameters(fn) or () if parameter.name not in ("self", "cls")]
    return not found or found[0].name == "arguments" or found[0].annotation is REQUIRED


def read_signature(fn: Body) -> Signature:
    """The parameters of a typed tool.

    Raises:
        TypeError: a parameter has no hint, one that does not resolve, or is of a kind a caller cannot name.
    """
    body = plain_function(fn)
    label = label_of(body)
    found = _parameters(fn)
    if found is None:
        raise TypeError(f"{label}: has no signature to derive a schema from; give input_schema=")
    method = is_method(fn)
    scope = _Scope(body)
    parameters: list[Parameter] = []
    context: str | None = None
    context_type = ToolContext
    for parameter in found[1:] if method else found:
        _check_kind(parameter, label)
        injected = _context_class(parameter, scope)
        if injected is None:
            hint = scope.hint(parameter, label)
            if parameter.default is None:
                hint = _nullable(hint)
            parameters.append(Parameter(parameter.name, hint, parameter.default))
        elif context is not None:
            raise TypeError(f"{label}: parameters {context!r} and {parameter.name!r} both take the context")
        else:
            context, context_type = parameter.name, injected
    return Signature(tuple(parameters), context, context_type, method, scope.returns())


class _Scope:
    """The names a function's annotations may use: its module's, and those of the functions it was defined in."""

    def __init__(self, body: Body) -> None:
        self._annotations = _annotations(body)
        self._globals: dict[str, Any] = getattr(body, "__globals__", {})
        self._locals = _enclosing_names(body)

    def resolve(self, name: str) -> Any:
        """The annotation of `name` with strings evaluated; any exception of that evaluation comes through."""
        holder = types.SimpleNamespace(__annotations__={name: self._annotations[name]})
        return typing.get_type_hints(holder, self._globals, self._locals, include_extras=True)[name]

    def hint(self, parameter: inspect.Parameter, label: str) -> Any:
        """The resolved hint of `parameter`, or a `TypeError` that names it."""
        name = parameter.name
        if parameter.annotation is REQUIRED or name not in self._annotations:
            raise TypeError(f"{label}: parameter {name!r} has no type hint; add one, or give input_schema=")
        try:
            return self.resolve(name)
        except Exception as error:
            raise TypeError(
                f"{label}: the hint {self._annotations[name]!r} of parameter {name!r} does not resolve ({error}); "
                "import its names at run time, outside `if TYPE_CHECKING`"
            ) from error

    def returns(self) -> Any:
        """The return hint; an unknown one only means that there is no output schema."""
        if "return" not in self._annotations:
            return REQUIRED
        try:
            return self.resolve("return")
        except Exception:  # noqa: BLE001 -- an annotation is arbitrary code of the author's
            return REQUIRED


def _enclosing_names(body: Body) -> dict[str, Any]:
    """Names local to the functions around `body`, while they are still running, and those it closes over."""
    code = getattr(body, "__code__", None)
    names: dict[str, Any] = {}
    frame = inspect.currentframe()
    while frame is not None and code is not None:
        if code in frame.f_code.co_consts:
            names = {**frame.f_locals, **names}
            code = frame.f_code
        frame = frame.f_back
    return {**names, **dict(_closure(body))}


def _closure(body: Body) -> Iterator[tuple[str, Any]]:
    code = getattr(body, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(body, "__closure__", None) or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _context_class(parameter: inspect.Parameter, scope: _Scope) -> type[ToolContext] | None:
    """The context class that `parameter` asks for, or `None` when it is one for the caller."""
    try:
        hint = scope.resolve(parameter.name) if parameter.annotation is not REQUIRED else None
    except Exception:  # noqa: BLE001 -- `Ctx` is often imported for type checkers only; others are named later
        hint = None
    if typing.get_origin(hint) is typing.Annotated:
        hint = typing.get_args(hint)[0]
    choices = [choice for choice in typing.get_args(hint) if choice is not type(None)] or [hint]
    if len(choices) == 1 and isinstance(choices[0], type) and issubclass(choices[0], ToolContext):
        return choices[0]
    return ToolContext if parameter.name == "ctx" else None


def _check_kind(parameter: inspect.Parameter, label: str) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        shown = str(parameter.replace(annotation=REQUIRED))
        raise TypeError(f"{label}: parameter {shown!r} cannot be named by a caller; list the parameters one by one")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise TypeError(f"{label}: parameter {parameter.name!r} is positional-only; arguments come by name")


def _nullable(hint: Any) -> Any:
    """`x: T = None` means `T | None`, as many people write it; a description stays on the outside."""
    if typing.get_origin(hint) is typing.Annotated:
        base, *notes = typing.get_args(hint)
        return typing.Annotated[(_nullable(base), *notes)]
    if hint in (None, Any, object) or type(None) in typing.get_args(hint):
        return hint
    return typing.Optional[hint]  # noqa: UP045 -- a string or a special form has no `|`


def _is_dict_hint(parameter: inspect.Parameter) -> bool:
    hint = parameter.annotation
    if isinstance(hint, str):
        return hint.rpartition(".")[2].startswith(("dict", "Dict", "Mapping", "JsonObject", "Any"))
    return hint in (REQUIRED, Any) or (typing.get_origin(hint) or hint) in (dict, Mapping, cast("Any", typing.Mapping))


def _is_context_hint(parameter: inspect.Parameter) -> bool:
    hint = parameter.annotation
    if hint in (REQUIRED, Any, object) or parameter.name in ("ctx", "context", "_ctx", "_"):
        return True
    if isinstance(hint, str):
        return hint.endswith(("Context", "Ctx"))
    return isinstance(hint, type) and issubclass(hint, ToolContext)


def _parameters(fn: Body) -> list[inspect.Parameter] | None:
    """The parameters of `fn`; `None` when it does not tell them, as some functions written in C."""
    try:
        if sys.version_info >= (3, 14):
            shape = inspect.signature(_unwrap(fn), annotation_format=annotationlib.Format.FORWARDREF)
        else:
            shape = inspect.signature(_unwrap(fn))
    except (TypeError, ValueError):
        return None
    return list(shape.parameters.values())


def _annotations(body: Body) -> Mapping[str, Any]:
    """The annotations of `body`, those that do not resolve included."""
    if sys.version_info >= (3, 14):
        return annotationlib.get_annotations(body, format=annotationlib.Format.FORWARDREF)
    return getattr(body, "__annotations__", {})


def _unwrap(fn: Body) -> Body:
    return cast("Any", fn).__func__ if isinstance(fn, (staticmethod, classmethod)) else fn


def label_of(body: Body) -> str:
    """What `body` is called in errors."""
    return f"{getattr(body, '__qualname__', repr(body))}()"
