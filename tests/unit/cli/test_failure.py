"""What a person is told of an exception, and what the process ends with."""

import errno

import pytest

from toolwire.cli.failure import NOT_DONE, USAGE, Failed, failure_of
from toolwire.config import ConfigError
from toolwire.core.errors import AgentOffline


@pytest.mark.parametrize(
    ("error", "code", "exit_code", "message"),
    [
        (Failed("no", "x", 7), "x", 7, "no"),
        (ConfigError(["a: b", "c: d"]), "config", USAGE, "a: b\nc: d"),
        (AgentOffline("not attached"), "agent_offline", NOT_DONE, "not attached"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "system", NOT_DONE, "/x: Permission denied"),
        (OSError("odd"), "system", NOT_DONE, "odd"),
        (ZeroDivisionError("by zero"), "internal_error", NOT_DONE, "unexpected ZeroDivisionError: by zero; set TOOL"),
        (ExceptionGroup("g", [ExceptionGroup("h", [AgentOffline("gone")])]), "agent_offline", NOT_DONE, "gone"),
    ],
)
def test_an_exception_becomes_one_message_with_a_code(error: Exception, code: str, exit_code: int, message: str):
    failed = failure_of(error)

    assert (failed.code, failed.exit_code) == (code, exit_code)
    assert failed.message.startswith(message)


def test_what_an_error_tells_programs_is_kept():
    assert failure_of(AgentOffline("x", retry_after_ms=5)).data == {"retry_after_ms": 5}
