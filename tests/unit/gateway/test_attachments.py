"""gateway.md 19-21, D11, D14: files that come along with a call, as its agent gets them."""

import time
from datetime import datetime
from pathlib import Path

import anyio
import pytest

from tests.unit.gateway.polled_site import open_polled_site
from toolwire.core.jsontypes import JsonObject

PDF = "application/pdf"


def no_reply(message: JsonObject) -> JsonObject:
    return {"text": "read"}


async def test_a_file_reaches_the_agent_as_a_signed_url_and_the_tool_never_sees_our_arguments(tmp_path: Path):
    """gateway.md 20, 21, D11: uploaded with oag_, called with bak_; `additionalProperties: false` does not mind."""
    async with open_polled_site(tmp_path) as site:
        file_id = await site.put(b"%PDF-1.7", "../q3.pdf", PDF)
        arguments = {"attachments": [{"file_id": file_id}], "idempotency_key": "user_7:q3_summary"}
        answer = await site.answered("summarize_pdf", arguments, no_reply)
        assert answer["result"]["content"] == [{"type": "text", "text": "read"}]

        payload = site.seen[0]["payload"]
        assert payload["tool"] == {"name": "summarize_pdf", "arguments": {}}
        assert payload["message"] == "summarize_pdf {}"
        [attached] = payload["attachments"]
        assert list(attached) == ["file_id", "filename", "content_type", "size", "download_url", "expires_at"]
        assert (attached["file_id"], attached["filename"], attached["size"]) == (file_id, "q3.pdf", 8)
        assert (await site.client.get(attached["download_url"])).content == b"%PDF-1.7"
        again = await site.ask("GET", f"/files/{file_id}", key="agk")
        assert (await site.client.get(again["download_url"])).content == b"%PDF-1.7", "it can be resolved again"


async def test_name_and_type_given_with_the_call_override_the_stored_ones(tmp_path: Path):
    """gateway.md 19."""
    async with open_polled_site(tmp_path) as site:
        file_id = await site.put(b"a,b", "data.txt", "text/plain")
        given = {"file_id": file_id, "filename": "..\\up/report.csv", "content_type": "text/csv"}
        await site.answered("summarize_pdf", {"attachments": [given]}, no_reply)
        [attached] = site.seen[0]["payload"]["attachments"]
        assert (attached["filename"], attached["content_type"]) == ("report.csv", "text/csv")


async def test_unknown_foreign_and_never_uploaded_files_give_one_error_and_nothing_is_published(tmp_path: Path):
    """D14: one error, before anything is published."""
    async with open_polled_site(tmp_path) as site:
        mine = await site.put(b"x", "a.pdf", PDF)
        foreign = await site.put(b"x", "a.pdf", PDF, "other")
        announced = await site.ask("POST", "/files/presign-upload", {"filename": "a.pdf", "content_type": PDF})
        errors: list[JsonObject] = []
        for file_id in (foreign, announced["file_id"], "file_0", "../../x", "\x00"):
            attachments = [{"file_id": mine}, {"file_id": file_id}]
            error = (await site.call("summarize_pdf", {"attachments": attachments, "idempotency_key": "k1"}))["error"]
            assert (error["code"], error["data"].pop("param")) == (-32602, "attachments[1].file_id")
            error["data"].pop("request_id", None)
            errors.append(error)
        assert all(error == errors[0] for error in errors)
        assert errors[0]["data"]["code"] == "invalid_param"
        assert not await site.read(block_ms=0)

        answer = await site.answered("summarize_pdf", {"idempotency_key": "k1"}, no_reply)
        assert "result" in answer, "nothing that is refused before the claim takes the key"


async def test_an_expired_file_gives_that_error_too(tmp_path: Path):
    """D14."""
    async with open_polled_site(tmp_path, file_ttl_s=1e-6) as site:
        gone = await site.put(b"x", "a.pdf", PDF)
        expired = (await site.call("summarize_pdf", {"attachments": [{"file_id": gone}]}))["error"]
        unknown = (await site.call("summarize_pdf", {"attachments": [{"file_id": "file_0"}]}))["error"]
        for error in (expired, unknown):
            error["data"].pop("request_id", None)
        assert expired == unknown


async def test_more_attachments_than_allowed_are_refused(tmp_path: Path):
    """gateway.md 1J: attachments per call."""
    async with open_polled_site(tmp_path, attachments_max=2) as site:
        file_id = await site.put(b"x", "a.pdf", PDF)
        error = (await site.call("summarize_pdf", {"attachments": [{"file_id": file_id}] * 3}))["error"]
        assert (error["code"], error["data"]["param"]) == (-32602, "attachments")
        await site.answered("summarize_pdf", {"attachments": [{"file_id": file_id}] * 2}, no_reply)
        assert len(site.seen[0]["payload"]["attachments"]) == 2


