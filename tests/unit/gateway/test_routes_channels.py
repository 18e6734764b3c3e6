"""The message service and the deliveries over HTTP (gateway.md 1H, 15, §3, §6)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import pytest

from tests.unit.gateway.service import Calling, Service, open_service
from toolwire.core.result import Text
from toolwire.gateway.keys import KeyKind
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_channels import ChannelRoutes
from toolwire.gateway.routes_deliveries import DeliveryRoutes
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.rest import RestApp
from toolwire.wire.link import Registration, Skill, message_id_of


@dataclass
class Site:
    service: Service
    client: httpx2.AsyncClient
    agent_id: str
    agent_key: str
    owner_key: str
    app: RestApp

    async def key(self, kind: KeyKind, owner: str = "own_1", agent_id: str | None = None) -> str:
        return (await self.service.keys.create(kind, owner, agent_id))[1]

    async def ask(self, method: str, path: str, key: str, body: Any = None) -> tuple[int, Any]:
        """The status, and the data of a good answer or the code of an error."""
        headers = {"authorization": f"Bearer {key}"}
        with anyio.fail_after(5):
            response = await self.client.request(method, path, json=body, headers=headers)
        if response.status_code == 204:
            return 204, None
        answer = response.json()
        return response.status_code, answer["data"] if answer["success"] else answer["error"]["code"]

    async def good(self, method: str, path: str, key: str, body: Any = None) -> Any:
        status, data = await self.ask(method, path, key, body)
        assert status in (200, 201), data
        return data


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site]:
    async with open_service() as service:
        agent_id, agent_key = await service.agent("bash")
        await service.agents.sync(agent_id, Registration("bash", skills=(Skill("do"),)))
        owner_key = (await service.keys.create("oag", "own_1"))[1]
        reader = Reader(service.auth, service.agents)
        routes = [
            *ChannelRoutes(reader, service.agents, service.channels, service.clock).routes(),
            *DeliveryRoutes(reader, service.deliveries).routes(),
        ]
        app = RestApp(routes, Guard(), lambda: "Bearer", "/channels")
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
            yield Site(service, client, agent_id, agent_key, owner_key, app)


async def test_an_agent_of_any_language_answers_a_call_over_four_routes():
    """gateway.md §3, §6: read, publish a delta and the reply, acknowledge; no SDK in sight."""
    async with open_site() as site:
        base = f"/api/v1/agents/{site.agent_id}/deliveries"
        assert await site.good("POST", f"{base}/read", site.agent_key, {}) == []
        calling = site.service.call(site.agent_id, "do", {"n": 1})
        [fetched] = await site.good("POST", f"{base}/read", site.agent_key, {"max": 5, "block_ms": 5000})
        message = fetched["message"]
        assert fetched["redelivered"] is False
        assert fetched["lease_until"] == "2027-01-15T08:00:30.000Z"
        assert message["payload"]["tool"] == {"name": "do", "arguments": {"n": 1}}
        assert message["metadata"] == {
            "from": "gateway",
            "channel_id": message["channel_id"],
            "timestamp": message["created_at"],
        }
        [renewed] = await site.good("POST", f"{base}/renew", site.agent_key, {"delivery_ids": [fetched["delivery_id"]]})
        assert renewed == {"delivery_id": fetched["delivery_id"], "lease_until": "2027-01-15T08:00:30.000Z"}
        path = f"/channels/{message['channel_id']}/messages"
        reply = {"in_reply_to": message["message_id"], "sender_id": site.agent_id}
        await site.good("POST", path, site.agent_key, {**reply, "type": "agent_reply_delta", "payload": {"text": "do"}})
        published = await site.good(
            "POST", path, site.agent_key, {**reply, "type": "agent_reply", "payload": {"text": "done"}}
        )
        assert published == {
            "status": "published",
            "message_id": published["message_id"],
            "offset": 3,
            "channel_id": message["channel_id"],
            "recipients": [],
            "idempotent": False,
            "created_at": "2027-01-15T08:00:00.000Z",
        }
        named = {"delivery_ids": [fetched["delivery_id"]]}
        assert await site.good("POST", f"{base}/ack", site.agent_key, named) == named
        assert (await calling.end()).content == (Text("done"),)
        assert calling.steps() == [(0, "do")]


async def test_an_owner_talks_to_an_agent_over_a_channel_of_its_own():
    """gateway.md 15, 1H: create, publish, wait, read, close."""
    async with open_site() as site, site.service.link(site.agent_key, "do") as agent:
        made = await site.good(
            "POST",
            "/api/v1/channels",
            site.owner_key,
            {"participants": [site.agent_id, "bash"], "metadata": {"about": "x"}, "deadline_ms": 60_000},
        )
        assert made == {
            "channel_id": made["channel_id"],
            "state": "open",
            "participants": [site.agent_id],
            "metadata": {"about": "x"},
            "single_shot": False,
            "created_at": "2027-01-15T08:00:00.000Z",
            "deadline": "2027-01-15T08:01:00.000Z",
        }
        one = f"/api/v1/channels/{made['channel_id']}"
        said = await site.good(
            "POST", f"{one}/messages", site.owner_key, {"type": "chat_message", "payload": {"message": "hi"}}
        )
        assert said["recipients"] == [site.agent_id]
        agent.publish(await agent.delivered(), text="hello")
        row = await site.good(
            "POST", f"{one}/wait", site.owner_key, {"in_reply_to": said["message_id"], "timeout_ms": 5000}
        )
        assert (row["type"], row["payload"], row["publisher_id"]) == (
            "agent_reply",
            {"text": "hello"},
            site.agent_id,
        )
        history = await site.good("GET", f"{one}/messages?since=1&limit=10&type=agent_reply", site.owner_key)
        assert [message["message_id"] for message in history["messages"]] == [row["message_id"]]
        assert history["latest_offset"] == row["offset"]
        assert await site.ask("DELETE", one, site.owner_key) == (204, None)
        shown = await site.good("GET", one, site.agent_key)
        assert (shown["state"], shown["closed_at"]) == ("closed", "2027-01-15T08:00:00.000Z")


async def test_errors_have_the_statuses_of_the_table():
    """gateway.md 1H and §6: 400, 403, 404, 408, 409, 410, each in the envelope."""
    async with open_site() as site:
        other_id, other_key = await site.service.agent("other")
        stranger = await site.key("oag", "own_2")
        caller = await site.key("bak", agent_id=site.agent_id)
        created = {"participants": [site.agent_id]}
        channel_id = (await site.good("POST", "/channels", site.owner_key, created))["channel_id"]
        one = f"/channels/{channel_id}"
        note: dict[str, Any] = {"type": "note", "payload": {}}
        wait = {"in_reply_to": "m_1", "timeout_ms": 0}
        read = f"/api/v1/agents/{site.agent_id}/deliveries/read"
        await site.good("POST", f"{one}/messages", site.agent_key, {**note, "idempotency_key": "k"})
        asked: list[tuple[str, str, str, Any, tuple[int, str]]] = [
            ("POST", "/channels", site.agent_key, created, (403, "forbidden")),
            ("POST", "/channels", caller, created, (403, "forbidden")),
            ("POST", "/channels", stranger, created, (404, "agent_not_found")),
            ("POST", "/channels", site.owner_key, {"participants": []}, (400, "invalid_param")),
            ("POST", "/channels", site.owner_key, {**created, "deadline_ms": 0}, (400, "invalid_param")),
            ("POST", "/channels", site.owner_key, {**created, "color": 1}, (400, "invalid_param")),
            ("GET", one, caller, None, (403, "forbidden")),
            ("GET", one, other_key, None, (403, "forbidden")),
            ("GET", one, stranger, None, (404, "channel_not_found")),
            ("GET", "/channels/ch_none", site.owner_key, None, (404, "channel_not_found")),
            ("GET", f"{one}/messages?since=x", site.owner_key, None, (400, "invalid_param")),
            ("GET", f"{one}/messages?limit=501", site.owner_key, None, (400, "invalid_param")),
            ("POST", f"{one}/messages", other_key, note, (403, "forbidden")),
            ("POST", f"{one}/messages", site.agent_key, {**note, "sender_id": other_id}, (403, "forbidden")),
            ("POST", f"{one}/messages", site.owner_key, {**note, "type": "agent_reply"}, (403, "forbidden")),
            ("POST", f"{one}/messages", site.agent_key, {"type": "note"}, (400, "invalid_param")),
            ("POST", f"{one}/messages", site.agent_key, {**note, "payload": 5}, (400, "invalid_param")),
            (
                "POST",
                f"{one}/messages",
                site.agent_key,
                {**note, "payload": {"a": 1}, "idempotency_key": "k"},
                (409, "idempotency_key_reused"),
            ),
            ("POST", f"{one}/wait", site.owner_key, wait, (408, "wait_timeout")),
            ("POST", f"{one}/wait", site.owner_key, {}, (400, "invalid_param")),
            ("POST", f"{one}/wait", other_key, wait, (403, "forbidden")),
            ("DELETE", one, site.agent_key, None, (403, "forbidden")),
            ("POST", read, site.owner_key, {}, (403, "forbidden")),
            ("POST", read, other_key, {}, (403, "forbidden")),
            ("POST", read, site.agent_key, {"max": 0}, (400, "invalid_param")),
            ("POST", read, site.agent_key, {"block_ms": 30_001}, (400, "invalid_param")),
            ("PUT", one, site.owner_key, None, (405, "method_not_allowed")),
        ]
        for method, path, key, body, expected in asked:
            assert (method, path, body, await site.ask(method, path, key, body)) == (method, path, body, expected)
        await site.ask("DELETE", one, site.owner_key)
        assert await site.ask("POST", f"{one}/messages", site.agent_key, note) == (410, "channel_closed")
        assert await site.ask("POST", f"{one}/wait", site.agent_key, wait) == (410, "channel_closed")


async def test_a_repeated_message_is_acknowledged_as_such():
    """gateway.md 1H: idempotent is true on a duplicate."""
    async with open_site() as site:
        created = {"participants": [site.agent_id]}
        channel_id = (await site.good("POST", "/channels", site.owner_key, created))["channel_id"]
        body: dict[str, Any] = {"type": "note", "payload": {}, "message_id": "m_1"}
        answers = [await site.good("POST", f"/channels/{channel_id}/messages", site.agent_key, body) for _ in range(2)]
        assert [answer.pop("idempotent") for answer in answers] == [False, True]
        assert answers[0] == answers[1]


async def test_an_agents_large_answer_is_taken_and_an_owners_large_message_is_not():
    """gateway.md §6: reply_limit_bytes for agents, request_limit_bytes for everybody else."""
    async with open_site() as site:
        created = {"participants": [site.agent_id]}
        channel_id = (await site.good("POST", "/channels", site.owner_key, created))["channel_id"]
        body = {"type": "note", "payload": {"text": "x" * 2 * 1024 * 1024}}
        path = f"/channels/{channel_id}/messages"
        assert (await site.ask("POST", path, site.agent_key, body))[0] == 200
        assert await site.ask("POST", path, site.owner_key, body) == (413, "payload_too_large")


async def test_deliveries_are_given_back_over_http():
    """gateway.md §6: nack delivers again at once, to another journal of the same agent too."""
    async with open_site() as site:
        base = f"/api/v1/agents/{site.agent_id}/deliveries"
        await site.good("POST", f"{base}/read", site.agent_key, {"journal": "a"})
        site.service.call(site.agent_id, "do")
        [first] = await site.good("POST", f"{base}/read", site.agent_key, {"journal": "a", "block_ms": 5000})
        named = {"delivery_ids": [first["delivery_id"]]}
        assert await site.good("POST", f"{base}/nack", site.agent_key, {**named, "journal": "b"}) == {
            "delivery_ids": []
        }
        assert await site.good("POST", f"{base}/nack", site.agent_key, {**named, "journal": "a"}) == named
        [again] = await site.good("POST", f"{base}/read", site.agent_key, {"journal": "b"})
        assert (again["message"], again["redelivered"]) == (first["message"], True)


@pytest.mark.parametrize("what", ["read", "wait"])
async def test_a_client_that_goes_away_while_it_waits_takes_nothing(what: str):
    """A read whose client is gone must not take a message that nobody would answer."""
    async with open_site() as site:
        created = {"participants": [site.agent_id]}
        channel_id = (await site.good("POST", "/channels", site.owner_key, created))["channel_id"]
        read = f"/api/v1/agents/{site.agent_id}/deliveries/read"
        wait = f"/api/v1/channels/{channel_id}/wait"
        path, body = {
            "read": (read, b'{"block_ms": 20000}'),
            "wait": (wait, b'{"in_reply_to": "m_1", "timeout_ms": 20000}'),
        }[what]
        headers = [
            (b"host", b"localhost"),
            (b"content-type", b"application/json"),
            (b"authorization", b"Bearer " + site.agent_key.encode()),
        ]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
        events: list[dict[str, Any]] = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            if len(events) == 1:
                await anyio.wait_all_tasks_blocked()
            return events.pop(0)

        async def send(event: Any) -> None:
            sent.append(event)

        with anyio.fail_after(5):
            await site.app(scope, receive, send)
        assert sent == []
        site.service.call(site.agent_id, "do")
        await anyio.wait_all_tasks_blocked()
        if what == "read":
            assert len(await site.good("POST", read, site.agent_key, {"journal": "another"})) == 1


async def test_who_waits_is_not_answered_any_more_when_the_key_is_revoked_meanwhile():
    """The message stays for whoever may have it."""
    async with open_site() as site:
        read = f"/api/v1/agents/{site.agent_id}/deliveries/read"
        record, revoked = await site.service.keys.create("agk", "own_1", site.agent_id)
        statuses: list[int] = []
        calls: list[Calling] = []

        async def wait(path: str, body: Any) -> None:
            statuses.append((await site.ask("POST", path, revoked, body))[0])

        channel = (await site.good("POST", "/api/v1/channels", site.owner_key, {"participants": [site.agent_id]}))[
            "channel_id"
        ]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait, read, {"block_ms": 4000})
            tasks.start_soon(wait, f"/api/v1/channels/{channel}/wait", {"in_reply_to": "msg_1", "timeout_ms": 4000})
            await anyio.wait_all_tasks_blocked()
            await site.service.keys.revoke("own_1", record.key_id)
            said: dict[str, Any] = {"type": "note", "payload": {}, "in_reply_to": "msg_1"}
            await site.good("POST", f"/api/v1/channels/{channel}/messages", site.owner_key, said)
            calls.append(site.service.call(site.agent_id, "do"))
        assert statuses == [401, 401]
        [fetched] = await site.good("POST", read, site.agent_key, {})
        assert fetched["message"]["message_id"] == message_id_of(calls[0].call.id)
        calls[0].leave()
