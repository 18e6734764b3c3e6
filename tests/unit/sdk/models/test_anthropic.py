"""AnthropicProvider against a server that speaks the Messages API (sdk.md 74-77)."""

import base64
import json
from typing import Any

import anyio
import pytest

from tests.unit.sdk.models.requests import ONCE, PNG, WEATHER, ask, batch, lost_picture, picture, user
from tests.unit.sdk.models.server import Json, Reply, events, serving, stream_of
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
from toolwire.sdk.models import AnthropicProvider, Price

USAGE = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}


def provider(url: str, **options: Any) -> AnthropicProvider:
    return AnthropicProvider("sk-ant-secret-key", base_url=url, retries=ONCE, **options)


def message(*blocks: Json, stop_reason: str = "end_turn", **delta: Any) -> list[Json]:
    """The events of a whole answer; a block is its start and its deltas."""
    found: list[Json] = [{"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": USAGE}}]
    for index, block in enumerate(blocks):
        found.append({"type": "content_block_start", "index": index, "content_block": block["start"]})
        found.extend({"type": "content_block_delta", "index": index, "delta": part} for part in block["deltas"])
        found.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": stop_reason, "stop_sequence": None, **delta}
    usage = {"output_tokens": 30, "output_tokens_details": {"thinking_tokens": 12}, "input_tokens": None}
    return [*found, {"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]


def text(*parts: str) -> Json:
    return {
        "start": {"type": "text", "text": ""},
        "deltas": [{"type": "text_delta", "text": part} for part in parts],
    }


def call(*parts: str, call_id: str = "toolu_1") -> Json:
    return {
        "start": {"type": "tool_use", "id": call_id, "name": "fetch_weather", "input": {}},
        "deltas": [{"type": "input_json_delta", "partial_json": part} for part in parts],
    }


def thought(*parts: str, signature: str = "sig==") -> Json:
    said = [{"type": "thinking_delta", "thinking": part} for part in parts]
    return {
        "start": {"type": "thinking", "thinking": "", "signature": ""},
        "deltas": [*said, {"type": "signature_delta", "signature": signature}],
    }


def answering(*blocks: Json, chunk: int | None = None, **options: Any) -> Reply:
    return events(message(*blocks, **options), named=True, chunk=chunk)


async def complete(reply: Reply, model: str = "claude-sonnet-5", **fields: Any) -> LLMResponse:
    with serving(reply) as server:
        model_provider = provider(server.url)
        with anyio.fail_after(5):
            response = await model_provider.complete(ask("hi", model=model, **fields))
        await model_provider.aclose()
    return response


async def sent(*messages: Message | str, **fields: Any) -> Json:
    """The body that a request becomes."""
    with serving(answering(text("ok"))) as server:
        model_provider = provider(server.url)
        with anyio.fail_after(5):
            await model_provider.complete(ask(*(messages or ("hi",)), **{"model": "claude-sonnet-5", **fields}))
        await model_provider.aclose()
        return server.body


@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
async def test_an_answer_is_whole_and_told_in_parts_however_its_bytes_are_cut(chunk: int | None):
    told: list[Delta] = []
    blocks = (thought("Hm", "m."), text("It is ", "☀ in Tōkyō."), call('{"city": ', '"Tōkyō"}'))

    with serving(answering(*blocks, stop_reason="tool_use", chunk=chunk)) as server:
        model = provider(server.url)
        with anyio.fail_after(10):
            response = await model.stream(ask("hi", model="claude-sonnet-5"), told.append)
        await model.aclose()

    assert response.stop_reason == "tool_use"
    assert response.content[1:] == [
        TextBlock("It is ☀ in Tōkyō."),
        ToolUseBlock("toolu_1", "fetch_weather", {"city": "Tōkyō"}),
    ]
    assert told == [
        ThinkingDelta("Hm"),
        ThinkingDelta("m."),
        TextDelta("It is "),
        TextDelta("☀ in Tōkyō."),
        ToolUseDelta("toolu_1", "fetch_weather"),
        ToolUseDelta("toolu_1", "fetch_weather", '{"city": '),
        ToolUseDelta("toolu_1", "fetch_weather", '"Tōkyō"}'),
    ]
    assert server.asked[0].path == "/v1/messages"


async def test_usage_tells_the_cache_and_thinking_apart_and_the_cost_by_the_price():
    response = await complete(answering(text("ok")), model="claude-sonnet-5-20260901")

    cost = (10 * 2 + 100 * 0.2 + 20 * 2.5 + 30 * 10) / 1_000_000
    assert response.usage == Usage(10, 100, 20, 30, 12, cost_usd=cost)
    assert response.usage.input == 130
    assert response.usage.visible_output == 18


async def test_a_model_without_a_known_price_costs_nothing_known_until_one_is_given():
    assert (await complete(answering(text("ok")), model="claude-unheard-of")).usage.cost_usd is None

    with serving(answering(text("ok"))) as server:
        model = provider(server.url, prices={"mine": Price(input=1_000_000, output=0)})
        response = await model.complete(ask("hi", model="mine"))
        await model.aclose()

    assert response.usage.cost_usd == 130


async def test_the_request_carries_the_prompt_the_tools_and_the_settings():
    body = await sent(
        tools=[WEATHER],
        system="Be brief.",
        temperature=0.5,
        max_tokens=100,
        effort="high",
        output_schema={"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]},
        metadata={"task_id": "task-1", "user_id": "u-1"},
    )

    limited = {"type": "integer", "description": "{minimum: 1}"}
    held = {"type": "object", "properties": {"n": limited}, "required": ["n"], "additionalProperties": False}
    assert body == {
        "model": "claude-sonnet-5",
        "max_tokens": 100,
        "stream": True,
        "temperature": 0.5,
        "metadata": {"user_id": "u-1"},
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [
            {
                "name": "fetch_weather",
                "description": "Fetch the weather.",
                "input_schema": WEATHER["function"]["parameters"],
            }
        ],
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": held}},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]}
        ],
    }


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "additionalProperties": {"type": "integer"}},
        {"type": "object", "properties": {"a": {"oneOf": [{"type": "string"}]}}},
        {"type": "array", "items": {"$ref": "#"}},
        {"anyOf": [{"type": "string"}, {"type": ["string", "null"]}]},
        {"enum": [[1], [2]]},
        {"type": "array", "items": True},
        {},
    ],
)
async def test_a_schema_that_the_api_cannot_hold_is_told_to_the_model(schema: Json):
    body = await sent(output_schema=schema, system="Be brief.")

    assert "output_config" not in body
    assert body["system"][0]["text"].startswith("Be brief.\n\nYour final answer must be JSON alone")
    assert body["system"][0]["text"].endswith(json.dumps(schema, separators=(",", ":")))


