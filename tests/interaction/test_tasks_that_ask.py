"""Tasks whose bodies ask their client, before there is a task and as one (mcp.md 1.4, SEP-2663)."""

from typing import Any

import anyio
import pytest

from tests.interaction.bench import Gate
from tests.interaction.cells import Talk, talking
from tests.interaction.requirements import NEW as NEW_CELLS
from tests.interaction.requirements import Cell, proves
from tests.interaction.test_tasks import EXTENSION, end_of, heard
from toolwire.sdk import ToolContext
from toolwire.sdk.asking import AskForm
from toolwire.server import Server

on_newer_cells = pytest.mark.parametrize("cell", sorted(NEW_CELLS, key=list(Cell).index))
CAN: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {EXTENSION: {}}}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def curious(gate: Gate) -> Server:
    """A server of work that needs to be told things."""
    server = Server("bench")

    @server.tool(task="required")
    async def one(ctx: ToolContext) -> str:
        """Ask one thing."""
        answer = await ctx.elicit("Who?", NAME, key="who")
        return f"{answer.action}: {answer.content}"

    @server.tool(task="required")
    async def two(ctx: ToolContext) -> str:
        """Ask two things at once, then a third."""
        answers = await ctx.ask_all({"a": AskForm[Any]("A?", NAME), "b": AskForm[Any]("B?", NAME)})
        last = await ctx.elicit("C?", NAME, key="c")
        given: list[Any] = [*answers.values(), last]
        return " ".join(answer.content["name"] for answer in given)

    @server.tool(task="required")
    def on_a_thread(ctx: ToolContext) -> str:
        """Ask from a thread."""
        return str(ctx.wait(ctx.elicit("Who?", NAME)).content)

    @server.tool(task="required")
    async def again(ctx: ToolContext) -> str:
        """Use a key twice."""
        await ctx.elicit("Who?", NAME, key="who")
        await ctx.elicit("Who again?", NAME, key="who")
        return "not reached"

    @server.tool(task="later")
    async def first_ask(ctx: ToolContext, asks: bool = True) -> str:
        """Ask, become a task, and ask again."""
        entered = gate.entered
        answer = await ctx.elicit("Who?", NAME, key="who") if asks else None
        await ctx.become_task()
        await ctx.become_task()
        await gate.hold()
        more = await ctx.elicit("And?", NAME, key="and")
        return f"{entered} {answer and answer.content} {more.content}"

    @server.tool(task="later")
    async def never_one(ctx: ToolContext) -> str:
        """Need no task after all."""
        await ctx.progress("quick")
        return "at once"

    return server


def able(**params: Any) -> dict[str, Any]:
    """Parameters of a request whose client knows tasks and can be asked."""
    return {**params, "_meta": CAN}


def accepted(name: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": name}}


async def call(talk: Talk, name: str, **more: Any) -> dict[str, Any]:
    [message] = await talk.say("tools/call", able(name=name, **{"arguments": {}, **more}))
    return message["result"]


async def asking(talk: Talk, task_id: str) -> dict[str, Any]:
    """What a task asks, once it does."""
    with anyio.fail_after(5):
        while (task := await talk.result("tasks/get", able(taskId=task_id)))["status"] == "working":
            await anyio.lowlevel.checkpoint()
    assert task["status"] == "input_required"
    return task["inputRequests"]


async def tell(talk: Talk, task_id: str, **answers: Any) -> None:
    assert await talk.result("tasks/update", able(taskId=task_id, inputResponses=answers)) == {}


@proves("tasks.asks")
@on_newer_cells
@pytest.mark.parametrize(
    ("answer", "told"), [(accepted("Ada"), "accept: {'name': 'Ada'}"), ({"action": "decline"}, "decline: None")]
)
async def test_a_task_waits_for_what_it_asks_and_goes_on_with_the_answer(cell: Cell, answer: Any, told: str):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "one"))["taskId"]
        assert await asking(talk, task_id) == {
            "who": {
                "method": "elicitation/create",
                "params": {"message": "Who?", "requestedSchema": NAME},
            }
        }
        await tell(talk, task_id, who=answer)
        task = await end_of(talk, task_id)
        assert (task["status"], task["result"]["content"][0]["text"]) == ("completed", told)
        assert "inputRequests" not in task


@proves("tasks.asks")
@on_newer_cells
async def test_a_part_of_the_answers_leaves_the_rest_open(cell: Cell):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "two"))["taskId"]
        assert set(await asking(talk, task_id)) == {"a", "b"}
        await tell(talk, task_id, b=accepted("second"), unknown=accepted("nobody"))
        assert set(await asking(talk, task_id)) == {"a"}
        await tell(talk, task_id, b=accepted("too late"))
        assert set(await asking(talk, task_id)) == {"a"}
        await tell(talk, task_id, a=accepted("first"))
        assert set(await asking(talk, task_id)) == {"c"}
        await tell(talk, task_id, c=accepted("third"), a=accepted("too late"))
        assert (await end_of(talk, task_id))["result"]["content"][0]["text"] == "first second third"


