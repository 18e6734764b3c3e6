"""OpenAIProvider against a server that speaks Chat Completions, OpenAI's or one of its copies' (sdk.md 74-77)."""

import base64
import json
from typing import Any

import anyio
import pytest

from tests.unit.sdk.models.requests import ONCE, PNG, WEATHER, ask, batch, picture, user
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
    ToolResultBlock,
    ToolUseBlock,
    ToolUseDelta,
    Usage,
)
from toolwire.sdk.models import OpenAIProvider
from toolwire.sdk.models.chat_wire import request_body
from toolwire.sdk.models.openai_traits import fits_strict

USAGE = {
    "prompt_tokens": 130,
    "completion_tokens": 30,
    "prompt_tokens_details": {"cached_tokens": 100, "cache_write_tokens": 20},
    "completion_tokens_details": {"reasoning_tokens": 12},
}


def provider(url: str, **options: Any) -> OpenAIProvider:
    return OpenAIProvider("sk-secret-key", base_url=f"{url}/v1", retries=ONCE, **options)


def completion(reason: str | None = "stop", usage: Json | None = USAGE, **message: Any) -> Reply:
    choice = {"index": 0, "finish_reason": reason, "message": {"role": "assistant", **message}}
    return whole({"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage})


def chunks(*deltas: Json, reason: str = "stop", usage: Json | None = USAGE) -> list[Json]:
    head: Json = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "m", "usage": None}
    found = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    found.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    return [*found, {**head, "choices": [], "usage": usage}] if usage else found


def call(index: int | None, call_id: str | None = None, name: str | None = None, arguments: Any = None) -> Json:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    found: Json = {"type": "function", "function": function}
    found.update({key: value for key, value in (("index", index), ("id", call_id)) if value is not None})
    return found


def calls(*parts: Json) -> Json:
    return {"tool_calls": list(parts)}


async def complete(reply: Reply, **fields: Any) -> LLMResponse:
    with serving(reply) as server:
        model = provider(server.url)
        with anyio.fail_after(5):
            response = await model.complete(ask("hi", **fields))
        await model.aclose()
    return response


async def stream(reply: Reply, told: list[Delta] | None = None, **fields: Any) -> LLMResponse:
    with serving(reply) as server:
        model = provider(server.url)
        with anyio.fail_after(5):
            response = await model.stream(ask("hi", **fields), ([] if told is None else told).append)
        await model.aclose()
    assert server.body["stream_options"] == {"include_usage": True}
    return response


async def test_a_whole_answer_with_calls():
    first, second = call(None, "c1", "fetch_weather", '{"city": "Oslo"}'), call(None, "c2", "fetch_weather", "")

    with serving(completion("tool_calls", content="Looking.", tool_calls=[first, second])) as server:
        model = provider(server.url)
        response = await model.complete(ask("hi", model="gpt-5-mini-2025-08-07"))
        await model.aclose()

    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].headers["authorization"] == "Bearer sk-secret-key"
    assert response.stop_reason == "tool_use"
    assert response.content == [
        TextBlock("Looking."),
        ToolUseBlock("c1", "fetch_weather", {"city": "Oslo"}),
        ToolUseBlock("c2", "fetch_weather", {}),
    ]
    cost = (30 * 0.25 + 100 * 0.025 + 30 * 2) / 1_000_000  # these models charge nothing extra for filling the cache
    assert response.usage == Usage(10, 100, 20, 30, 12, cost_usd=cost)


@pytest.mark.parametrize("chunk", [None, 1, 13])
async def test_a_stream_is_told_in_parts_and_whole_in_the_end_however_its_bytes_are_cut(chunk: int | None):
    told: list[Delta] = []
    parts = [
        {"role": "assistant", "content": ""},
        {"content": "It is "},
        {"content": "☀."},
        calls(call(0, "c1", "fetch_weather", "")),
        calls(call(0, arguments='{"city": "')),
        calls(call(0, arguments='Tōkyō"}'), call(1, "c2", "fetch_weather", "{}")),
    ]

    response = await stream(events(chunks(*parts, reason="tool_calls"), done=True, chunk=chunk), told)

    assert response.stop_reason == "tool_use"
    assert response.content == [
        TextBlock("It is ☀."),
        ToolUseBlock("c1", "fetch_weather", {"city": "Tōkyō"}),
        ToolUseBlock("c2", "fetch_weather", {}),
    ]
    assert told == [
        TextDelta("It is "),
        TextDelta("☀."),
        ToolUseDelta("c1", "fetch_weather"),
        ToolUseDelta("c1", "fetch_weather", '{"city": "'),
        ToolUseDelta("c1", "fetch_weather", 'Tōkyō"}'),
        ToolUseDelta("c2", "fetch_weather", "{}"),
    ]
    assert response.usage.input == 130