async def test_a_model_that_cannot_be_held_to_a_schema_is_told_it():
    schema: Json = {"type": "array", "items": {"enum": ["a", "b"]}}

    old = await sent(output_schema=schema, model="claude-3-haiku-20240307")
    new = await sent(output_schema=schema, model="claude-opus-4-1")

    assert '"enum":["a","b"]' in old["system"][0]["text"]
    assert new["output_config"]["format"]["schema"]["items"]["enum"] == ["a", "b"]
    assert "system" not in new


async def test_the_results_of_a_batch_come_first_whole_and_in_the_order_of_the_calls():
    store = MemoryContentStore()

    body = await sent(*batch(picture(store)), load=store.get)

    assert body["messages"][1] == {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "t1", "name": "fetch_weather", "input": {"city": "Kyōto"}},
            {"type": "tool_use", "id": "t2", "name": "fetch_weather", "input": {"invalid_arguments": "{oops"}},
        ],
    }
    image = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    assert body["messages"][2] == {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "t1",
                "content": [{"type": "text", "text": '{"sky":"clear"}'}, {"type": "image", "source": image}],
            },
            {
                "type": "tool_result",
                "tool_use_id": "t2",
                "content": [{"type": "text", "text": "invalid arguments"}],
                "is_error": True,
            },
            {"type": "text", "text": "(a notice)", "cache_control": {"type": "ephemeral"}},
        ],
    }


