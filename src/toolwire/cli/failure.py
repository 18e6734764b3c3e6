"""How a command fails: one line that says why and what to do, and an exit code; it never shows a traceback.

    0  done
    1  the tool answered that it failed, or `doctor` found something wrong
    2  the command was not used as it must be, or a setting is wrong
    3  it could not be done or asked: no host, refused, port taken, …

`TOOLWIRE_DEBUG=1` shows the traceback of whatever went wrong.
"""

import os
from typing import Any, Final

from toolwire.config import ConfigError
from toolwire.core.errors import ToolwireError

DONE: Final = 0
TOOL_FAILED: Final = 1
USAGE: Final = 2
NOT_DONE: Final = 3
INTERRUPTED: Final = 130
"""What a shell makes of a program that Ctrl-C has ended."""

DEBUG_VARIABLE: Final = "TOOLWIRE_DEBUG"


class Failed(Exception):
    """A command cannot do what it was asked.

    Args:
        message: lower case, with the offending value and what to do next.
        code: a token for programs, from `core.error_rows.ERRORS` where one fits.
        exit_code: what the process ends with.
        data: more for a program; JSON values only.
    """

    def __init__(
        self, message: str, code: str = "failed", exit_code: int = NOT_DONE, data: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.exit_code = exit_code
        self.data = data


def misused(message: str) -> Failed:
    """A `Failed` that says how the command is to be used."""
    return Failed(message, "usage", USAGE)


def failure_of(error: BaseException) -> Failed:
    """What to tell of any exception."""
    error = sole(error)
    match error:
        case Failed():
            return error
        case ConfigError():
            return Failed(str(error), "config", USAGE)
        case ToolwireError():
            return Failed(error.message, error.code, data=error.data or None)
        case OSError(strerror=str(reason), filename=str(name)):
            return Failed(f"{name}: {reason}", "system")
        case OSError():
            return Failed(str(error) or type(error).__name__, "system")
        case _:
            text = f"unexpected {type(error).__name__}: {error}; set {DEBUG_VARIABLE}=1 to see where"
            return Failed(text, "internal_error")


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return os.environ.get(DEBUG_VARIABLE, "") not in ("", "0")


def sole(error: BaseException) -> BaseException:
    """What a task group has wrapped: its first exception, since the others follow from that."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] -- any group
    return error  # pyright: ignore[reportUnknownVariableType] -- an exception, whatever group it came in
