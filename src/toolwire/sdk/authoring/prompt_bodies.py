"""Tells coroutine functions that never wait by their code; it runs none.

Such a body is at its end as soon as it is begun, so a call of it needs no task, no cancel scope and no timer: nobody
could stop it half-way (`core.handler.is_prompt`; the engine and the agent's worker act on it).
"""

import dis
import inspect
from itertools import pairwise
from types import FunctionType
from typing import Any

_WAITING = frozenset({"YIELD_VALUE", "SEND", "GET_AWAITABLE", "YIELD_FROM"})
"""What a coroutine waits by; the first alone is how it gives up control, the others lead there."""


def never_waits(fn: Any) -> bool:
    """Whether `fn` is an `async def` whose body has no `await`, `async for` or `async with`: it cannot be interrupted.

    What is no plain function (a partial, an object with `__call__`, a wrapper of another language) counts as waiting.
    """
    if not isinstance(fn, FunctionType) or not fn.__code__.co_flags & inspect.CO_COROUTINE:
        return False
    return all(instruction.opname not in _WAITING for instruction in dis.get_instructions(fn.__code__))


_HARMLESS = frozenset(
    {
        "artifact_store",
        "call_id",
        "cancelled",
        "client_can",
        "close_stream",
        "deadline",
        "log",
        "metadata",
        "progress",
        "require_client",
        "say",
    }
)
"""What may be read of a `ToolContext` without asking anybody."""
_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_LOOKS = frozenset({"locals", "vars", "eval", "exec"})


def never_asks(fn: Any, context: str) -> bool:
    """Whether a function does nothing with the context it is given, by its name, but read what asks nobody.

    One that passes it on, keeps it, or is no plain function counts as asking.
    """
    if not isinstance(fn, FunctionType):
        return False
    code = fn.__code__
    if context not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] or context in code.co_cellvars:
        return False
    if not _LOOKS.isdisjoint(code.co_names):
        return False
    for one, following in pairwise(dis.get_instructions(code)):
        if "FAST" not in one.opname or context not in _names_in(one.argval):
            continue
        is_attribute = following.opname in ("LOAD_ATTR", "LOAD_METHOD")
        if one.opname not in _LOADS or not is_attribute or following.argval not in _HARMLESS:
            return False
    return True


def _names_in(argval: Any) -> tuple[Any, ...]:
    """The variables of an instruction; some have two."""
    return argval if isinstance(argval, tuple) else (argval,)  # pyright: ignore[reportUnknownVariableType] -- of texts
