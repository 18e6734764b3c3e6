"""OpenAIProvider against a server that speaks the Responses API (sdk.md 74-77)."""

import base64
from typing import Any

import anyio
import pytest

from tests.unit.sdk.models.requests import ONCE, PNG, WEATHER, ask, batch, picture
from tests.unit.sdk.models.server import Json, Reply, events, serving, whole
from toolwire.sdk.content import MemoryContentStore
from toolwire.sdk.errors import ProviderError
from toolwire.sdk.messages import (
    Delta,
    LLMResponse,
    Message,
    TextBlock,
    TextDelta,
    ThinkingBlock,
    ThinkingDelta,
    ToolUseBlock,
    ToolUseDelta,
    Usage,
)
from toolwire.sdk.models import OpenAIProvider
from toolwire.sdk.models.responses_wire import request_body

USAGE = {
    "input_tokens": 130,
    "input_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 12},
    "total_tokens": 160,
}

THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm."}, {"type": "summary_text", "text": "Well."}],
    "encrypted_content": "cipher",
}


def said(text: str) -> Json:
    part: Json = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def call(arguments: str, call_id: str = "c1") -> Json:
    name = "fetch_weather"
    return {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name, "arguments": arguments}


def response(*output: Json, status: str = "completed", **fields: Any) -> Json:
    head = {"id": "resp_1", "object": "response", "model": "m", "status": status, "usage": USAGE}
    return {**head, "output": list(output), **fields}


async def complete(reply: Reply, **fields: Any) -> LLMResponse:
    return await _ask(reply, None, fields)


async def stream(reply: Reply, told: list[Delta], **fields: Any) -> LLMResponse:
    return await _ask(reply, told, fields)


async def _ask(reply: Reply, told: list[Delta] | None, fields: Json) -> LLMResponse:
    with serving(reply) as server:
        model = OpenAIProvider("sk-secret-key", base_url=f"{server.url}/v1", api="responses", retries=ONCE)
        with anyio.fail_after(5):
            if told is None:
                answer = await model.complete(ask("hi", **fields))
            else:
                answer = await model.stream(ask("hi", **fields), told.append)
        await model.aclose()
    assert server.asked[0].path == "/v1/responses"
    return answer


async def test_a_whole_answer_with_thoughts_and_calls():
    answer = await complete(whole(response(THOUGHT, said("Looking."), call('{"city": "Oslo"}'))), model="gpt-6-sol")

    assert answer.stop_reason == "tool_use"
    thought, *rest = answer.content
    assert isinstance(thought, ThinkingBlock)
    assert (thought.text, thought.data) == ("Hm.\n\nWell.", "cipher")
    assert rest == [TextBlock("Looking."), ToolUseBlock("c1", "fetch_weather", {"city": "Oslo"})]
    cost = (10 * 2 + 100 * 0.2 + 20 * 2.5 + 30 * 10) / 1_000_000
    assert answer.usage == Usage(10, 100, 20, 30, 12, cost_usd=cost)


def streamed(*final: Json) -> list[Json]:
    return [
        {"type": "response.created", "response": response(status="in_progress", usage=None)},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."},
        {"type": "response.output_item.done", "output_index": 0, "item": THOUGHT},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "It is "},
        {"type": "response.output_text.delta", "output_index": 1, "delta": "☀."},
        {"type": "response.output_item.done", "output_index": 1, "item": said("It is ☀.")},
        {"type": "response.output_item.added", "output_index": 2, "item": call("")},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '{"city": '},
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": '"Tōkyō"}'},
        {"type": "response.output_item.done", "output_index": 2, "item": call('{"city": "Tōkyō"}')},
        {"type": "response.something_new", "output_index": 2},
        *final,
    ]


@pytest.mark.parametrize("chunk", [None, 1, 17])
@pytest.mark.parametrize("repeated", [True, False], ids=["whole-at-the-end", "items-only"])
async def test_a_stream_is_told_in_parts_and_whole_in_the_end(chunk: int | None, repeated: bool):
    told: list[Delta] = []
    items = [THOUGHT, said("It is ☀."), call('{"city": "Tōkyō"}')]
    end = {"type": "response.completed", "response": response(*items if repeated else [])}

    answer = await stream(events(streamed(end), named=True, chunk=chunk), told)

    assert answer.stop_reason == "tool_use"
    assert answer.content[1:] == [TextBlock("It is ☀."), ToolUseBlock("c1", "fetch_weather", {"city": "Tōkyō"})]
    assert told == [
        ThinkingDelta("Hm."),
        TextDelta("It is "),
        TextDelta("☀."),
        ToolUseDelta("c1", "fetch_weather"),
        ToolUseDelta("c1", "fetch_weather", '{"city": '),
        ToolUseDelta("c1", "fetch_weather", '"Tōkyō"}'),
    ]
    assert answer.usage.output == 30


