"""One goal from start to answer, and what a tool or a model can do to it (sdk.md 17-19, 61, 68)."""

import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.sdk.runtime.script import Body, agent, model, noting, payloads, raw, results, say, types, use
from toolwire.sdk import (
    AssistantMessage,
    LLMResponse,
    QueryFailedError,
    Result,
    TextBlock,
    ToolResult,
    ToolResultView,
    ToolUse,
    Usage,
    UserMessage,
    aquery,
    query,
    tool,
)
from toolwire.sdk.testing import FakeLLMProvider


def test_a_query_is_its_events_and_knows_its_answer_messages_and_usage():
    ran: list[Any] = []

    result = query(agent(noting("look", ran)), goal="go", provider=model(use(("t1", "look", {"a": 1})), say()))

    assert ran == [("look", {"a": 1})]
    assert result.answer() == "Done."
    assert result.usage() == Usage(uncached=2, output=2)
    assert result.messages() == [
        UserMessage("go"),
        ToolUse("t1", "look", {"a": 1}),
        ToolResultView("t1", "look", True, '"look"'),
        AssistantMessage("Done."),
        Result("Done.", "completed"),
    ]
    assert [event.seq for event in result] == list(range(len(result)))
    assert {event.task_id for event in result} == {result.task_id}
    assert len({event.id for event in result}) == len(result)


async def test_aquery_runs_on_the_callers_own_loop():
    result = await aquery(agent(), goal="go", provider=model(say("yes")))

    assert result.answer() == "yes"


async def test_query_works_inside_a_running_loop():
    assert query(agent(), goal="go", provider=model(say("yes"))).answer() == "yes"


def test_the_model_is_told_where_it_is_before_the_goal():
    provider = model(say())

    query(agent(), goal="go", provider=provider, model="some-model")

    first, second = provider.received_requests[0].messages
    assert first.text.startswith("<workspace-environment>")
    assert "some-model" in first.text
    assert second.text == "go"


