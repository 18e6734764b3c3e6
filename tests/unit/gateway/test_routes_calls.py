"""gateway.md 25, 27, 54, §6 (REST): `invoke` and `tasks`, through the public surface with an attached agent."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import msgspec
import pytest

from tests.interaction.gateways import OWNER, Attached, gateway_with, reopened
from toolwire.agent import Agent, Ctx


class Site:
    """A gateway with one agent, asked over REST with that agent's calling key."""

    def __init__(self, there: Attached, client: httpx2.AsyncClient) -> None:
        self.there = there
        self._client = client
        self.key = there.bak

    async def ask(self, method: str, path: str, body: Any = None, status: int = 200, **headers: str) -> Any:
        """`data` of a good answer, `error` of a bad one."""
        response = await self.send(method, path, body, **headers)
        assert response.status_code == status, response.text
        told = response.json()
        return told["data"] if status < 400 else told["error"]

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        sent = {"authorization": f"Bearer {self.key}"} | {
            name.replace("_", "-"): text for name, text in headers.items()
        }
        path = f"/api/v1/agents/{self.there.agent_id}{path}"
        return await self._client.request(method, path, json=body, headers=sent)

    async def until(self, task_id: str, *statuses: str) -> dict[str, Any]:
        """The task once it has one of these statuses."""
        with anyio.fail_after(10):
            while (task := await self.ask("GET", f"/tasks/{task_id}"))["status"] not in statuses:
                await anyio.lowlevel.checkpoint()
        return task


class Works:
    """An agent's tools, and how often they were called."""

    def __init__(self) -> None:
        self.calls = 0
        self.go = anyio.Event()
        self.agent = Agent("worker")

        @self.agent.tool
        async def add(a: int, b: int) -> str:
            self.calls += 1
            return str(a + b)

        @self.agent.tool
        async def fail(why: str) -> str:
            raise RuntimeError(why)

        @self.agent.tool
        async def wait(ctx: Ctx) -> str:
            self.calls += 1
            await ctx.progress("half", 1, 2)
            await self.go.wait()
            return "waited"


@asynccontextmanager
async def site_with(works: Works, data: Path | None = None, **settings: Any) -> AsyncGenerator[Site]:
    async with gateway_with(works.agent, data, **settings) as there:
        transport = httpx2.ASGITransport(there.gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", timeout=30) as client:
            yield Site(there, client)


async def test_a_call_is_answered_with_its_text_and_parts() -> None:
    async with site_with(Works()) as site:
        body = {"tool": "add", "arguments": {"a": 1, "b": 2}}
        answer = await site.ask("POST", "/invoke", body)
        assert (answer["text"], answer["is_error"]) == ("3", False)
        assert answer["content"] == [{"type": "text", "text": "3"}]
        assert answer["task_id"].startswith("call_")
        assert answer["context_id"].startswith("ch_")


async def test_a_tools_failure_is_an_answer() -> None:
    async with site_with(Works()) as site:
        answer = await site.ask("POST", "/invoke", {"tool": "fail", "arguments": {"why": "no paper"}})
        assert answer["is_error"] is True
        assert "'fail' failed" in answer["text"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "invalid_param"),
        ({"tool": "add", "message": "hi"}, 400, "invalid_param"),
        ({"tool": "gone"}, 404, "tool_not_found"),
        ({"message": "hi"}, 404, "tool_not_found"),
        ({"tool": "add", "arguments": {"a": "x"}}, 400, "invalid_param"),
        ({"tool": "add", "arguments": {"a": 1, "b": 2}, "context_id": "ch_gone"}, 400, "invalid_param"),
        ({"tool": "add", "arguments": {"a": 1, "b": 2}, "timeout_ms": 0}, 400, "invalid_param"),
        ({"tool": "add", "arguments": {"a": 1, "b": 2}, "idempotency_key": ""}, 400, "invalid_param"),
        ({"tool": "add", "arguments": [1]}, 400, "invalid_param"),
        ({"tool": "add", "surprise": 1}, 400, "invalid_param"),
    ],
)
async def test_what_cannot_be_called_is_refused_before_the_agent_hears_of_it(
    body: dict[str, Any], status: int, code: str
) -> None:
    works = Works()
    async with site_with(works) as site:
        for path in ("/invoke", "/tasks"):
            assert (await site.ask("POST", path, body, status))["code"] == code
    assert works.calls == 0


