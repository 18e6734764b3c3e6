"""How whoever runs a call says that somebody has taken it and works on it; it hands nothing over itself.

A body finds the record at the `emit` that its handler was given, as it finds the asker (core/asking.py).
"""

from collections.abc import Callable
from typing import Any


def say_taken(emit: Callable[..., object], at: float | None = None) -> float | None:
    """Say that a call is taken, given the `emit` of its handler.

    It calls the method `taken` of whatever `emit` is a method of; where nothing is recorded it does nothing.

    Args:
        emit: of the call.
        at: when it was, Unix seconds, where that is known already; `None` is now.

    Returns:
        When it was taken, Unix seconds; `None` where nothing is recorded.
    """
    taken: Any = getattr(getattr(emit, "__self__", None), "taken", None)
    return None if taken is None else taken(at)
