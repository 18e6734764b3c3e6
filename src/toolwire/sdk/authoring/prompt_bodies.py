"""Tells coroutine functions that never wait by their code; it runs none.

Such a body is at its end as soon as it is begun, so a call of it needs no task, no cancel scope and no timer: nobody
could stop it half-way (`core.handler.is_prompt`; the engine and the agent's worker act on it).
"""

import dis
import inspect
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
