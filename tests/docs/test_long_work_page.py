"""What docs/how-to/long-work.md says of tasks is so."""

from typing import Any

import anyio

from docs_src.long_work import tutorial001, tutorial002, tutorial003
from tests.interaction.bench import NEW, Peer
from tests.interaction.transport import connect

CAN: dict[str, Any] = {
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    }
}
AGREED = {"action": "accept", "content": {"agreed": True}}


async def ask(peer: Peer, method: str, **params: Any) -> Any:
    return (await (await peer.ask(method, {**params, "_meta": CAN})).message())["result"]


async def until(peer: Peer, task_id: str, status: str) -> Any:
    """A task once it stands so."""
    with anyio.fail_after(5):
        while (task := await ask(peer, "tasks/get", taskId=task_id))["status"] != status:
            await anyio.lowlevel.checkpoint()
    return task


async def test_a_document_is_rendered_in_a_task_or_while_the_client_waits():
    assert tutorial003.server is tutorial001.server
    async with tutorial003.server.open(tasks=tutorial003.LIMITS) as served, connect(served.app) as client:
        peer = Peer(client, NEW)
        task = await ask(peer, "tools/call", name="render", arguments={"pages": 2})
        assert (task["pollIntervalMs"], task["ttlMs"]) == (2000, 3 * 3_600_000)
        working = await ask(peer, "tasks/get", taskId=task["taskId"])
        assert working["statusMessage"] == "page 1 of 2"
        ended = await until(peer, task["taskId"], "completed")
        assert ended["result"]["content"][0]["text"] == "2 pages"

        waited = await peer.call("render", {"pages": 1})
        assert waited["result"]["content"][0]["text"] == "1 pages"


async def test_a_folder_is_cleaned_after_one_question_before_the_task_and_one_within():
    async with tutorial002.server.open() as served, connect(served.app) as client:
        peer = Peer(client, NEW)
        call = {"name": "clean", "arguments": {"folder": "old"}}
        asked = await ask(peer, "tools/call", **call)
        [key] = asked["inputRequests"]
        task = await ask(peer, "tools/call", **call, inputResponses={key: AGREED}, requestState=asked["requestState"])
        assert task["resultType"] == "task"
        [key] = (await until(peer, task["taskId"], "input_required"))["inputRequests"]
        await ask(peer, "tasks/update", taskId=task["taskId"], inputResponses={key: AGREED})
        ended = await until(peer, task["taskId"], "completed")
        assert ended["result"]["content"][0]["text"] == "old is gone"