async def test_servers_that_give_all_calls_one_index_or_none_are_understood():
    same_index = chunks(calls(call(0, "c1", "one", "{}"), call(0, "c2", "two", "{}")))
    no_index = chunks(calls(call(None, "c1", "one", '{"a":')), calls(call(None, arguments="1}")))
    no_id = chunks(calls(call(0, None, "one", {"a": 1})))

    names = [[block.call_id for block in (await stream(events(same_index))).content if isinstance(block, ToolUseBlock)]]
    assert names == [["c1", "c2"]]
    assert (await stream(events(no_index))).content == [ToolUseBlock("c1", "one", {"a": 1})]
    (invented,) = (await stream(events(no_id))).content
    assert isinstance(invented, ToolUseBlock)
    assert invented.call_id
    assert invented.arguments == {"a": 1}


async def test_a_server_that_counts_no_tokens_costs_nothing_known():
    response = await stream(events(chunks({"content": "ok"}, usage=None), done=True), model="gpt-5")

    assert response.content == [TextBlock("ok")]
    assert response.usage == Usage()


async def test_a_conversation_becomes_messages_with_results_after_their_calls_and_pictures_after_the_results():
    store = MemoryContentStore()
    messages = [Message("system", [TextBlock("One.")]), *batch(picture(store))]

    with serving(completion(content="ok")) as server:
        model = provider(server.url)
        await model.complete(ask(*messages, system="Zero.", load=store.get))
        await model.aclose()

    url = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    assert server.body["messages"] == [
        {"role": "system", "content": "Zero.\n\nOne."},
        {"role": "user", "content": "What is the weather?"},
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                call(None, "t1", "fetch_weather", '{"city":"Kyōto"}'),
                call(None, "t2", "fetch_weather", '{"invalid_arguments":"{oops"}'),
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": '{"sky":"clear"}'},
        {"role": "tool", "tool_call_id": "t2", "content": "Error: invalid arguments"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Images that the call t1 returned:"},
                {"type": "image_url", "image_url": {"url": url}},
                {"type": "text", "text": "(a notice)"},
            ],
        },
    ]


def test_settings_go_along_and_what_only_openai_has_goes_to_openai_alone():
    request = ask(
        "hi",
        model="gpt-6-sol",
        tools=[WEATHER],
        temperature=0.5,
        max_tokens=100,
        effort="max",
        output_schema={"type": "object"},
        metadata={"task_id": "task-1", "user_id": "u-1"},
    )

    body = request_body(request, own_host=False)
    told = body["messages"].pop(0)
    assert "fits this JSON Schema" in told["content"]
    assert body == {
        "model": "gpt-6-sol",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [WEATHER],
        "temperature": 0.5,
        "max_tokens": 100,
        "reasoning_effort": "xhigh",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": False},
        },
    }
    own = request_body(request, own_host=True)
    assert own["messages"] == [{"role": "user", "content": "hi"}]
    assert own["max_completion_tokens"] == 100
    assert own["prompt_cache_key"] == "task-1"
    assert own["safety_identifier"] == "u-1"


@pytest.mark.parametrize(
    ("model", "thinking", "expected"),
    [
        ("gpt-6-sol", "off", "none"),
        ("gpt-6.2-sol", "off", "low"),
        ("openai/gpt-5-mini", "off", "minimal"),
        ("gpt-5.4", "off", "none"),
        ("o3", "off", "low"),
        ("gpt-4o", "off", None),
        ("gpt-6-sol", "on", "high"),
    ],
)
def test_off_is_as_little_as_the_model_can_be_told_to_think(model: str, thinking: str, expected: str | None):
    body = request_body(ask("hi", model=model, thinking=thinking, effort="high"), own_host=True)

    assert body.get("reasoning_effort") == expected


async def test_thoughts_that_a_server_tells_go_back_to_it_until_the_question_is_answered():
    told: list[Delta] = []
    parts = ({"reasoning_content": "Hm, "}, {"reasoning_content": "well."}, calls(call(0, "c1", "one", "{}")))
    response = await stream(events(chunks(*parts, reason="tool_calls"), done=True), told)
    said, result = Message("assistant", response.content), Message("tool", [ToolResultBlock("c1", "1", success=True)])

    assert told[:2] == [ThinkingDelta("Hm, "), ThinkingDelta("well.")]
    assert isinstance(response.content[0], ThinkingBlock)
    working = request_body(ask("hi", said, result), own_host=False)
    answered = request_body(ask("hi", said, result, Message("assistant", [TextBlock("1")]), "and?"), own_host=False)
    elsewhere = request_body(ask("hi", said, result, model="another-model"), own_host=False)
    assert working["messages"][1]["reasoning_content"] == "Hm, well."
    assert "reasoning_content" not in str(answered)
    assert "reasoning_content" not in str(elsewhere)


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        ("stop", {"content": "ok"}, "end_turn"),
        (None, {"content": "ok"}, "end_turn"),
        ("tool_calls", {"content": "ok"}, "end_turn"),
        ("stop", calls(call(None, "c1", "one", "{}")), "tool_use"),
        ("length", {"content": "o"}, "max_tokens"),
        ("content_filter", {"content": ""}, "error"),
        ("stop", {"content": None, "refusal": "No."}, "error"),
    ],
)
async def test_stop_reasons(reason: str | None, message: Json, expected: str):
    assert (await complete(completion(reason, **message))).stop_reason == expected