@pytest.mark.parametrize(
    ("returned", "read"),
    [
        ("text", "text"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ([1, "b"], [1, "b"]),
        (None, ""),
        (3.5, 3.5),
        (True, True),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z"),
        ({3, 1}, [1, 3]),
        (float("nan"), None),
        ("\ud800x", "\ufffdx"),
        (ToolResult(success=True, output={"a": {1}}), {"a": [1]}),
        (ToolResult(success=True), ""),
    ],
)
def test_the_model_reads_the_value_that_a_tool_returns(returned: Any, read: Any):
    provider = model(use(("t1", "give", {})), say())

    result = query(agent(raw("give", lambda _a, _c: returned)), goal="go", provider=provider)

    assert result.answer() == "Done."
    (block,) = results(provider.received_requests[1])
    assert (block.output, block.success, block.error) == (read, True, None)


def _raise(error: BaseException) -> Any:
    raise error


def cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


MISTAKES: list[tuple[Body, str]] = [
    (lambda _a, _c: ToolResult(success=False, summary="city not found"), "city not found"),
    (lambda _a, _c: ToolResult(success=False), "tool failed"),
    (lambda _a, _c: 1 / 0, "tool 'bad' raised ZeroDivisionError: division by zero"),
    (lambda _a, _c: _raise(SystemExit(3)), "tool 'bad' raised SystemExit: 3"),
    (lambda _a, _c: _raise(KeyboardInterrupt()), "tool 'bad' raised KeyboardInterrupt"),
    (lambda _a, _c: cyclic(), "contains itself"),
    (lambda _a, _c: {"rows": [{"at": object()}]}, "output.rows[0].at: object"),
    (lambda _a, _c: (n for n in range(3)), "output: generator"),
    (lambda _a, _c: ToolResult(success="yes"), "neither True nor False"),  # pyright: ignore[reportArgumentType] -- an author's mistake
    (lambda _a, _c: ToolResult(True, artifacts="x"), "a list of ContentRef"),  # pyright: ignore[reportArgumentType] -- an author's mistake
]


@pytest.mark.parametrize(("body", "words"), MISTAKES)
def test_a_tools_mistake_is_a_failed_result_that_the_model_can_use(body: Any, words: str):
    provider = model(use(("t1", "bad", {})), say())

    result = query(agent(raw("bad", body)), goal="go", provider=provider)

    assert result.answer() == "Done."
    (block,) = results(provider.received_requests[1])
    assert block.success is False
    assert words in (block.error or "")
    assert payloads(result, "ToolResultRecorded")[0].success is False


def test_a_traceback_goes_to_the_log_and_not_to_the_model(caplog: pytest.LogCaptureFixture):
    provider = model(use(("t1", "bad", {})), say())

    with caplog.at_level(logging.ERROR, "toolwire.sdk"):
        query(agent(raw("bad", lambda _a, _c: 1 / 0)), goal="go", provider=provider)

    assert "ZeroDivisionError" in caplog.text
    assert "Traceback" in caplog.text
    assert "Traceback" not in str(results(provider.received_requests[1]))


def test_a_body_gets_a_deep_copy_of_its_arguments():
    def body(arguments: dict[str, Any], ctx: Any) -> str:
        arguments["list"].append("changed")
        return "ok"

    provider = model(use(("t1", "change", {"list": [1]})), say())

    result = query(agent(raw("change", body)), goal="go", provider=provider)

    assert payloads(result, "ToolCallStarted")[0].arguments == {"list": [1]}
    assert result.messages()[1] == ToolUse("t1", "change", {"list": [1]})


@pytest.mark.parametrize("arguments", ["text", None, [1], 5, object()])
def test_arguments_that_are_no_object_are_denied_and_the_turn_goes_on(arguments: Any):
    ran: list[Any] = []
    provider = model(use(("t1", "look", arguments)), say())

    result = query(agent(noting("look", ran)), goal="go", provider=provider)

    assert (ran, result.answer()) == ([], "Done.")
    assert payloads(result, "ToolCallDenied")[0].reason.startswith("invalid arguments")


def test_a_typed_tools_invalid_arguments_are_denied_with_words_to_correct_them_by():
    @tool
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    provider = model(use(("t1", "add", {"a": "x", "b": 2})), use(("t2", "add", {"a": 1, "b": 2})), say())

    result = query(agent(add), goal="go", provider=provider)

    (denied,) = payloads(result, "ToolCallDenied")
    assert denied.reason.startswith("invalid arguments:")
    assert "a" in denied.reason
    assert results(provider.received_requests[2])[0].output == 3


def test_an_unknown_tool_is_denied_and_the_turn_goes_on():
    result = query(agent(), goal="go", provider=model(use(("t1", "nope", {})), say()))

    assert payloads(result, "ToolCallDenied")[0].reason == "tool 'nope' not in allowlist"
    assert result.answer() == "Done."


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (LLMResponse("error", []), "llm_error", "the model ended with an error"),
        (LLMResponse("end_turn", []), "llm_empty_response", "nothing"),
        (LLMResponse("max_tokens", [TextBlock("half")]), "llm_truncated", "tokens"),
        ("no response", "llm_error", "returned str"),
        (None, "llm_error", "returned NoneType"),
    ],
)
def test_a_model_without_an_answer_is_a_failed_task_that_says_why(answer: Any, reason: str, detail: str):
    class Fixed:
        inline = True

        def complete(self, request: Any) -> Any:
            return answer

    result = query(agent(), goal="go", provider=Fixed())

    with pytest.raises(QueryFailedError) as failed:
        result.answer()
    assert (failed.value.status, failed.value.reason) == ("failed", reason)
    assert detail in (failed.value.detail or "")
    assert types(result)[-2:] == ["TaskSnapshot", "TaskFailed"]


def test_a_script_that_is_too_short_says_so():
    result = query(agent(), goal="go", provider=model())

    with pytest.raises(QueryFailedError, match=r"scripted 0 response\(s\) but received 1 request\(s\)"):
        result.answer()


@pytest.mark.parametrize("error", [ValueError("boom"), SystemExit(1), KeyboardInterrupt()])
def test_a_provider_that_raises_fails_the_task_and_not_the_query(error: BaseException):
    provider = FakeLLMProvider(responder=lambda _request: _raise(error))

    result = query(agent(), goal="go", provider=provider)

    assert payloads(result, "TaskFailed")[0].reason == "llm_error"


def test_an_answer_beside_calls_that_end_the_turn_still_runs_them():
    ran: list[Any] = []
    both = LLMResponse("end_turn", [TextBlock("Let me see."), *use(("t1", "look", {})).content])

    result = query(agent(noting("look", ran)), goal="go", provider=model(both, say()))

    assert len(ran) == 1
    assert result.answer() == "Done."


def test_two_calls_with_one_id_both_have_their_result():
    ran: list[Any] = []
    provider = model(use(("t1", "look", {"n": 1}), ("t1", "look", {"n": 2})), say())

    query(agent(noting("look", ran)), goal="go", provider=provider)

    assert sorted(arguments["n"] for _, arguments in ran) == [1, 2]
    assert len({block.call_id for block in results(provider.received_requests[1])}) == 2


def test_without_a_provider_the_error_says_what_to_give():
    with pytest.raises(ValueError, match="a provider is required"):
        query(agent(), goal="go")
