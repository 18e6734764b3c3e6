"""A model for tests, scripted or computed; it answers at once and keeps what it was asked."""

import inspect
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any

from toolwire.sdk.messages import LLMRequest, LLMResponse, OnDelta, TextBlock, TextDelta

Responder = Callable[[LLMRequest], Any]


class FakeLLMProvider:
    """Answers with `responses` in turn, or with what `responder(request)` returns (sdk.md 77).

    Args:
        responses: the answers, in order; what is no `LLMResponse` tests how the runtime takes that.
        responder: computes the answer, and is asked first; `None` as its answer means: take the next of `responses`.
            It runs on a thread, so it may block, unless it is a coroutine function.

    Attributes:
        received_requests: what was asked, in order.
        inline: there is no responder that might block.
    """

    def __init__(self, responses: Iterable[Any] = (), responder: Responder | None = None) -> None:
        self.received_requests: list[LLMRequest] = []
        self.inline = responder is None or inspect.iscoroutinefunction(responder)
        self._responses = list(responses)
        self._responder = responder
        self._taken = 0
        self._lock = threading.Lock()

    def complete(self, request: LLMRequest) -> Any:
        """The next answer.

        Raises:
            IndexError: there were fewer responses than requests.
        """
        with self._lock:
            self.received_requests.append(request)
        if self._responder is not None:
            answer = self._responder(request)
            if answer is not None:
                return answer
        return self._next()

    def _next(self) -> Any:
        with self._lock:
            if self._taken >= len(self._responses):
                raise IndexError(
                    f"FakeLLMProvider responses exhausted: scripted {len(self._responses)} response(s) "
                    f"but received {len(self.received_requests)} request(s)"
                )
            self._taken += 1
            return self._responses[self._taken - 1]

    def stream(self, request: LLMRequest, on_delta: OnDelta) -> Any:
        """The next answer, its text in words first; asked only where somebody listens."""
        answer = self.complete(request)
        if isinstance(answer, LLMResponse):
            for block in answer.content:
                if isinstance(block, TextBlock):
                    for piece in re.findall(r"\S+\s*|\s+", block.text):
                        on_delta(TextDelta(piece))
        return answer