async def test_pictures_are_known_by_their_bytes_and_those_that_cannot_be_shown_are_said():
    store = MemoryContentStore()
    webp = picture(store, b"RIFF\x00\x00\x00\x00WEBPVP8 ", "application/octet-stream")
    drawing = picture(store, b"<svg/>", "image/svg+xml")

    body = await sent(user(webp, drawing, lost_picture()), load=store.get)

    shown, svg, lost = body["messages"][0]["content"]
    assert shown["source"]["media_type"] == "image/webp"
    assert "image/svg+xml" in svg["text"]
    assert "not available" in lost["text"]


async def test_a_model_gets_back_its_own_thoughts_and_no_others():
    hidden: Json = {"start": {"type": "redacted_thinking", "data": "opaque"}, "deltas": []}
    reply = answering(thought("Hm.", signature="sig=="), hidden, call("{}"), stop_reason="tool_use")
    mine = await complete(reply, model="claude-opus-5")
    theirs = ThinkingBlock("secret", "openai-responses|gpt-6-sol|rs_1", "cipher")
    said = Message("assistant", [theirs, *mine.content])

    same = await sent("hi", said, model="claude-opus-5")
    other = await sent("hi", said, model="claude-sonnet-5")

    assert same["messages"][1]["content"][:2] == [
        {"type": "thinking", "thinking": "Hm.", "signature": "sig=="},
        {"type": "redacted_thinking", "data": "opaque"},
    ]
    assert [part["type"] for part in other["messages"][1]["content"]] == ["tool_use"]


@pytest.mark.parametrize(
    ("model", "thinking", "effort", "expected"),
    [
        ("claude-sonnet-5", "on", None, {"type": "adaptive", "display": "summarized"}),
        ("claude-sonnet-5", "off", None, {"type": "disabled"}),
        ("claude-sonnet-5-5", "off", None, {"type": "between_tools"}),
        ("claude-opus-5-5", "off", None, None),
        ("claude-fable-5-1", "off", None, None),
        ("claude-haiku-4-5-20251001", "adaptive", "low", {"type": "enabled", "budget_tokens": 4096}),
        ("some-other-model", "on", None, {"type": "enabled", "budget_tokens": 16000}),
        ("claude-sonnet-5", {"type": "custom"}, None, {"type": "custom"}),
        ("claude-sonnet-5", None, None, None),
    ],
)
async def test_thinking_is_asked_for_in_the_words_that_the_model_takes(
    model: str, thinking: Any, effort: str | None, expected: Json | None
):
    body = await sent(model=model, thinking=thinking, effort=effort)

    assert body.get("thinking") == expected


async def test_a_budget_for_thinking_leaves_room_for_the_answer_and_has_no_temperature_beside_it():
    short = await sent(model="claude-haiku-4-5", thinking="on", max_tokens=1500)
    longer = await sent(model="claude-haiku-4-5", thinking="on", max_tokens=5000, temperature=0.1)

    assert "thinking" not in short
    assert longer["thinking"]["budget_tokens"] < longer["max_tokens"]
    assert "temperature" not in longer


@pytest.mark.parametrize(
    ("model", "limit"),
    [
        ("claude-sonnet-5", 64_000),
        ("claude-opus-4-1-20250805", 32_000),
        ("claude-sonnet-4-20250514", 64_000),
        ("claude-3-5-haiku-latest", 8_192),
        ("claude-3-haiku-20240307", 4_096),
        ("some-other-model", 32_000),
    ],
)
async def test_the_limit_that_the_api_wants_is_the_models_when_the_request_has_none(model: str, limit: int):
    assert (await sent(model=model))["max_tokens"] == limit


