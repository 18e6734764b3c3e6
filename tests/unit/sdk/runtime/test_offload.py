"""Large outputs: what the model is shown, how it reads the rest, how much the events carry (sdk.md 73, 80)."""

from typing import Any

import msgspec

from tests.unit.sdk.runtime.script import agent, model, noting, payloads, raw, results, say, use
from toolwire.sdk import AsyncClient, ContentRef, HostConfig, ToolResult, query
from toolwire.sdk.events import MAX_PAYLOAD_BYTES, envelope_to_dict
from toolwire.sdk.testing import FakeLLMProvider

TEXT = "".join(f"line {n}\n" for n in range(20_000))


def shown_tools(request: Any) -> list[str]:
    return [entry["function"]["name"] for entry in request.tools]


def test_a_large_output_is_cut_and_the_model_can_read_its_middle():
    seen: list[str] = []

    def respond(request: Any) -> Any:
        if request.messages[-1].role != "tool":
            return use(("t1", "dump", {}))
        (block,) = results(request)
        seen.append(block.output)
        if len(seen) == 1:
            ref = block.output.split('output_ref="')[1].split('"')[0]
            return use(("t2", "ReadOutput", {"output_ref": ref, "offset": 100_000, "limit": 50}))
        return say()

    provider = FakeLLMProvider(responder=respond)
    result = query(agent(raw("dump", lambda _a, _c: TEXT)), goal="go", provider=provider)

    assert result.answer() == "Done."
    assert len(seen[0]) < 51_000
    assert seen[0].startswith("line 0\n")
    assert seen[0].endswith("line 19999\n")
    assert seen[1].startswith(TEXT[100_000:100_050])
    assert f"of {len(TEXT)}" in seen[1]
    assert [shown_tools(request) for request in provider.received_requests] == [
        ["dump"],
        ["dump", "ReadOutput"],
        ["dump", "ReadOutput"],
    ]


def test_structured_output_is_cut_by_the_same_limit_and_a_limit_of_none_cuts_nothing():
    value = {"rows": ["x" * 100] * 1000}
    cut, whole = model(use(("t1", "dump", {})), say()), model(use(("t1", "dump", {})), say())
    options = agent(raw("dump", lambda _a, _c: value))

    query(options, goal="go", provider=cut, host_config=HostConfig(tool_output_inline_limit=1000))
    query(options, goal="go", provider=whole, host_config=HostConfig(tool_output_inline_limit=None))

    assert len(results(cut.received_requests[1])[0].output) < 1500
    assert results(whole.received_requests[1])[0].output == value


def test_only_outputs_of_the_same_task_can_be_read():
    def respond(request: Any) -> Any:
        if request.messages[-1].role != "tool":
            return use(("t1", "dump", {}))
        if len(request.messages) < 6:
            return use(("t2", "ReadOutput", {"output_ref": "0" * 64}))
        return say(results(request)[0].error or "")

    result = query(agent(raw("dump", lambda _a, _c: TEXT)), goal="go", provider=FakeLLMProvider(responder=respond))

    assert "there is no shortened output" in result.answer()


async def test_the_whole_output_and_pictures_are_in_the_content_store():
    def body(arguments: Any, ctx: Any) -> ToolResult:
        ref = ctx.artifact_store.put(b"\x89PNG", media_type="image/png")
        return ToolResult(success=True, output=TEXT, artifacts=[ref] * 100, images=[ref], summary="s" * 9000)

    provider = model(use(("t1", "dump", {})), say())
    async with AsyncClient(agent(raw("dump", body)), provider=provider) as client:
        outcome = await client.start(goal="go" * 5000)
        events = await client.events(outcome.task_id)
        (recorded,) = payloads(events, "ToolResultRecorded")
        assert msgspec.json.decode(await client.get_content(recorded.output_ref)) == TEXT
        details = msgspec.json.decode(await client.get_content(recorded.details_ref))
        assert len(details["artifacts"]) == 100
        (block,) = results(provider.received_requests[1])
        assert block.images is not None
        assert provider.received_requests[1].load(block.images[0].source) == b"\x89PNG"
        (created,) = payloads(events, "TaskCreated")
        assert await client.get_content(created.goal_ref) == b"go" * 5000


def test_no_payload_is_longer_than_its_limit_whatever_goes_in():
    long = "\u0001é" * 20_000
    calls = use(("t1", "look", {"text": long}), ("t2", long, {}), ("t3", "bad", {}))

    def bad(_arguments: Any, _ctx: Any) -> Any:
        raise RuntimeError(long)

    result = query(agent(noting("look", []), raw("bad", bad)), goal=long, provider=model(calls, say(long)))

    assert result.answer() == long
    sizes = [len(msgspec.json.encode(envelope_to_dict(event)["payload"])) for event in result]
    assert max(sizes) <= MAX_PAYLOAD_BYTES
    assert payloads(result, "ToolCallStarted")[0].arguments is None
    assert isinstance(payloads(result, "ToolCallStarted")[0].arguments_ref, ContentRef)
