"""What an author writes and what callers get; gateway.md §3 and "Author's API" of §6, sdk.md §3.1 and §3.2."""

import asyncio
import json
import threading
import time
from typing import Annotated, Any

import anyio
import pytest

from tests.unit.agent.rig import Gateway, chat, gateway_of_agent, row
from toolwire.agent import Agent, Ctx, Image, Limits, Refuse, Resource, ToolError
from toolwire.sdk import ToolContext, tool
from toolwire.wire.link import Publish, Registration

pytestmark = pytest.mark.both_backends


async def answer(gateway: Gateway, name: str, **arguments: Any) -> Publish:
    message_id = f"msg_{name}_{len(gateway.replies())}"
    gateway.deliver(chat(message_id, name, **arguments))
    return await gateway.reply(message_id)


async def test_a_bare_tool_is_described_by_its_signature_and_docstring() -> None:
    agent = Agent("research", version="0.1.0", delivery="queue", description="finds things")

    @agent.tool
    async def web_search(query: Annotated[str, "The search query"], max_results: int = 5) -> str:
        """Search the web."""
        return f"{max_results} results for {query}"

    [skill] = agent.registration().skills
    assert (skill.name, skill.description, skill.timeout_ms, skill.expose_as_tool) == (
        "web_search",
        "Search the web.",
        None,
        True,
    )
    assert skill.input_schema == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "The search query"},
            "max_results": {"type": "integer", "default": 5},
        },
        "required": ["query"],
    }
    assert agent.registration() == Registration("research", "0.1.0", "finds things", "queue", (skill,))
    async with gateway_of_agent(agent) as gateway:
        reply = await answer(gateway, "web_search", query="otters")
        assert reply.payload == {"text": "5 results for otters"}


@pytest.mark.parametrize("long_running", [True, False])
@pytest.mark.parametrize("mode", ["never", "optional", "required", "later"])
def test_a_tool_whose_calls_are_tasks_is_registered_as_one_that_takes_long(mode: Any, long_running: bool) -> None:
    """mcp.md 1.4; gateway.md §6, sync."""
    agent = Agent("research")

    @agent.tool(task=mode, long_running=long_running)
    async def dig() -> str:
        return "dug"

    [skill] = agent.registration().skills
    assert skill.long_running is (long_running or mode != "never")
    assert skill.task == (mode if mode in ("required", "later") else None)


async def test_options_of_a_tool_reach_its_registration() -> None:
    agent = Agent("research")

    @agent.tool(
        name="summarize_pdf",
        description="Sum it up",
        title="Summary",
        timeout=300,
        long_running=True,
        input_schema={"type": "object", "properties": {"pages": {"type": ["integer", "null"]}}},
        output_schema={"type": "object", "required": ["summary"]},
        annotations={"readOnlyHint": True},
        expose=False,
        idempotent=True,
    )
    async def summarize(ctx: Ctx, pages: int | None = None) -> dict[str, Any]:
        return {"summary": f"{pages} pages"}

    [skill] = agent.registration().skills
    assert skill.name == "summarize_pdf"
    assert skill.description == "Sum it up"
    assert skill.timeout_ms == 300_000
    assert (skill.long_running, skill.expose_as_tool, skill.idempotent) == (True, False, True)
    assert skill.input_schema == {"type": "object", "properties": {"pages": {"type": ["integer", "null"]}}}
    assert skill.output_schema == {"type": "object", "required": ["summary"]}
    assert skill.annotations == {"readOnlyHint": True}
    async with gateway_of_agent(agent) as gateway:
        reply = await answer(gateway, "summarize_pdf", pages=3)
        assert reply.payload == {"text": '{"summary":"3 pages"}', "structured": {"summary": "3 pages"}}


async def test_sdk_tools_and_raw_tools_work_in_an_agent_as_they_are() -> None:
    @tool
    def double(number: int) -> int:
        return number * 2

    @tool(name="raw", version="1", input_schema={"type": "object", "properties": {"a": {"type": "string"}}})
    async def raw(arguments: dict[str, Any], ctx: ToolContext) -> str:
        return f"{arguments['a']} in {ctx.call_id}"

    agent = Agent("both", tools=(double, raw))
    assert [skill.name for skill in agent.registration().skills] == ["double", "raw"]
    async with gateway_of_agent(agent) as gateway:
        assert (await answer(gateway, "double", number=21)).payload == {"text": "42"}
        assert (await answer(gateway, "raw", a="x")).payload == {"text": "x in call_raw_1"}