async def test_system_messages_join_the_prompt_at_the_start_and_are_marked_later():
    start, later = Message("system", [TextBlock("One.")]), Message("system", [TextBlock("Two.")])

    body = await sent(start, "hi", Message("assistant", [TextBlock("Yes?")]), later, "go on", system="Zero.")

    assert body["system"][0]["text"] == "Zero.\n\nOne."
    assert body["messages"][2]["content"][0]["text"] == "<system>\nTwo.\n</system>"


async def test_the_cache_can_be_left_alone_and_fields_be_added():
    with serving(answering(text("ok"))) as server:
        model = provider(server.url, cache=False, extra_body={"service_tier": "standard_only", "max_tokens": 7})
        await model.complete(ask("hi", system="Be brief."))
        await model.aclose()

    assert "cache_control" not in str(server.body)
    assert (server.body["service_tier"], server.body["max_tokens"]) == ("standard_only", 7)


@pytest.mark.parametrize(
    ("reason", "blocks", "expected"),
    [
        ("end_turn", [text("ok")], "end_turn"),
        ("stop_sequence", [text("ok")], "end_turn"),
        ("pause_turn", [text("ok")], "end_turn"),
        ("end_turn", [call("{}")], "tool_use"),
        ("tool_use", [call("{}")], "tool_use"),
        ("max_tokens", [text("o")], "max_tokens"),
        ("model_context_window_exceeded", [text("o")], "max_tokens"),
        ("something_new", [text("o")], "error"),
    ],
)
async def test_stop_reasons(reason: str, blocks: list[Json], expected: str):
    assert (await complete(answering(*blocks, stop_reason=reason))).stop_reason == expected


async def test_a_refusal_is_an_error_that_says_why():
    details = {"type": "refusal", "category": "cyber", "explanation": "I cannot help with that."}

    response = await complete(answering(stop_reason="refusal", stop_details=details))

    assert response.stop_reason == "error"
    assert response.content == [TextBlock("I cannot help with that.")]
    assert response.raw["stop_details"]["category"] == "cyber"


@pytest.mark.parametrize("written", ['{"city": "To', "[1, 2]", "nonsense", '{"a": NaN}'])
async def test_arguments_that_are_no_object_stay_the_text_that_the_model_wrote(written: str):
    response = await complete(answering(call(written), stop_reason="tool_use"))

    assert response.content == [ToolUseBlock("toolu_1", "fetch_weather", written)]


async def test_arguments_may_be_empty_or_come_with_the_start_of_the_block():
    start = {"type": "tool_use", "id": "toolu_2", "name": "fetch_weather", "input": {"city": "Oslo"}}

    response = await complete(answering(call(""), {"start": start, "deltas": []}, stop_reason="tool_use"))

    assert [block.arguments for block in response.content if isinstance(block, ToolUseBlock)] == [{}, {"city": "Oslo"}]


async def test_pings_comments_and_unknown_events_are_passed_over():
    noise = [
        {"type": "ping"},
        {"type": "something_new", "index": 0},
        {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "lost"}},
        {"type": "content_block_start", "index": 5, "content_block": {"type": "server_tool_use", "id": "s"}},
    ]
    lines = [
        f"event: {part['type']}\ndata: {json.dumps(part)}\n\n: a comment\n\n" for part in [*noise, *message(text("ok"))]
    ]

    response = await complete(stream_of(lines))

    assert response.content == [TextBlock("ok")]


@pytest.mark.parametrize("count", [0, 1, 3, 5])
async def test_a_stream_that_breaks_off_is_an_error_that_may_pass(count: int):
    with pytest.raises(ProviderError, match="ended before the answer") as caught:
        await complete(events(message(text("ok"))[:count], named=True))

    assert caught.value.retryable


async def test_an_error_inside_the_stream_is_told_and_may_pass_when_it_is_an_overload():
    overloaded: Json = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    refused: Json = {"type": "error", "error": {"type": "invalid_request_error", "message": "no such thing"}}

    for error, retryable in ((overloaded, True), (refused, False)):
        with pytest.raises(ProviderError, match=error["error"]["message"]) as caught:
            await complete(events([*message(text("ok"))[:3], error], named=True))
        assert caught.value.retryable is retryable
