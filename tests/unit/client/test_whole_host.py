"""The client and a whole host understand each other: agents, keys, webhooks, files, boards (gateway.md §6)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from tests.unit.canvas.site import open_site
from toolwire.client import ApiError, AsyncClient, Published, Registration, Skill


@asynccontextmanager
async def client_on(folder: Path) -> AsyncGenerator[AsyncClient]:
    async with open_site(folder) as site:
        transport = httpx2.ASGITransport(site.host.app)
        async with AsyncClient("http://localhost", site.owner_key, transport=transport, tries=1) as client:
            yield client


@asynccontextmanager
async def owner_and_agent_on(folder: Path) -> AsyncGenerator[tuple[AsyncClient, AsyncClient]]:
    """A client of the owner, and one of its agent "bot"."""
    async with open_site(folder) as site:
        transport = httpx2.ASGITransport(site.host.app)
        async with AsyncClient("http://localhost", site.owner_key, transport=transport, tries=1) as client:
            key = (await client.agents.create("bot")).agent_key
            async with AsyncClient("http://localhost", key, transport=transport, tries=1) as agent:
                yield client, agent


async def test_agents_and_their_keys_come_and_go(tmp_path: Path):
    async with client_on(tmp_path) as client:
        made = await client.agents.create("bot", "does things")
        assert made.agent_key.startswith("agk_")
        assert [agent.name for agent in await client.agents.list()] == ["bot"]
        changed = await client.agents.change("bot", visibility="public", description=None)
        assert (changed.visibility, changed.description) == ("public", "")
        changed = await client.agents.change("bot", advertise_gateway_args=True, idempotency_ttl_s=60)
        assert (changed.advertise_gateway_args, changed.idempotency_ttl_s, changed.visibility) == (True, 60, "public")
        key = await client.keys.create("bak", "bot", "for curl")
        assert {one.kind for one in await client.keys.list("bot")} == {"agk", "bak"}
        await client.keys.revoke(key.key_id)
        assert [one.revoked_at is None for one in await client.keys.list("bot") if one.kind == "bak"] == [False]
        await client.agents.remove("bot")
        with pytest.raises(ApiError) as raised:
            await client.agents.get("bot")
        assert (raised.value.code, raised.value.status) == ("agent_not_found", 404)
        owner = await client.keys.create_owner("second")
        assert owner.owner_id in [one.owner_id for one in await client.keys.owners()]


async def test_webhooks_are_registered_changed_and_removed(tmp_path: Path):
    async with client_on(tmp_path) as client:
        await client.agents.create("bot")
        hook = await client.webhooks.register(
            "bot", "https://93.184.216.34/hook", secret="s" * 20, events=["completed"]
        )
        assert (hook.has_secret, hook.events, hook.task_id) == (True, ["completed"], None)
        assert await client.webhooks.list("bot") == [hook]
        assert await client.webhooks.get("bot", hook.webhook_id) == hook
        assert await client.webhooks.deliveries("bot", hook.webhook_id, limit=5) == []
        assert (await client.webhooks.replay("bot", hook.webhook_id, since="2026-01-01T00:00:00Z")).replayed == 0
        await client.webhooks.remove("bot", hook.webhook_id)
        assert await client.webhooks.list("bot") == []


async def test_files_are_kept_read_and_forgotten(tmp_path: Path):
    async with client_on(tmp_path) as client:
        kept = await client.files.upload("a.txt", "text/plain", b"hello")
        assert (kept.filename, kept.size) == ("a.txt", 5)
        assert (await client.files.get(kept.file_id)).content_type == "text/plain"
        assert await client.files.download(kept.file_id) == b"hello"
        await client.files.remove(kept.file_id)
        with pytest.raises(ApiError) as raised:
            await client.files.download(kept.file_id)
        assert raised.value.code == "file_not_found"


async def test_a_board_is_drawn_changed_undone_and_copied(tmp_path: Path):
    async with client_on(tmp_path) as client:
        board = await client.workspaces.create("desk")
        note = await client.cards.add(board.id, "note", title="plan", place=(10, 20), content={"text": "x"})
        agent = await client.cards.add(board.id, "agent", title="bot")
        assert agent.agent_key is not None
        arrow = await client.cards.draw(board.id, note.id, agent.id, tools=["read"], recorded=False)
        assert (arrow.tools, arrow.recorded) == (["read"], False)
        moved = await client.cards.change(board.id, note.id, title="new", place=(1, 2), size=(30, 40))
        assert (moved.title, moved.x, moved.height, moved.content) == ("new", 1, 40, {"text": "x"})
        with pytest.raises(ApiError) as raised:
            await client.cards.change(board.id, note.id, title="stale", version=1)
        assert raised.value.code == "conflict"
        assert (await client.cards.arrow_calls(board.id, arrow.id, limit=1)).calls == []
        assert (await client.cards.log(board.id, note.id)).lines == []
        undone = await client.workspaces.undo(board.id)
        assert next(card.title for card in undone.cards if card.id == note.id) == "plan"
        assert (await client.workspaces.redo(board.id)).can_redo is False
        copied = await client.workspaces.export(board.id)
        assert len((await client.workspaces.create("copy", copied.board)).cards) == 2
        assert (await client.workspaces.close(board.id)).open is False
        assert (await client.workspaces.open(board.id)).open is True
        await client.cards.remove_arrow(board.id, arrow.id)
        await client.cards.remove(board.id, note.id)
        assert (await client.workspaces.rename(board.id, "tidy")).name == "tidy"
        await client.workspaces.remove(board.id)
        assert [one.name for one in (await client.workspaces.list()).workspaces] == ["copy"]
        assert (await client.packages.list()).packages == []


async def test_a_channel_carries_messages_to_an_agent_that_fetches_them(tmp_path: Path):
    async with owner_and_agent_on(tmp_path) as (client, agent):
        synced = await agent.agents.sync(Registration(name="bot", skills=(Skill("add"),)))
        assert synced.created == 1
        channel = await client.channels.create(["bot"], metadata={"why": "test"}, deadline_ms=60_000)
        assert (channel.state, channel.metadata) == ("open", {"why": "test"})

        async def say() -> Published:
            return await client.channels.publish(
                channel.channel_id, "chat_message", {"message": "hi"}, idempotency_key="once"
            )

        sent = await say()
        assert (await say()).idempotent
        (delivery,) = await agent.deliveries.read("bot", limit=5, block_ms=0, journal="j")
        assert delivery.message.payload["message"] == "hi"
        ids = [delivery.delivery_id]
        assert [one.delivery_id for one in await agent.deliveries.renew("bot", ids, journal="j")] == ids
        assert (await agent.deliveries.nack("bot", ids, journal="j")).delivery_ids == ids
        (delivery,) = await agent.deliveries.read("bot", journal="j")
        ids = [delivery.delivery_id]
        reply = await agent.channels.publish(
            channel.channel_id, "agent_reply", {"text": "ho"}, in_reply_to=sent.message_id
        )
        assert (await agent.deliveries.ack("bot", ids, journal="j")).delivery_ids == ids
        heard = await client.channels.wait(channel.channel_id, sent.message_id, timeout_ms=1000, since=0)
        assert heard.message_id == reply.message_id
        history = await client.channels.messages(channel.channel_id, since=0, limit=9, types=["agent_reply"])
        assert [one.payload["text"] for one in history.messages] == ["ho"]
        await client.channels.close(channel.channel_id)
        assert (await client.channels.get(channel.channel_id)).state == "closed"


async def test_owners_browsers_grants_audit_and_health_are_read(tmp_path: Path):
    async with client_on(tmp_path) as client:
        assert (await client.host.health()).status == "ok"
        assert (await client.host.readiness()).store == "ok"
        assert (await client.browsers.new_link()).url.startswith("http://localhost/")
        assert (await client.browsers.who()).session_id is None
        assert await client.browsers.list() == []
        await client.browsers.sign_out()
        assert await client.grants.list() == []
        assert await client.remotes.list() == []
        assert await client.consents.list() == []
        assert await client.audit.list() == []
        assert (await client.audit.anchor()).seq == 0
        with pytest.raises(ApiError) as raised:
            await client.consents.answer("consent_x", accept=True)
        assert raised.value.code == "consent_not_found"


async def test_a_terminal_is_started_typed_into_and_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    async with client_on(tmp_path) as client:
        board = await client.workspaces.create("desk")
        card = await client.cards.add(board.id, "terminal", title="shell", place=(0, 0, 400, 300))
        ended = await client.terminals.run(card.id, "echo one", timeout_ms=20_000)
        assert (ended.exit_code, ended.output.strip(), ended.timed_out) == (0, "one", False)
        await client.terminals.resize(card.id, 90, 20)
        await client.terminals.write(card.id, "\r")
        assert "one" in (await client.terminals.screen(card.id, lines=50)).screen
        await client.terminals.kill(card.id)
        assert (await client.confirmations.list(board.id)).confirmations == []


async def test_many_changes_are_one_edit_and_an_arrow_is_changed(tmp_path: Path):
    async with client_on(tmp_path) as client:
        board = await client.workspaces.create("desk")
        edited = await client.workspaces.edit(
            board.id,
            [
                {"change": "add_card", "kind": "note", "title": "a", "ref": "n"},
                {"change": "add_card", "kind": "note", "title": "b", "ref": "m"},
                {"change": "add_arrow", "source": "n", "target": "m", "ref": "r"},
            ],
            version=board.version,
        )
        arrow = await client.cards.change_arrow(board.id, edited.ids["r"], tools=["read"], recorded=False)
        assert (arrow.tools, arrow.recorded) == (["read"], False)
        with pytest.raises(ApiError) as raised:
            await client.workspaces.undo(board.id, version=board.version)
        assert raised.value.code == "conflict"
        assert (await client.workspaces.undo(board.id)).can_redo
