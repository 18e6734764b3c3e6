"""What a provider may do to a turn: fail for a while, answer oddly, answer from a thread or a coroutine (sdk.md 68)."""

from typing import Any

import pytest

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, raw, say, types, use
from toolwire.core.errors import StoreUnavailable
from toolwire.sdk import (
    AsyncClient,
    HostConfig,
    LLMRequest,
    LLMResponse,
    ProposedToolCall,
    ProviderError,
    TextBlock,
    TextDelta,
    ToolUseBlock,
    VerdictResult,
    aquery,
    query,
)
from toolwire.sdk.hosting.host import Host
from toolwire.sdk.testing import FakeLLMProvider


def failing(*errors: Exception, attempts: int = 1) -> Any:
    """A provider that raises `errors`, then answers."""
    left = list(errors)

    class Flaky:
        asked = 0

        async def complete(self, request: LLMRequest) -> LLMResponse:
            self.asked += 1
            if left:
                raise left.pop(0)
            return say("at last")

    return Flaky()


def busy(attempts: int = 1) -> ProviderError:
    error = ProviderError("overloaded", retryable=True, retry_after_s=0.0)
    error.attempts = attempts
    return error


def test_an_error_that_may_pass_is_asked_again_and_recorded():
    result = query(agent(), goal="go", provider=failing(busy(), busy()))

    assert result.answer() == "at last"
    retries = payloads(result, "LLMRetryScheduled")
    assert [(retry.attempt, retry.max_retries, retry.error) for retry in retries] == [
        (1, 2, "overloaded"),
        (2, 2, "overloaded"),
    ]


@pytest.mark.parametrize(
    ("error", "asked", "retryable"),
    [(busy(), 1, True), (busy(attempts=3), 1, True), (ProviderError("bad key"), 1, False), (KeyError("x"), 1, False)],
)
def test_other_errors_end_the_turn(error: Exception, asked: int, retryable: bool):
    provider = failing(error)
    config = HostConfig(llm_max_retries=0 if getattr(error, "attempts", 1) == 1 else 2)

    result = query(agent(), goal="go", provider=provider, host_config=config)

    (failed,) = payloads(result, "TaskFailed")
    assert (failed.reason, failed.retryable, provider.asked) == ("llm_error", retryable, asked)


def test_a_stream_that_breaks_after_its_first_part_is_not_asked_again():
    class Breaking:
        asked = 0

        async def stream(self, request: LLMRequest, on_delta: Any) -> LLMResponse:
            self.asked += 1
            on_delta(TextDelta("half"))
            raise busy()

        complete = stream

    provider: Any = Breaking()
    told: list[Any] = []

    def sink(task_id: str, delta: Any) -> None:
        told.append(delta)

    result = query(agent(), goal="go", provider=provider, host_config=HostConfig(delta_sink=sink))

    assert (provider.asked, told) == (1, [TextDelta("half")])
    assert payloads(result, "TaskFailed")[0].retryable is True


def test_blocks_that_no_provider_should_send_are_taken_as_well_as_can_be():
    nothing: Any = None
    name: Any = ["look"]
    content: Any = [TextBlock(nothing), ToolUseBlock("", "look", {"n": 1}), ToolUseBlock(nothing, name, {}), "no block"]
    odd = LLMResponse("tool_use", content, usage=nothing)
    ran: list[Any] = []

    result = query(agent(noting("look", ran)), goal="go", provider=model(odd, say()))

    assert (ran, result.answer()) == ([("look", {"n": 1})], "Done.")
    assert payloads(result, "ToolCallDenied")[0].reason == "tool \"['look']\" not in allowlist"


async def test_a_store_that_fails_raises_and_leaves_the_task_as_it_was_before(tmp_path: Any):
    config = HostConfig(storage_path=tmp_path / "tasks.db")
    async with AsyncClient(agent(), provider=model(say("a"), say("b"), say("c")), host_config=config) as client:
        outcome = await client.start(goal="go")
        host: Host = client._runner.host  # pyright: ignore[reportPrivateUsage] -- to put a broken store in
        store = host.store

        class Full:
            async def tx(self, ops: Any) -> None:
                raise StoreUnavailable("the disk is full")

        host.store = Full()  # pyright: ignore[reportAttributeAccessIssue] -- `tx` is all that saving needs
        with pytest.raises(StoreUnavailable):
            await client.send_goal(outcome.task_id, goal="more")
        host.store = store

        assert types(await client.events(outcome.task_id))[-1] == "TaskSuspended"
        assert (await client.send_goal(outcome.task_id, goal="more")).status == "suspended"


class Wordless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("where", ["guard", "resolver", "tool", "provider", "observer"])
async def test_an_exception_that_cannot_say_what_it_is_ends_nothing_but_its_call(where: str):
    class Bad:
        name, priority = "g", 50

        def check(self, action: Any, ctx: Any) -> Any:
            if isinstance(action, ProposedToolCall):
                raise Wordless
            return VerdictResult.allow()

    def bad(*_any: Any) -> Any:
        raise Wordless

    options = agent(
        raw("look", bad if where == "tool" else lambda _a, _c: 1, "high" if where == "resolver" else "low"),
        guards=(Bad(),) if where == "guard" else (),
        can_use_tool=bad if where == "resolver" else None,
        observers=(bad,) if where == "observer" else (),
    )
    script = model(use(("t1", "look", {})), say())
    provider = FakeLLMProvider(responder=bad) if where == "provider" else script

    result = await aquery(options, goal="go", provider=provider)

    assert types(result)[-1] == ("TaskFailed" if where == "provider" else "TaskCompleted")
