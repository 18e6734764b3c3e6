"""What the agent SDK raises, beside `TypeError` and `ValueError` for what cannot be built; it handles nothing.

    AgentError
    ├── NotResumableError       the task does not wait for that
    ├── InvalidTurnOptionError  a per-turn option that cannot be
    ├── QueryFailedError        the answer of a query that has none
    └── ProviderError           a model did not answer

Each has a stable `code`. A tool's, a guard's or a resolver's own exceptions never come through: they become events.
"""

from typing import ClassVar


class AgentError(Exception):
    """The base of what this SDK raises on purpose."""

    code: ClassVar[str] = "agent_error"


class NotResumableError(AgentError):
    """The task is unknown, busy, over, or waits for something else; the message names what it waits for."""

    code = "not_resumable"


class InvalidTurnOptionError(AgentError, ValueError):
    """A value given for one turn that `Options` would not take either."""

    code = "invalid_turn_option"


class QueryFailedError(AgentError):
    """There is no answer.

    Attributes:
        task_id: whose answer was asked for.
        status: "failed", "suspended", "cancelled", "interrupted" or "running".
        reason: why, such as "llm_error" or what is waited for.
        retryable: whether the same query may succeed later.
        detail: more about the reason, such as the provider's message.
    """

    code = "query_failed"

    def __init__(
        self, task_id: str, status: str, reason: str, retryable: bool = False, detail: str | None = None
    ) -> None:
        super().__init__(f"{task_id} is {status}: {reason}" + (f" ({detail})" if detail else ""))
        self.task_id = task_id
        self.status = status
        self.reason = reason
        self.retryable = retryable
        self.detail = detail


class ProviderError(AgentError):
    """A model provider has no answer.

    Attributes:
        retryable: whether trying again later may help (overload, rate limit, connection).
        retry_after_s: how long the provider asked to wait, in seconds.
        status: the HTTP status, where there was one.
        attempts: how often the provider has asked by now; whoever asks again counts from there.
    """

    code = "provider_error"
    attempts: int = 1

    def __init__(
        self,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.status = status