async def test_a_refusal_is_told_and_kept():
    told: list[Delta] = []

    response = await stream(events(chunks({"refusal": "I will "}, {"refusal": "not."}), done=True), told)

    assert response.stop_reason == "error"
    assert response.content == [TextBlock("I will not.")]
    assert told == [TextDelta("I will "), TextDelta("not.")]


async def test_arguments_that_are_no_object_stay_the_text_that_the_model_wrote():
    response = await complete(completion("tool_calls", tool_calls=[call(None, "c1", "one", '{"a": ')]))

    assert response.content == [ToolUseBlock("c1", "one", '{"a": ')]


async def test_content_in_parts_is_read_as_text():
    parts = [{"type": "text", "text": "It is "}, {"type": "text", "text": "clear."}, {"type": "other"}]

    assert (await complete(completion(content=parts))).content == [TextBlock("It is clear.")]


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_a_stream_that_breaks_off_is_an_error_that_may_pass(count: int):
    with pytest.raises(ProviderError, match="ended before the answer") as caught:
        await stream(events(chunks({"content": "It"}, {"content": " is"})[:count]))

    assert caught.value.retryable


@pytest.mark.parametrize(
    ("error", "retryable"),
    [
        ({"code": 502, "message": "the model is down"}, True),
        ({"type": "server_error", "message": "the model is down"}, True),
        ({"code": "context_length_exceeded", "message": "the model is down"}, False),
    ],
)
async def test_an_error_that_comes_with_status_200_is_an_error(error: Any, retryable: bool):
    for ask_it in (complete(whole({"error": error})), stream(events([{"error": error}]))):
        with pytest.raises(ProviderError, match="the model is down") as caught:
            await ask_it
        assert caught.value.retryable is retryable

    with pytest.raises(ProviderError, match="the model is down"):
        await complete(whole({"error": "the model is down"}))


async def test_a_page_instead_of_an_answer_is_an_error_that_names_the_base_url():
    def page(_: Any) -> Any:
        from starlette.responses import HTMLResponse  # noqa: PLC0415 - for this test alone

        return HTMLResponse("<html>Welcome</html>")

    with pytest.raises(ProviderError, match="base_url"):
        await complete(page)


def test_a_schema_is_strict_when_every_object_is_closed_and_whole():
    closed: Json = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    entry: Json = {**closed, "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    assert fits_strict({**closed, "properties": {"rows": {"type": "array", "items": entry}}, "required": ["rows"]})
    assert not fits_strict({**entry, "required": []})
    assert not fits_strict({**entry, "additionalProperties": True})
    assert not fits_strict({**closed, "properties": {"a": {"type": "object"}}, "required": ["a"]})
    assert not fits_strict({"anyOf": [{"type": "string"}, {"type": "object"}]})
    assert not fits_strict({"oneOf": [{"type": "string"}]})


def test_pictures_of_the_user_and_later_system_messages_stay_where_they_are():
    store = MemoryContentStore()
    drawing = picture(store, b"<svg/>", "image/svg+xml")
    empty, later = Message("assistant", [TextBlock(" ")]), Message("system", [TextBlock("Two.")])

    body = request_body(
        ask(user("look", picture(store), drawing), empty, later, "go on", load=store.get), own_host=False
    )

    looked, system, asked = body["messages"]
    assert [part["type"] for part in looked["content"]] == ["text", "image_url", "text"]
    assert system == {"role": "system", "content": "Two."}
    assert asked == {"role": "user", "content": "go on"}


async def test_calls_that_come_again_or_are_continued_by_number_are_the_same_calls():
    parts = [
        calls(call(0, "c1", "one", '{"a"')),
        calls(call(0, "c1", None, ":1}")),
        calls(call(None, "c2", "two", "{}")),
        {"reasoning": "after"},
    ]

    response = await stream(events(chunks(*parts)))

    assert response.content[1:] == [ToolUseBlock("c1", "one", {"a": 1}), ToolUseBlock("c2", "two", {})]


async def test_text_that_no_json_can_hold_is_sent_all_the_same():
    with serving(completion(content="ok")) as server:
        model = provider(server.url)
        await model.complete(ask(user("broken \ud800 text")))
        await model.aclose()

    assert json.dumps(server.body["messages"][0]["content"]) == '"broken ? text"'
