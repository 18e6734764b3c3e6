"""Tasks, the extension of 2026-07-28: begun by a call, looked at, cancelled and listened to (mcp.md 1.4, SEP-2663)."""

from collections.abc import Callable
from typing import Any

import anyio
import pytest

from tests.interaction.bench import NEW, Gate
from tests.interaction.cells import SECRET, Talk, talking
from tests.interaction.requirements import HTTP_2026, Cell, proves
from tests.interaction.requirements import NEW as NEW_CELLS
from tests.interaction.requirements import OLD as OLD_CELLS
from toolwire.sdk import ToolContext, ToolError
from toolwire.server import Server

EXTENSION = "io.modelcontextprotocol/tasks"
CAN: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {EXTENSION: {}}}}
WORDS = {"taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"}
on_newer_cells = pytest.mark.parametrize("cell", sorted(NEW_CELLS, key=list(Cell).index))
on_older_cells = pytest.mark.parametrize("cell", sorted(OLD_CELLS, key=list(Cell).index))


def jobs(gate: Gate) -> Server:
    """A server of long work; some of it is held at `gate`."""
    server = Server("bench")

    @server.tool(task="optional")
    async def work(ctx: ToolContext, text: str = "worked") -> str:
        """Work until it is let go."""
        await ctx.progress("half way", 1, 2)
        await gate.hold()
        return text

    @server.tool(task="optional")
    async def quick() -> str:
        """Be done at once."""
        return "quick"

    @server.tool(task="required")
    async def always(ctx: ToolContext) -> dict[str, int]:
        """Be a task, however quick."""
        ctx.log.info("never told")
        return {"sum": 3}

    @server.tool(task="required")
    async def fail() -> str:
        """Fail with words for the model."""
        raise ToolError("it does not work")

    @server.tool(task="required")
    async def crash() -> str:
        """Fail with words for nobody."""
        raise RuntimeError(SECRET)

    @server.tool(task="required")
    async def needy(ctx: ToolContext) -> str:
        """Need what the client has not."""
        ctx.require_client("sampling")
        return "sampled"

    @server.tool
    async def greet(name: str) -> str:
        """Greet."""
        return f"Hello, {name}!"

    return server


def able(**params: Any) -> dict[str, Any]:
    """Parameters of a request whose client knows tasks."""
    return {**params, "_meta": CAN}