async def test_an_author_s_own_words_reach_the_caller_and_a_bug_s_do_not(caplog: pytest.LogCaptureFixture) -> None:
    agent = Agent("moody")

    @agent.tool
    async def complain() -> str:
        raise ToolError("no such city: Atlantis")

    @agent.tool
    async def decline() -> str:
        raise Refuse("not on Sundays")

    @agent.tool
    async def break_down() -> str:
        raise RuntimeError("password is hunter2")

    @agent.tool
    def leave() -> str:
        raise SystemExit(3)

    async with gateway_of_agent(agent) as gateway:
        reply = await answer(gateway, "complain")
        assert (reply.type, reply.payload) == ("agent_reply", {"text": "no such city: Atlantis", "is_error": True})
        reply = await answer(gateway, "decline")
        assert (reply.type, reply.payload) == ("agent.refuse", {"text": "not on Sundays"})
        reply = await answer(gateway, "break_down")
        assert reply.payload["is_error"] is True
        assert "hunter2" not in json.dumps(reply.payload)
        assert "call_break_down_2" in reply.payload["text"]
        assert "hunter2" in caplog.text
        assert (await answer(gateway, "leave")).payload["is_error"] is True


async def test_pictures_and_resources_become_blocks() -> None:
    agent = Agent("painter")

    @agent.tool
    async def paint() -> list[Any]:
        return ["a dot", Image(b"\x89PNG", "image/png"), Resource("notes://1", text="n"), Resource("https://x/y")]

    async with gateway_of_agent(agent) as gateway:
        payload = (await answer(gateway, "paint")).payload
        assert payload["text"] == "a dot"
        assert [block["type"] for block in payload["content"]] == ["text", "image", "resource", "resource_link"]
        assert payload["content"][1] == {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}


async def test_garbage_is_told_as_garbage_and_not_lost() -> None:
    agent = Agent("garbage")

    @agent.tool
    async def lock() -> Any:
        return {"lock": threading.Lock()}

    async with gateway_of_agent(agent) as gateway:
        payload = (await answer(gateway, "lock")).payload
        assert payload["is_error"] is True
        assert "output.lock" in payload["text"]


async def test_a_plain_message_goes_to_on_message() -> None:
    agent = Agent("chatty")

    @agent.on_message
    async def reply(text: str, ctx: Ctx) -> str:
        return f"{text}, you say on {ctx.channel_id}"

    assert agent.registration().skills == ()
    async with gateway_of_agent(agent) as gateway:
        gateway.deliver(row("msg_1", "chat_message", {"message": "hello"}))
        assert (await gateway.reply("msg_1")).payload == {"text": "hello, you say on ch_1"}
        gateway.deliver(chat("msg_2", "message", message="hi"))
        assert (await gateway.reply("msg_2")).payload == {"text": "hi, you say on ch_1"}
        gateway.deliver(row("msg_3", "chat_message", {"message": 7}))
        assert (await gateway.reply("msg_3")).payload["code"] == "invalid_param"


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ({"message": "hello"}, "tool_not_found"),
        ({"tool": {"name": "nope", "arguments": {}}}, "tool_not_found"),
        ({"tool": {"name": "echo", "arguments": []}}, None),
        ({"tool": {"name": "echo", "arguments": "text"}}, "invalid_param"),
        ({"tool": {"name": 7}}, "invalid_param"),
        ({"tool": "echo"}, "invalid_param"),
        ({"tool": {"name": "echo", "arguments": {"text": 7}}}, "invalid_param"),
        ({}, "tool_not_found"),
    ],
)
async def test_a_message_that_calls_nothing_is_answered_with_what_is_wrong(
    payload: dict[str, Any], code: str | None
) -> None:
    agent = Agent("strict")

    @agent.tool
    async def echo(text: str = "") -> str:
        return text

    @agent.tool(expose=False)
    async def hidden() -> str:
        return "hidden"

    async with gateway_of_agent(agent) as gateway:
        gateway.deliver(row("msg_1", "chat_message", payload))
        said = (await gateway.reply("msg_1")).payload
        assert said.get("code") == code
        assert said.get("is_error", False) is (code is not None)
        assert "hidden" not in said["text"]


