"""A function of an author's that is called with named arguments from outside; it knows no tool and makes no result.

What resources, prompts and completions share. Whatever the body raises becomes an error whose words a client may read.
"""

import inspect
import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.errors import InternalError, ToolwireError
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.authoring.coerce import Arguments
from toolwire.sdk.authoring.derive import derive_input
from toolwire.sdk.authoring.docstring import read_docstring
from toolwire.sdk.authoring.handler import THREADS_PER_TOOL, goes_on
from toolwire.sdk.authoring.signature import (
    Body,
    Parameter,
    check_body,
    is_async,
    is_method,
    label_of,
    plain_function,
    read_signature,
)
from toolwire.sdk.authoring.threads import BodyThreads
from toolwire.sdk.context import ToolContext
from toolwire.sdk.encode import Unencodable, clean_text
from toolwire.sdk.result import NO_REASON, Refuse, ToolError

LOGGER = logging.getLogger("toolwire.sdk")


class Authored(Struct, frozen=True):
    """How to call one function.

    Attributes:
        label: what it is called in errors, such as `prompt 'greet'`.
        parameters: those that the caller fills.
        schema: the JSON Schema of its arguments, with a description of each.
        text: the docstring's first paragraph.
        returns: the return hint, as `Signature.returns`.
    """

    label: str
    parameters: tuple[Parameter, ...]
    schema: JsonObject
    text: str
    returns: Any
    _fn: Body
    _arguments: Arguments
    _context: str | None
    _context_type: type[ToolContext]
    _threads: BodyThreads | None

    @classmethod
    def of(cls, fn: Body, what: str, name: str, inline: bool) -> Self:
        """Read a function.

        Args:
            fn: the function; its parameters need type hints.
            what: "resource", "prompt" or "completion".
            name: what it is called, or "" for its own name.
            inline: run a synchronous function on the event loop, because it never blocks.

        Raises:
            TypeError: it is no function, a method without its instance, or a parameter has no usable hint.
        """
        check_body(fn, f"@server.{what}")
        body = plain_function(fn)
        label = f"{what} {name or getattr(body, '__name__', '')!r}"
        if is_method(fn):
            raise TypeError(f"{label}: {label_of(body)} is a method; decorate a function")
        _check_hints(label, fn)
        signature = read_signature(fn)
        doc = read_docstring(body.__doc__)
        schema = derive_input(label, signature, doc.parameters)
        return cls(
            label=label,
            parameters=signature.parameters,
            schema=schema,
            text=doc.text,
            returns=signature.returns,
            _fn=fn,
            _arguments=Arguments(label, signature.parameters, schema),
            _context=signature.context,
            _context_type=signature.context_type,
            _threads=None if is_async(fn) or inline else BodyThreads(label, THREADS_PER_TOOL),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments."""
        return tuple(parameter.name for parameter in self.parameters)

    async def ask(self, given: Mapping[str, Any], call: Call, emit: Emit, finish: Callable[[Any], Any]) -> Any:
        """Call the function and give what `finish` makes of its answer.

        Args:
            given: the arguments by name; texts stand for what the hints say.
            call: who asks and until when; the context's call.
            emit: takes the context's events.
            finish: turns the answer into what is wanted; what it raises counts as the function's.

        Raises:
            UnfitArguments: they do not fit the hints.
            InternalError: the function failed; the message is for the client.
        """
        keywords = self._arguments.bind(dict(given))
        ctx: ToolContext | None = None
        try:
            if self._context is not None:
                ctx = keywords[self._context] = self._context_type.for_call(call, emit)
            value = await self._value(keywords)
            return finish(value)
        except BaseException as error:
            if ctx is not None:
                ctx.abandon()
            if goes_on(error) or isinstance(error, ToolwireError):
                raise
            raise self._failure(error, call) from error

    async def _value(self, keywords: dict[str, Any]) -> Any:
        if self._threads is None:
            value = self._fn(**keywords)
        else:
            value, error = await self._threads.run(partial(self._fn, **keywords))
            if error is not None:
                raise error
        return await value if inspect.isawaitable(value) else value

    def _failure(self, error: BaseException, call: Call) -> InternalError:
        if isinstance(error, (ToolError, Refuse)):
            return InternalError(clean_text(str(error)) or NO_REASON)
        if isinstance(error, Unencodable):
            return InternalError(f"{self.label} returned a value that has no JSON form: {clean_text(str(error))}")
        LOGGER.error("%s failed in call %s", self.label, call.id, exc_info=error)
        return InternalError(f"{self.label} failed: {type(error).__name__} (reference {call.id})")


def _check_hints(label: str, fn: Body) -> None:
    for parameter in inspect.signature(fn).parameters.values():
        if parameter.annotation is parameter.empty and parameter.name != "ctx":
            raise TypeError(f"{label}: parameter {parameter.name!r} has no type hint; add one, such as `str`")