@pytest.mark.parametrize("path", ["/invoke", "/tasks"])
async def test_a_known_key_comes_before_a_conversation_that_is_not_the_callers(path: str) -> None:
    """gateway.md §6 (order): it replays or is refused as reused, and nothing refused takes a new key."""
    works = Works()
    async with site_with(works) as site:
        body: dict[str, Any] = {"tool": "add", "arguments": {"a": 1, "b": 2}, "idempotency_key": "k1"}
        first = await site.ask("POST", "/invoke", body)
        foreign = {**body, "context_id": "ch_gone"}
        response = await site.send("POST", path, foreign)
        assert (response.status_code < 300, response.headers["idempotency-replayed"]) == (True, "true")
        assert response.json()["data"]["task_id"] == first["task_id"]
        other = {**foreign, "arguments": {"a": 1, "b": 3}}
        assert (await site.send("POST", path, other)).json()["error"]["code"] == "idempotency_key_reused"
        refused = {**other, "idempotency_key": "k2"}
        assert (await site.send("POST", path, refused)).json()["error"]["details"]["param"] == "context_id"
        del refused["context_id"]
        assert (await site.ask("POST", "/invoke", refused))["text"] == "4"
    assert works.calls == 2


async def test_a_known_key_comes_before_an_agent_that_answers_no_messages() -> None:
    async with site_with(Works()) as site:
        body = {"message": "hi", "idempotency_key": "k1"}
        assert (await site.send("POST", "/invoke", body)).json()["error"]["code"] == "tool_not_found"
        await site.ask("POST", "/invoke", {"tool": "add", "arguments": {"a": 1, "b": 2}, "idempotency_key": "k1"})
        assert (await site.send("POST", "/invoke", body)).json()["error"]["code"] == "idempotency_key_reused"


@pytest.mark.parametrize("how", ["body", "argument", "header"])
async def test_a_repeat_under_a_key_is_answered_from_the_record(how: str) -> None:
    """gateway.md 27, D8: the key may stand in the body, among the arguments, or in the header."""
    works = Works()
    async with site_with(works) as site:
        arguments: dict[str, Any] = {"a": 1, "b": 2}
        body: dict[str, Any] = {"tool": "add", "arguments": arguments}
        headers: dict[str, str] = {}
        if how == "body":
            body["idempotency_key"] = "k"
        elif how == "argument":
            arguments["idempotency_key"] = "k"
        else:
            headers["idempotency_key"] = "k"
        first = await site.send("POST", "/invoke", body, **headers)
        second = await site.send("POST", "/invoke", body, **headers)
        assert first.json()["data"] == second.json()["data"]
        assert "idempotency-replayed" not in first.headers
        assert second.headers["idempotency-replayed"] == "true"
        assert works.calls == 1
        other = {"tool": "add", "arguments": {"a": 1, "b": 3}, "idempotency_key": "k"}
        assert (await site.ask("POST", "/invoke", other, 409))["code"] == "idempotency_key_reused"


async def test_a_conversation_is_gone_on_with() -> None:
    async with site_with(Works()) as site:
        body = {"tool": "add", "arguments": {"a": 1, "b": 2}, "idempotency_key": "first"}
        context = (await site.ask("POST", "/invoke", body))["context_id"]
        again = await site.ask("POST", "/invoke", {**body, "idempotency_key": "second", "context_id": context})
        assert again["context_id"] == context


async def test_a_time_out_has_its_status_and_the_key_gets_the_late_answer() -> None:
    works = Works()
    async with site_with(works) as site:
        body = {"tool": "wait", "timeout_ms": 50, "idempotency_key": "k"}
        error = await site.ask("POST", "/invoke", body, 504)
        assert error["code"] == "service_timeout"
        works.go.set()
        assert (await site.ask("POST", "/invoke", {**body, "timeout_ms": 5000}))["text"] == "waited"
        assert works.calls == 1