async def test_a_sync_tool_that_blocks_holds_up_neither_the_others_nor_the_link() -> None:
    agent = Agent("slow")
    release = threading.Event()

    @agent.tool
    def block() -> str:
        release.wait(30)
        return "unblocked"

    @agent.tool
    def quick() -> str:
        return "quick"

    @agent.tool
    async def loop() -> str:
        return "loop"

    async with gateway_of_agent(agent) as gateway:
        for number in range(45):
            gateway.deliver(chat(f"msg_{number}", "block"))
        assert (await answer(gateway, "quick")).payload == {"text": "quick"}
        assert (await answer(gateway, "loop")).payload == {"text": "loop"}
        assert gateway.worker.held == 45
        release.set()
        await gateway.until(lambda: len(gateway.replies()) == 47)


async def test_a_sync_tool_that_is_cancelled_is_left_behind_and_can_tell() -> None:
    agent = Agent("slow")
    begun, noticed = threading.Event(), threading.Event()

    @agent.tool
    def block(ctx: Ctx) -> str:
        begun.set()
        while not ctx.cancelled:
            time.sleep(0.001)
        ctx.say("nobody hears this")
        noticed.set()
        return "late"

    async with gateway_of_agent(agent) as gateway:
        gateway.deliver(chat("msg_1", "block"))
        assert await anyio.to_thread.run_sync(begun.wait, 5)
        gateway.cancel("msg_1")
        assert (await gateway.reply("msg_1")).type == "agent.refuse"
        assert await anyio.to_thread.run_sync(noticed.wait, 5)
        assert gateway.deltas() == []
        assert len(gateway.replies()) == 1


async def test_a_tool_that_cancels_itself_is_answered_all_the_same() -> None:
    agent = Agent("confused")

    @agent.tool
    async def confuse() -> str:
        with anyio.CancelScope() as scope:
            scope.cancel()
            await anyio.sleep_forever()
        if scope.cancelled_caught:
            raise asyncio.CancelledError
        return "never"

    async with gateway_of_agent(agent) as gateway:
        assert (await answer(gateway, "confuse")).payload["is_error"] is True


def test_mistakes_are_told_when_the_agent_is_written() -> None:
    agent = Agent("strict")

    @agent.tool
    async def one() -> str:
        return "1"

    with pytest.raises(ValueError, match="a tool 'one' already"):
        agent.tool(name="one")(lambda: "2")
    with pytest.raises(TypeError, match="no option 'colour'"):
        agent.tool(colour="red")(lambda: "2")  # pyright: ignore[reportCallIssue] -- the mistake under test
    with pytest.raises(TypeError, match="expose"):
        agent.tool(expose="no")(lambda: "2")  # pyright: ignore[reportArgumentType] -- the mistake under test
    with pytest.raises(TypeError, match="is a tool already"):
        agent.tool(name="two")(one)
    with pytest.raises(TypeError, match="made tools by @tool"):
        Agent("x", tools=[print])  # pyright: ignore[reportArgumentType] -- the mistake under test
    with pytest.raises(ValueError, match="needs a name"):
        Agent(" ")
    with pytest.raises(ValueError, match="delivery must be one of push, queue, busy_reject"):
        Agent("x", delivery="fast")  # pyright: ignore[reportArgumentType] -- the mistake under test

    def two_texts(text: str, other: str) -> str:
        return text + other

    with pytest.raises(TypeError, match="text alone"):
        agent.on_message(two_texts)

    @agent.on_message
    def reply(text: str) -> str:
        return text

    with pytest.raises(ValueError, match=r"one @agent\.on_message"):
        agent.on_message(reply.__wrapped__)
    assert reply.name == "message"


def test_a_decorated_function_is_still_callable_and_may_be_offered_twice() -> None:
    first, second = Agent("first"), Agent("second", limits=Limits(calls=1))

    @first.tool
    def add(a: int, b: int) -> int:
        return a + b

    second.tool(add)
    assert add(1, 2) == 3
    assert second.registration().skills == first.registration().skills
    assert Agent("third", tools=add).registration().skills == first.registration().skills  # pyright: ignore[reportArgumentType] -- forgiven