async def test_a_repeat_needs_no_file_any_more_and_other_files_are_another_call(tmp_path: Path):
    """gateway.md §6, order; D2, D3: a replay comes before the attachments; the fingerprint has their ids."""
    async with open_polled_site(tmp_path) as site:
        file_id, other = await site.put(b"x", "a.pdf", PDF), await site.put(b"y", "b.pdf", PDF)
        arguments = {"attachments": [{"file_id": file_id}], "idempotency_key": "k1"}
        first = await site.answered("summarize_pdf", arguments, no_reply)
        await site.client.delete(f"/api/v1/files/{file_id}", headers={"authorization": f"Bearer {site.keys['oag']}"})

        repeat = await site.call("summarize_pdf", arguments, id=43)
        assert repeat["result"]["content"] == first["result"]["content"]
        assert repeat["result"]["_meta"]["toolwire/idempotency"]["replayed"] is True
        reused = await site.call("summarize_pdf", {"attachments": [{"file_id": other}], "idempotency_key": "k1"})
        assert reused["error"]["data"]["code"] == "idempotency_key_reused"
        assert len(site.seen) == 1
        assert not await site.read(block_ms=0)


@pytest.mark.parametrize("attachments", [[], None])
async def test_no_attachments_are_as_good_as_none(tmp_path: Path, attachments: list[JsonObject] | None):
    """gateway.md 19: an empty list brings nothing along."""
    async with open_polled_site(tmp_path) as site:
        arguments: JsonObject = {} if attachments is None else {"attachments": attachments}
        await site.answered("summarize_pdf", arguments, no_reply)
        assert "attachments" not in site.seen[0]["payload"]


async def test_a_strict_gateway_lets_a_key_send_along_what_it_has_uploaded(tmp_path: Path):
    """D14: strict mode, per credential."""
    async with open_polled_site(tmp_path, strict_files=True) as site:
        owners, own = await site.put(b"x", "a.pdf", PDF), await site.put(b"y", "b.pdf", PDF, "bak")
        error = (await site.call("summarize_pdf", {"attachments": [{"file_id": owners}]}))["error"]
        assert error["data"]["param"] == "attachments[0].file_id"
        assert "error" in await site.call("summarize_pdf", {"attachments": [{"file_id": own}]}, key="bak2")
        for key, file_id in (("bak", own), ("oag", owners), ("oag", own)):
            arguments = {"attachments": [{"file_id": file_id}]}
            assert "result" in await site.answered("summarize_pdf", arguments, no_reply, key=key)


async def test_a_message_on_a_channel_brings_files_along_in_the_same_shape(tmp_path: Path):
    """gateway.md 25: one AttachmentRef everywhere; the same message again is the same message."""
    async with open_polled_site(tmp_path) as site:
        file_id = await site.put(b"x", "a.pdf", PDF)
        channel = await site.ask("POST", "/channels", {"participants": ["demo"]}, status=201)
        path = f"/channels/{channel['channel_id']}/messages"
        payload = {"message": "read this", "attachments": [{"file_id": file_id}]}
        body = {"type": "chat_message", "payload": payload, "idempotency_key": "k1"}
        for unknown in ([{"file_id": "file_0"}], "a.pdf"):
            refused = {**body, "payload": {**payload, "attachments": unknown}}
            assert (await site.ask("POST", path, refused, status=400))["code"] == "invalid_param"
        assert not await site.read(block_ms=0)

        first = await site.ask("POST", path, body)
        again = await site.ask("POST", path, body)
        assert (again["idempotent"], again["message_id"]) == (True, first["message_id"])
        await site.answer(no_reply)
        [attached] = site.seen[0]["payload"]["attachments"]
        assert (await site.client.get(attached["download_url"])).content == b"x"
        assert (await site.ask("GET", f"/files/{file_id}", key="agk"))["size"] == 1


async def test_a_call_over_rest_brings_files_along_too(tmp_path: Path):
    """gateway.md 25: the same shape on invoke."""
    async with open_polled_site(tmp_path) as site:
        file_id = await site.put(b"x", "a.pdf", PDF)
        path = f"/agents/{site.agent_id}/invoke"
        unknown = {"tool": "summarize_pdf", "attachments": [{"file_id": "file_0"}]}
        error = await site.ask("POST", path, unknown, status=400)
        assert (error["code"], error["details"]["param"]) == ("invalid_param", "attachments[0].file_id")
        told: list[JsonObject] = []

        async def invoke() -> None:
            told.append(
                await site.ask("POST", path, {"tool": "summarize_pdf", "attachments": [{"file_id": file_id}]}, "bak")
            )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(site.answer, no_reply)
            tasks.start_soon(invoke)
        assert told[0]["text"] == "read"
        assert site.seen[0]["payload"]["attachments"][0]["file_id"] == file_id


async def test_an_agents_urls_outlive_the_call(tmp_path: Path):
    """D15: max(1 h, call deadline + 10 min), 24 h for tasks."""
    async with open_polled_site(tmp_path, download_url_ttl_s=60.0) as site:
        attachments = [{"file_id": await site.put(b"x", "a.pdf", PDF)}]
        begun = time.time()
        await site.answered("summarize_pdf", {"attachments": attachments}, no_reply)
        await site.answered("summarize_pdf", {"attachments": attachments, "idempotency_key": "k1"}, no_reply)
        body = {"tool": "summarize_pdf", "attachments": attachments}
        await site.ask("POST", f"/agents/{site.agent_id}/tasks", body, "bak", status=202)
        await site.answer(no_reply)

        plain, keyed, task = (
            datetime.fromisoformat(message["payload"]["attachments"][0]["expires_at"]).timestamp() - begun
            for message in site.seen
        )
        assert 655 <= plain < 700, "the call may take 60 s"
        assert 1195 <= keyed < 1240, "it may go on for 600 s"
        assert task >= 24 * 3600 - 5