@proves("tasks.asks")
@on_newer_cells
@pytest.mark.parametrize(
    "unfit", [{}, {"action": "perhaps"}, {"action": "accept"}, {"action": "accept", "content": {"name": 3}}]
)
async def test_an_answer_to_something_else_leaves_the_question_open(cell: Cell, unfit: Any):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "one"))["taskId"]
        await asking(talk, task_id)
        await tell(talk, task_id, who=unfit)
        assert set(await asking(talk, task_id)) == {"who"}


@proves("tasks.asks")
@on_newer_cells
@pytest.mark.parametrize("name", ["one", "on_a_thread"])
async def test_a_task_that_waits_for_an_answer_can_be_cancelled(cell: Cell, name: str):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, name))["taskId"]
        [key] = await asking(talk, task_id)
        assert await talk.result("tasks/cancel", able(taskId=task_id)) == {}
        await tell(talk, task_id, **{key: accepted("Ada")})
        assert (await end_of(talk, task_id))["status"] == "cancelled"


@proves("tasks.asks")
@on_newer_cells
async def test_a_plain_function_may_ask_from_its_thread(cell: Cell):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "on_a_thread"))["taskId"]
        [key] = await asking(talk, task_id)
        await tell(talk, task_id, **{key: accepted("Ada")})
        assert (await end_of(talk, task_id))["result"]["content"][0]["text"] == "{'name': 'Ada'}"


@proves("tasks.asks")
@on_newer_cells
async def test_a_key_is_never_used_again(cell: Cell):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "again"))["taskId"]
        await asking(talk, task_id)
        await tell(talk, task_id, who=accepted("Ada"))
        assert (await end_of(talk, task_id))["result"]["isError"] is True


@proves("tasks.asks")
@on_newer_cells
async def test_a_client_that_cannot_be_asked_has_a_task_that_fails(cell: Cell):
    only_tasks: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}}}
    async with talking(cell, curious) as talk:
        [message] = await talk.say("tools/call", {"name": "one", "arguments": {}, "_meta": only_tasks})
        task = await end_of(talk, message["result"]["taskId"])
        assert (task["status"], task["error"]["code"]) == ("failed", -32021)
        assert task["error"]["data"]["requiredCapabilities"] == {"elicitation": {}}


@proves("tasks.asks")
@on_newer_cells
async def test_who_listens_is_told_of_questions_and_of_those_that_are_left(cell: Cell):
    async with talking(cell, curious) as talk:
        task_id = (await call(talk, "two"))["taskId"]
        await asking(talk, task_id)
        following = await heard(talk, [task_id], CAN)
        await following()
        assert set((await following())["params"]["inputRequests"]) == {"a", "b"}
        params = able(taskId=task_id, inputResponses={"a": accepted("first")})
        answer = await talk.begin("tasks/update", params, 7)
        told = await following()
        assert (told["params"]["status"], set(told["params"]["inputRequests"])) == ("input_required", {"b"})
        await talk.rest(answer, 7)


@proves("tasks.asks_first")
@on_newer_cells
async def test_what_is_asked_first_is_answered_before_there_is_a_task(cell: Cell):
    async with talking(cell, curious) as talk:
        asked = await call(talk, "first_ask")
        assert (asked["resultType"], set(asked["inputRequests"])) == ("input_required", {"who"})
        assert "taskId" not in asked
        answers = {"inputResponses": {"who": accepted("Ada")}, "requestState": asked["requestState"]}
        task = await call(talk, "first_ask", **answers)
        assert task["resultType"] == "task"
        assert not {"requestState", "inputRequests"} & set(task)
        talk.gate.release.set()
        assert set(await asking(talk, task["taskId"])) == {"and"}
        await tell(talk, task["taskId"], **{"and": accepted("Bob")})
        ended = await end_of(talk, task["taskId"])
        assert ended["result"]["content"][0]["text"] == "0 {'name': 'Ada'} {'name': 'Bob'}"


@proves("tasks.asks_first")
@on_newer_cells
async def test_a_repeat_whose_answer_was_lost_names_the_same_task(cell: Cell):
    async with talking(cell, curious) as talk:
        asked = await call(talk, "first_ask")
        answers = {"inputResponses": {"who": accepted("Ada")}, "requestState": asked["requestState"]}
        first, second = await call(talk, "first_ask", **answers), await call(talk, "first_ask", **answers)
        assert first == second
        assert talk.gate.entered == 1


@proves("tasks.asks_first")
@on_newer_cells
async def test_under_a_key_a_call_that_has_become_a_task_is_that_for_its_repeats(cell: Cell):
    meta = {**CAN, "toolwire/idempotency_key": "job-17"}
    async with talking(cell, curious) as talk:
        params = {"name": "first_ask", "arguments": {"asks": False}, "_meta": meta}
        ids = {(await talk.say("tools/call", params))[0]["result"]["taskId"] for _ in range(2)}
        assert len(ids) == 1
        assert talk.gate.entered == 1


@proves("tasks.asks_first")
@on_newer_cells
async def test_a_body_says_when_its_call_becomes_a_task_or_that_it_does_not(cell: Cell):
    async with talking(cell, curious) as talk:
        assert (await call(talk, "first_ask", arguments={"asks": False}))["resultType"] == "task"
        assert (await call(talk, "never_one"))["content"][0]["text"] == "at once"
        error = await talk.error("tools/call", {"name": "never_one", "arguments": {}})
        assert error["code"] == -32021