def test_a_conversation_becomes_items_and_nothing_is_left_with_the_provider():
    store = MemoryContentStore()
    later = Message("system", [TextBlock("Two.")])
    request = ask(*batch(picture(store)), later, system="One.", load=store.get)

    body = request_body(request, own_host=False)

    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert body == {
        "model": "test-model",
        "store": False,
        "instructions": "One.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "What is the weather?"}]},
            {"role": "assistant", "content": "Let me look."},
            {"type": "function_call", "call_id": "t1", "name": "fetch_weather", "arguments": '{"city":"Kyōto"}'},
            {
                "type": "function_call",
                "call_id": "t2",
                "name": "fetch_weather",
                "arguments": '{"invalid_arguments":"{oops"}',
            },
            {
                "type": "function_call_output",
                "call_id": "t1",
                "output": [
                    {"type": "input_text", "text": '{"sky":"clear"}'},
                    {"type": "input_image", "image_url": url, "detail": "auto"},
                ],
            },
            {"type": "function_call_output", "call_id": "t2", "output": "Error: invalid arguments"},
            {"role": "user", "content": [{"type": "input_text", "text": "(a notice)"}]},
            {"role": "developer", "content": "Two."},
        ],
    }


def test_settings_go_along_and_what_only_openai_has_goes_to_openai_alone():
    request = ask(
        "hi",
        tools=[WEATHER],
        temperature=0.5,
        max_tokens=100,
        thinking="on",
        effort="max",
        output_schema={"type": "object"},
        metadata={"task_id": "task-1", "user_id": "u-1"},
    )

    body = request_body(request, own_host=True)

    assert body["tools"] == [{"type": "function", **WEATHER["function"], "strict": False}]
    assert (body["temperature"], body["max_output_tokens"]) == (0.5, 100)
    assert body["reasoning"] == {"effort": "max", "summary": "auto"}
    assert body["text"]["format"] == {
        "type": "json_schema",
        "name": "answer",
        "schema": {"type": "object"},
        "strict": False,
    }
    assert (body["prompt_cache_key"], body["safety_identifier"]) == ("task-1", "u-1")
    assert "prompt_cache_key" not in request_body(request, own_host=False)


def test_pictures_of_the_user_go_along_and_what_cannot_be_shown_is_said():
    store = MemoryContentStore()
    drawing = picture(store, b"<svg/>", "image/svg+xml")
    looked = Message("user", [TextBlock("look"), picture(store), drawing])
    odd = Message("assistant", [TextBlock(" "), picture(store)])

    body = request_body(ask(looked, odd, load=store.get), own_host=False)

    assert [part["type"] for part in body["input"][0]["content"]] == ["input_text", "input_image", "input_text"]
    assert len(body["input"]) == 1


def test_thinking_given_as_the_api_has_it_goes_as_it_is():
    body = request_body(ask("hi", thinking={"effort": "low", "mode": "pro"}), own_host=True)

    assert body["reasoning"] == {"effort": "low", "mode": "pro"}


async def test_a_model_gets_back_its_own_encrypted_thoughts_and_no_others():
    unencrypted = {**THOUGHT, "id": "rs_2", "encrypted_content": None}
    answer = await complete(whole(response(THOUGHT, unencrypted, call("{}"))))
    conversation = Message("assistant", answer.content)

    same = request_body(ask("hi", conversation), own_host=True)
    other = request_body(ask("hi", conversation, model="another-model"), own_host=True)

    summary = [{"type": "summary_text", "text": "Hm.\n\nWell."}]
    assert same["input"][1] == {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "cipher"}
    assert [item.get("type") for item in same["input"]].count("reasoning") == 1
    assert "reasoning" not in [item.get("type") for item in other["input"]]


@pytest.mark.parametrize(
    ("output", "fields", "expected"),
    [
        ([said("ok")], {}, "end_turn"),
        ([call("{}")], {}, "tool_use"),
        ([said("o")], {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "max_tokens"),
        ([said("o")], {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "error"),
    ],
)
async def test_stop_reasons(output: list[Json], fields: Json, expected: str):
    assert (await complete(whole(response(*output, **fields)))).stop_reason == expected


async def test_a_refusal_is_an_error_with_its_text():
    refusal = {**said(""), "content": [{"type": "refusal", "refusal": "I will not."}]}

    answer = await complete(whole(response(refusal)))

    assert answer.stop_reason == "error"
    assert answer.content == [TextBlock("I will not.")]


async def test_arguments_that_are_no_object_stay_the_text_that_the_model_wrote():
    assert (await complete(whole(response(call('{"a": '))))).content == [ToolUseBlock("c1", "fetch_weather", '{"a": ')]


@pytest.mark.parametrize(
    ("event", "retryable"),
    [
        (
            {
                "type": "response.failed",
                "response": response(status="failed", error={"code": "server_error", "message": "it broke"}),
            },
            True,
        ),
        (
            {
                "type": "response.failed",
                "response": response(status="failed", error={"code": "invalid_prompt", "message": "it broke"}),
            },
            False,
        ),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "it broke", "param": None}, True),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "it broke"}}, False),
    ],
)
async def test_a_response_that_failed_is_an_error(event: Json, retryable: bool):
    with pytest.raises(ProviderError, match="it broke") as caught:
        await stream(events(streamed(event)[-1:], named=True), [])

    assert caught.value.retryable is retryable


async def test_a_stream_that_breaks_off_is_an_error_that_may_pass():
    with pytest.raises(ProviderError, match="ended before the answer") as caught:
        await stream(events(streamed(), named=True), [])

    assert caught.value.retryable
