"""How the body of a call says that nobody but its caller may see what the call said; it hides nothing itself.

A body finds the record at the `emit` that its handler was given, as it finds the asker (core/asking.py).
"""

from collections.abc import Callable
from typing import Any


def keep_confidential(emit: Callable[..., object]) -> None:
    """Mark a call as confidential, given the `emit` of its handler; where nothing is recorded it does nothing.

    It sets the attribute `confidential` of whatever `emit` is a method of.
    """
    record: Any = getattr(emit, "__self__", None)
    if hasattr(record, "confidential"):
        record.confidential = True
