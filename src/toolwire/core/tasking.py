"""How the body of a call says that the call goes on as a task, and the port that makes one of it; it makes none.

A body finds the port at the `emit` that its handler was given, as it finds the asker (core/asking.py).
"""

from collections.abc import Awaitable, Callable
from typing import TypeAlias, cast

MakeTask: TypeAlias = Callable[[], Awaitable[float]]
"""Makes a task of the call and gives its deadline, Unix seconds; of a call that is a task already nothing changes.

Raises:
    StoreUnavailable: the task cannot be committed.
"""


def task_maker_of(emit: Callable[..., object]) -> MakeTask | None:
    """What makes a task of a call, given the `emit` of its handler; `None` where its tool or its client has no tasks.

    It is the attribute `make_task` of whatever `emit` is a method of, or of `emit` itself.
    """
    return cast("MakeTask | None", getattr(getattr(emit, "__self__", emit), "make_task", None))
