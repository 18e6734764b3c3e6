"""Plain calls of tools that never wait: begun, ended and noted in one go; it refuses nothing but unfit arguments.

Nobody can see such a call while it runs, let alone stop it, so it has no place among the running ones, no scope and no
timer, and takes no task (`core.handler.is_prompt`).
"""

import logging
from collections.abc import Sequence

from msgspec.structs import replace

from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.ports import Clock
from toolwire.core.result import Result, failed
from toolwire.engine.catalog import Entry
from toolwire.engine.ending import Endings
from toolwire.engine.record import Observer, Record

logger = logging.getLogger("toolwire.engine")


class PromptCalls:
    """Runs them for the engine. `observers` are the engine's."""

    def __init__(self, clock: Clock, endings: Endings, observers: Sequence[Observer]) -> None:
        self._clock = clock
        self._endings = endings
        self._observers = observers

    def run(self, call: Call, entry: Entry, now: float) -> Record:
        """Run a call that is not durable and has no attachments.

        Args:
            call: what to run.
            entry: its tool's, whose handler is prompt and has no delegate.
            now: Unix seconds; when it began.

        Returns:
            The record, which has ended.

        Raises:
            InvalidArguments: see `Entry.check`.
        """
        arguments = entry.check(call.arguments)
        if arguments is not call.arguments:
            call = replace(call, arguments=arguments)
        record = Record(call, self._clock, now)
        if self._observers:
            record.begins(self._observers)
        running = entry.handler(call, record.emit).__await__()
        try:
            next(running)
        except StopIteration as end:
            result: Result = end.value
        except Exception as error:  # noqa: BLE001 -- it is the end of the call, and logged as that
            result = failure_of(call, error)
        else:
            running.close()
            raise RuntimeError(f"the handler of {call.tool!r} is marked as one that never waits, and it does")
        record.finish(result)
        self._endings.note(record)
        return record


def failure_of(call: Call, error: Exception) -> Result:
    """What a call ends with whose handler has raised `error`; what was not meant for its reader goes to the log."""
    if isinstance(error, ToolwireError):
        return failed(error.told, error.code, error.data or None)
    logger.error("call %s of %r failed inside its provider", call.id, call.tool, exc_info=error)
    return failed(f"the tool failed inside the server (reference {call.id})", "internal_error")