def events_of(text: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(line[6:]) for line in text.splitlines() if line.startswith("data: ")]


async def test_a_stream_tells_how_far_the_call_is_and_ends_with_its_result() -> None:
    works = Works()
    works.go.set()
    async with site_with(works) as site:
        response = await site.send("POST", "/invoke", {"tool": "wait"}, accept="text/event-stream")
        told = events_of(response.text)
        assert [one["type"] for one in told] == ["progress", "result"]
        assert (told[0]["progress"], told[0]["total"], told[0]["message"]) == (1, 2, "half")
        assert told[1]["result"]["text"] == "waited"
        failed = await site.send(
            "POST", "/invoke", {"tool": "fail", "arguments": {"why": "x"}}, accept="text/event-stream"
        )
        assert events_of(failed.text)[-1]["result"]["is_error"] is True


async def test_a_task_is_begun_watched_listed_and_ended() -> None:
    works = Works()
    async with site_with(works) as site:
        task = await site.ask("POST", "/tasks", {"tool": "wait"}, 202)
        assert (task["status"], task["tool"], task["agent_id"]) == ("queued", "wait", site.there.agent_id)
        other = await site.ask("POST", "/tasks", {"tool": "add", "arguments": {"a": 1, "b": 2}}, 202)
        done = await site.until(other["task_id"], "completed")
        assert done["result"]["text"] == "3"
        assert done["completed_at"] >= done["created_at"]
        listed = await site.ask("GET", "/tasks")
        assert [one["task_id"] for one in listed["tasks"]] == [task["task_id"], other["task_id"]]
        assert [one["task_id"] for one in (await site.ask("GET", "/tasks?status=running"))["tasks"]] == [
            task["task_id"]
        ]
        page = await site.ask("GET", "/tasks?limit=1")
        assert (len(page["tasks"]), page["more"]) == (1, True)
        rest = await site.ask("GET", f"/tasks?limit=1&after={page['tasks'][0]['task_id']}")
        assert ([one["task_id"] for one in rest["tasks"]], rest["more"]) == ([other["task_id"]], False)
        works.go.set()
        assert (await site.until(task["task_id"], "completed"))["result"]["text"] == "waited"
        told = events_of((await site.send("GET", f"/tasks/{task['task_id']}/events")).text)
        assert [one["type"] for one in told] == ["progress", "result"]  # after the end, too
        later = await site.send("GET", f"/tasks/{task['task_id']}/events", last_event_id="1")
        assert [one["type"] for one in events_of(later.text)] == ["result"]


async def test_what_was_said_about_a_task_can_be_read() -> None:
    works = Works()
    works.go.set()
    async with site_with(works) as site:
        task = await site.ask("POST", "/tasks", {"tool": "wait"}, 202)
        await site.until(task["task_id"], "completed")
        other = {"tool": "add", "arguments": {"a": 1, "b": 2}, "context_id": task["context_id"], "idempotency_key": "k"}
        await site.ask("POST", "/invoke", other)
        said = await site.ask("GET", f"/tasks/{task['task_id']}/messages")
        assert [message["type"] for message in said["messages"]] == ["chat_message", "agent_reply_delta", "agent_reply"]
        assert said["messages"][2]["payload"]["text"] == "waited"
        first = await site.ask("GET", f"/tasks/{task['task_id']}/messages?limit=1")
        assert first["messages"] == said["messages"][:1]
        rest = await site.ask("GET", f"/tasks/{task['task_id']}/messages?since={first['latest_offset']}")
        assert rest["messages"] == said["messages"][1:]


async def test_where_the_host_says_so_a_repeat_of_a_running_call_is_refused() -> None:
    """gateway.md D4: `in_flight: "conflict"`."""
    works = Works()
    async with site_with(works, idempotency_in_flight="conflict") as site:
        body = {"tool": "wait", "idempotency_key": "k"}
        task = await site.ask("POST", "/tasks", body, 202)
        error = await site.ask("POST", "/invoke", body, 409)
        assert (error["code"], error["details"]["retryable"]) == ("conflict", True)
        works.go.set()
        await site.until(task["task_id"], "completed")
        assert (await site.ask("POST", "/invoke", body))["text"] == "waited"
        assert works.calls == 1