async def begin(talk: Talk, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool whose call becomes a task, and return what is said of it."""
    [message] = await talk.say("tools/call", able(name=name, arguments=arguments))
    assert message["result"].pop("resultType") == "task", message
    return message["result"]


async def look(talk: Talk, task_id: str) -> dict[str, Any]:
    """`tasks/get`."""
    return await talk.result("tasks/get", able(taskId=task_id))


async def end_of(talk: Talk, task_id: str) -> dict[str, Any]:
    """A task once it has ended."""
    with anyio.fail_after(5):
        while (task := await look(talk, task_id))["status"] in ("working", "input_required"):
            await anyio.lowlevel.checkpoint()
    return task


@proves("tasks.offered")
@on_newer_cells
async def test_the_extension_is_advertised_and_its_forerunners_methods_are_not_there(cell: Cell):
    async with talking(cell, jobs) as talk:
        offered = (await talk.result("server/discover"))["capabilities"]
        assert offered["extensions"] == {EXTENSION: {}}
        assert "tasks" not in offered
        task = await begin(talk, "always")
        for method in ("tasks/result", "tasks/list"):
            assert (await talk.error(method, able(taskId=task["taskId"])))["code"] == -32601


@proves("tasks.offered")
@on_newer_cells
async def test_the_tools_are_listed_as_all_others_are(cell: Cell):
    async with talking(cell, jobs) as talk:
        [tool] = [each for each in (await talk.result("tools/list"))["tools"] if each["name"] == "always"]
        assert not {"task", "taskTimeoutS", "execution"} & set(tool)


@proves("tasks.created")
@on_newer_cells
async def test_a_long_call_is_answered_with_a_task_that_can_be_looked_at_at_once(cell: Cell):
    async with talking(cell, jobs) as talk:
        task = await begin(talk, "work")
        assert set(task) == WORDS | {"_meta"}
        assert task["status"] == "working"
        assert task["ttlMs"] == 25 * 3_600_000
        assert task["pollIntervalMs"] == 1000
        found = await look(talk, task["taskId"])
        assert (found["taskId"], found["createdAt"]) == (task["taskId"], task["createdAt"])
        assert (found["status"], found["statusMessage"]) == ("working", "half way")
        talk.gate.release.set()
        found = await end_of(talk, task["taskId"])
        assert found["status"] == "completed"
        assert found["result"]["content"] == [{"type": "text", "text": "worked"}]
        assert found["lastUpdatedAt"] >= found["createdAt"]
        assert set(found) == WORDS | {"result"}


@proves("tasks.created")
@on_newer_cells
@pytest.mark.parametrize("hint", [{}, {"task": {"ttl": 60_000}}, {"task": 1}])
async def test_the_server_alone_says_what_becomes_a_task(cell: Cell, hint: dict[str, Any]):
    async with talking(cell, jobs) as talk:
        [message] = await talk.say("tools/call", able(name="greet", arguments={"name": "you"}, **hint))
        assert message["result"]["resultType"] == "complete"
        assert message["result"]["content"][0]["text"] == "Hello, you!"
        [message] = await talk.say("tools/call", able(name="quick", arguments={}, **hint))
        assert message["result"]["content"][0]["text"] == "quick"
        [message] = await talk.say("tools/call", able(name="always", arguments={}, **hint))
        assert message["result"]["resultType"] == "task"


@proves("tasks.created")
@on_newer_cells
async def test_a_task_tells_nothing_on_the_request_that_began_it(cell: Cell):
    meta = {**CAN, "progressToken": "p", "io.modelcontextprotocol/logLevel": "debug"}
    async with talking(cell, jobs) as talk:
        for name in ("work", "always"):
            [message] = await talk.say("tools/call", {"name": name, "arguments": {}, "_meta": meta})
            assert message["result"]["resultType"] == "task"


@proves("tasks.created")
@on_newer_cells
async def test_the_same_key_is_the_same_task_and_then_its_end(cell: Cell):
    key = {"toolwire/idempotency_key": "job-17"}
    async with talking(cell, jobs) as talk:
        params = {"name": "work", "arguments": {}, "_meta": {**CAN, **key}}
        ids = {(await talk.say("tools/call", params))[0]["result"]["taskId"] for _ in range(2)}
        assert len(ids) == 1
        talk.gate.release.set()
        assert (await end_of(talk, ids.pop()))["status"] == "completed"
        for meta in (CAN, {}):
            [message] = await talk.say("tools/call", {**params, "_meta": {**meta, **key}})
            assert message["result"]["content"][0]["text"] == "worked"
        assert talk.gate.entered == 1


@proves("tasks.created")
@on_newer_cells
async def test_a_call_that_is_waited_for_is_a_task_for_whoever_repeats_it_as_one(cell: Cell):
    key = {"toolwire/idempotency_key": "job-17"}
    async with talking(cell, jobs) as talk:
        params: dict[str, Any] = {"name": "work", "arguments": {}}
        waiting = await talk.begin("tools/call", {**params, "_meta": key}, 7)
        await talk.gate.until(entered=1)
        [message] = await talk.say("tools/call", {**params, "_meta": {**CAN, **key}}, 8)
        task_id = message["result"]["taskId"]
        assert (await look(talk, task_id))["status"] == "working"
        talk.gate.release.set()
        assert (await talk.rest(waiting, 7))[-1]["result"]["content"][0]["text"] == "worked"
        assert (await end_of(talk, task_id))["status"] == "completed"
        assert talk.gate.entered == 1


@proves("tasks.created")
@on_newer_cells
@pytest.mark.parametrize("arguments", [{"text": 3, "nonsense": 1}, {"text": [1]}])
async def test_arguments_are_checked_before_there_is_a_task(cell: Cell, arguments: Any):
    async with talking(cell, jobs) as talk:
        [message] = await talk.say("tools/call", able(name="work", arguments=arguments))
        assert (message["result"]["resultType"], message["result"]["isError"]) == ("complete", True)


@proves("tasks.ended")
@on_newer_cells
async def test_what_a_tool_reports_completes_its_task_and_what_the_protocol_refuses_fails_it(cell: Cell):
    async with talking(cell, jobs) as talk:
        found = await end_of(talk, (await begin(talk, "always"))["taskId"])
        assert (found["status"], found["result"]["structuredContent"]) == ("completed", {"sum": 3})
        for name, words in (("fail", "it does not work"), ("crash", "tool 'crash' failed")):
            found = await end_of(talk, (await begin(talk, name))["taskId"])
            assert (found["status"], found["result"]["isError"]) == ("completed", True)
            assert found["result"]["content"][0]["text"].startswith(words)
            assert SECRET not in str(found)
        found = await end_of(talk, (await begin(talk, "needy"))["taskId"])
        assert (found["status"], found["error"]["code"]) == ("failed", -32021)
        assert found["error"]["data"]["requiredCapabilities"] == {"sampling": {}}
        assert "result" not in found


@proves("tasks.negotiated")
@on_newer_cells
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_a_client_that_does_not_say_that_it_knows_tasks_is_told_what_is_missing(cell: Cell, method: str):
    async with talking(cell, jobs) as talk:
        task = await begin(talk, "work")
        error = await talk.error(method, {"taskId": task["taskId"], "inputResponses": {}})
        assert error["code"] == -32021
        assert error["data"]["requiredCapabilities"] == {"extensions": {EXTENSION: {}}}
        assert (await look(talk, task["taskId"]))["status"] == "working"


@proves("tasks.negotiated")
@on_newer_cells
async def test_without_tasks_what_may_be_one_is_waited_for_and_what_must_be_one_is_refused(cell: Cell):
    async with talking(cell, jobs) as talk:
        talk.gate.release.set()
        result = await talk.result("tools/call", {"name": "work", "arguments": {}})
        assert result["content"] == [{"type": "text", "text": "worked"}]
        error = await talk.error("tools/call", {"name": "always", "arguments": {}})
        assert error["code"] == -32021
        assert error["data"]["requiredCapabilities"] == {"extensions": {EXTENSION: {}}}
        assert talk.gate.entered == 1


@proves("tasks.older")
@on_older_cells
async def test_on_the_older_wire_there_are_no_tasks(cell: Cell):
    async with talking(cell, jobs, can={"extensions": {EXTENSION: {}}}) as talk:
        talk.gate.release.set()
        result = await talk.result("tools/call", {"name": "work", "arguments": {}})
        assert result["content"] == [{"type": "text", "text": "worked"}]
        error = await talk.error("tools/call", {"name": "always", "arguments": {}})
        assert error["data"]["code"] == "missing_client_capability"
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert (await talk.error(method, {"taskId": "call_1"}))["code"] == -32601


@proves("tasks.cancelled")
@on_newer_cells
async def test_a_task_is_cancelled_as_often_as_a_client_likes(cell: Cell):
    async with talking(cell, jobs) as talk:
        task = await begin(talk, "work")
        await talk.gate.until(entered=1)
        for _ in range(2):
            assert await talk.result("tasks/cancel", able(taskId=task["taskId"])) == {}
        found = await end_of(talk, task["taskId"])
        assert (found["status"], talk.gate.cancelled) == ("cancelled", 1)
        assert not {"result", "error"} & set(found)
        assert await talk.result("tasks/cancel", able(taskId=task["taskId"])) == {}
        assert (await look(talk, task["taskId"]))["status"] == "cancelled"


@proves("tasks.cancelled")
@on_newer_cells
async def test_a_task_that_has_ended_stays_as_it_is(cell: Cell):
    async with talking(cell, jobs) as talk:
        task_id = (await begin(talk, "always"))["taskId"]
        before = await end_of(talk, task_id)
        assert await talk.result("tasks/cancel", able(taskId=task_id)) == {}
        assert await talk.result("tasks/update", able(taskId=task_id, inputResponses={"x": {}})) == {}
        assert await look(talk, task_id) == before


@proves("tasks.cancelled", HTTP_2026)
async def test_a_task_goes_on_when_the_connection_that_began_it_is_gone():
    async with talking(HTTP_2026, jobs) as talk:
        assert talk.peer is not None
        answer = await talk.peer.ask("tools/call", able(name="work", arguments={}))
        task_id = (await answer.json())["result"]["taskId"]
        answer.leave()
        await anyio.wait_all_tasks_blocked()
        assert (await look(talk, task_id))["status"] == "working"
        talk.gate.release.set()
        assert (await end_of(talk, task_id))["status"] == "completed"


@proves("tasks.cancelled", HTTP_2026)
@pytest.mark.virtual_time
async def test_a_call_whose_client_leaves_before_it_is_told_of_a_task_is_cancelled():
    async with talking(HTTP_2026, jobs) as talk:
        assert talk.peer is not None
        answer = talk.peer.start("tools/call", able(name="work", arguments={}))
        await talk.gate.until(entered=1)
        answer.leave()
        await talk.gate.until(cancelled=1)


@proves("tasks.known")
@on_newer_cells
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("task_id", ["call_unknown", "", "../x"])
async def test_what_is_no_task_is_not_found(cell: Cell, method: str, task_id: str):
    async with talking(cell, jobs) as talk:
        error = await talk.error(method, able(taskId=task_id, inputResponses={}))
        assert (error["code"], error["data"]["param"]) == (-32602, "taskId")


@proves("tasks.known")
@on_newer_cells
async def test_a_task_is_named_and_answered_in_the_right_form(cell: Cell):
    async with talking(cell, jobs) as talk:
        task_id = (await begin(talk, "work"))["taskId"]
        wrong: tuple[Any, ...] = (None, [], "yes", {"key": "yes"})
        for answers in wrong:
            error = await talk.error("tasks/update", able(taskId=task_id, inputResponses=answers))
            assert (error["code"], error["data"]["param"].split(".")[0]) == (-32602, "inputResponses")
        assert await talk.result("tasks/update", able(taskId=task_id, inputResponses={"unknown": {}})) == {}
        assert (await look(talk, task_id))["status"] == "working"


@proves("tasks.known")
@on_newer_cells
async def test_hundreds_of_tasks_at_once_are_each_their_own(cell: Cell):
    async with talking(cell, jobs) as talk:
        ids = [(await begin(talk, "always"))["taskId"] for _ in range(300)]
        assert len(set(ids)) == 300
        assert {(await end_of(talk, task_id))["status"] for task_id in ids} == {"completed"}


@proves("tasks.headers", HTTP_2026)
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
@pytest.mark.parametrize("name", ["", "call_other"])
async def test_the_task_stands_in_the_routing_header_too(method: str, name: str):
    async with talking(HTTP_2026, jobs) as talk:
        task_id = (await begin(talk, "work"))["taskId"]
        params = able(taskId=task_id, inputResponses={})
        [message] = await talk.say(method, params, mcp_name=name)
        assert message["error"]["code"] == -32020
        assert (await look(talk, task_id))["status"] == "working"


async def heard(talk: Talk, ids: list[str], meta: Any = CAN) -> Callable[[], Any]:
    """Listen to tasks; what comes back gives the next message of the subscription."""
    params = {"notifications": {"taskIds": ids}, "_meta": meta}
    answer = await talk.begin("subscriptions/listen", params, "sub")
    if answer is None:
        assert talk.lines is not None
        return talk.lines.message
    with anyio.fail_after(5):
        await answer.started.wait()
    return answer.frame if answer.status == 200 else answer.json


@proves("tasks.told")
@on_newer_cells
async def test_who_listens_to_a_task_is_told_of_each_of_its_states_once(cell: Cell):
    async with talking(cell, jobs) as talk:
        task_id = (await begin(talk, "work"))["taskId"]
        other = (await begin(talk, "work"))["taskId"]
        following = await heard(talk, [task_id, "call_unknown", task_id])
        assert (await following())["params"]["notifications"] == {"taskIds": [task_id]}
        await talk.gate.until(entered=2)
        talk.gate.release.set()
        told = await following()
        assert (told["method"], told["params"]["status"]) == ("notifications/tasks", "completed")
        assert told["params"].pop("_meta") == {"io.modelcontextprotocol/subscriptionId": "sub"}
        assert told["params"]["result"]["content"][0]["text"] == "worked"
        if cell is HTTP_2026:
            assert (await end_of(talk, other))["status"] == "completed"
            assert told["params"] == await look(talk, task_id)


@proves("tasks.told")
@on_newer_cells
async def test_of_a_task_that_has_ended_one_is_told_at_once(cell: Cell):
    async with talking(cell, jobs) as talk:
        task_id = (await begin(talk, "fail"))["taskId"]
        await end_of(talk, task_id)
        following = await heard(talk, [task_id])
        await following()
        assert (await following())["params"]["result"]["isError"] is True


@proves("tasks.told")
@on_newer_cells
@pytest.mark.parametrize("ids", [1, "call_1", [1], ["call_1"] * 1001])
async def test_a_list_of_tasks_that_is_none_is_refused(cell: Cell, ids: Any):
    async with talking(cell, jobs) as talk:
        assert (await (await heard(talk, ids))())["error"]["code"] == -32602


@proves("tasks.told")
@on_newer_cells
async def test_to_listen_to_tasks_a_client_must_know_them(cell: Cell):
    async with talking(cell, jobs) as talk:
        assert talk.era == NEW
        assert (await (await heard(talk, ["call_1"], {}))())["error"]["code"] == -32021