async def test_a_task_is_cancelled_once_and_saying_so_again_is_fine() -> None:
    async with site_with(Works()) as site:
        task = await site.ask("POST", "/tasks", {"tool": "wait"}, 202)
        for _ in range(2):
            assert (await site.ask("POST", f"/tasks/{task['task_id']}/cancel"))["status"] == "canceled"
        ended = await site.ask("GET", f"/tasks/{task['task_id']}")
        assert ended["error"]["code"] == "cancelled"


async def test_a_task_that_takes_too_long_ends_as_such() -> None:
    async with site_with(Works()) as site:
        task = await site.ask("POST", "/tasks", {"tool": "wait", "deadline_ms": 50}, 202)
        ended = await site.until(task["task_id"], "timeout")
        assert ended["error"]["code"] == "service_timeout"


async def test_the_same_key_begins_one_task() -> None:
    works = Works()
    async with site_with(works) as site:
        body = {"tool": "wait", "idempotency_key": "k"}
        first = await site.ask("POST", "/tasks", body, 202)
        second = await site.ask("POST", "/tasks", body, 202)
        assert first["task_id"] == second["task_id"]
        works.go.set()
        await site.until(first["task_id"], "completed")
        assert works.calls == 1


async def test_a_task_survives_a_restart_of_the_gateway(tmp_path: Path) -> None:
    works = Works()
    async with site_with(works, tmp_path) as site:
        task = await site.ask("POST", "/tasks", {"tool": "add", "arguments": {"a": 1, "b": 2}}, 202)
        before, done = site.there, await site.until(task["task_id"], "completed")
    async with reopened(before, tmp_path) as there:
        transport = httpx2.ASGITransport(there.gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            again = Site(there, client)
            assert await again.ask("GET", f"/tasks/{task['task_id']}") == done
            assert [one["task_id"] for one in (await again.ask("GET", "/tasks"))["tasks"]] == [task["task_id"]]


async def test_tasks_are_their_principals_alone() -> None:
    async with site_with(Works()) as site:
        task = await site.ask("POST", "/tasks", {"tool": "wait"}, 202)
        _, other_bak = await site.there.gateway.keys.create("bak", OWNER, site.there.agent_id)
        site.key = other_bak
        for method, path in (("GET", ""), ("POST", "/cancel"), ("GET", "/events"), ("POST", "/continue")):
            body: Any = {"answers": {}} if path == "/continue" else None
            assert (await site.ask(method, f"/tasks/{task['task_id']}{path}", body, 404))["code"] == "task_not_found"
        assert (await site.ask("GET", "/tasks"))["tasks"] == []
        site.key = site.there.agent_key
        assert (await site.ask("POST", "/invoke", {"tool": "add"}, 403))["code"] == "forbidden"
        site.key = "bak_" + "0" * 64
        assert (await site.ask("POST", "/invoke", {"tool": "add"}, 401))["code"] == "unauthorized"


@pytest.mark.parametrize(
    ("method", "path", "body", "code"),
    [
        ("GET", "/tasks?status=done", None, "invalid_param"),
        ("GET", "/tasks?limit=0", None, "invalid_param"),
        ("GET", "/tasks/call_gone", None, "task_not_found"),
        ("POST", "/tasks/call_gone/cancel", None, "task_not_found"),
        ("GET", "/tasks/TASK/events", None, "invalid_param"),
        ("POST", "/tasks/TASK/continue", {"answers": {}}, "conflict"),
        ("DELETE", "/tasks/TASK", None, "method_not_allowed"),
    ],
)
async def test_requests_that_cannot_be_met_say_why(method: str, path: str, body: Any, code: str) -> None:
    async with site_with(Works()) as site:
        task = await site.ask("POST", "/tasks", {"tool": "add", "arguments": {"a": 1, "b": 2}}, 202)
        await site.until(task["task_id"], "completed")
        response = await site.send(method, path.replace("TASK", task["task_id"]), body, last_event_id="x")
        assert response.json()["error"]["code"] == code, response.text
