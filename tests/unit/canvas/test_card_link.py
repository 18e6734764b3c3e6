"""cards.md §3, §7, 57, 60, decisions 24-26: who comes in on the link, what ends it, and what a card may send."""

from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from tests.unit.canvas.cards import WireCard, connected, desk_with, install, linked
from tests.unit.canvas.site import open_site
from tests.unit.canvas.test_card_calls import Calling
from tests.unit.card.manifests import GOOD, manifest, with_tool
from toolwire.canvas import card_connections, card_link, card_pace
from toolwire.canvas.card_pace import Pace
from toolwire.wire.card_messages import ToolCancelData

TOOL = "test_radar_run_tests"


def ready(**changes: Any) -> dict[str, Any]:
    return {"protocol": 1, "sdk": "test", **changes}


async def test_a_card_learns_its_context_first_and_its_copies_as_they_change(tmp_path: Path) -> None:
    """cards.md §3: host.ready."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with linked(site, desk.package) as card:
            context = await card.ask("host.ready", **ready())
            assert context == {
                "protocol": 1,
                "package": "test-radar",
                "version": "1.2.0",
                "cards": [{"id": desk.card, "name": "Test radar"}],
                "permissions": ["agents.read", "terminals.write"],
            }
            second = (await site.card(desk.id, "card", package=desk.package, title="Second"))["id"]
            changed = await card.event("cards.changed")
            assert [one["id"] for one in changed["cards"]] == [desk.card, second]
            await site.ask("DELETE", f"{desk.path}/cards/{second}", status=204)
            assert [one["id"] for one in (await card.event("cards.changed"))["cards"]] == [desk.card]


@pytest.mark.parametrize(("key", "code"), [("oag_foreign", 1008), ("crd_used", 1008), ("", 1008)])
async def test_a_foreign_key_opens_nothing(tmp_path: Path, key: str, code: int) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await install(site, tmp_path / "radar")
        async with linked(site, package, key) as card:
            closed = await card.wait_closed()
            assert (closed["code"], closed["reason"]) == (code, "unauthorized")


async def test_an_agents_key_opens_its_toolbox_alone(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        agent = await site.card(desk.id, "agent", title="other")
        async with linked(site, desk.package, agent["agent_key"]) as card:
            assert (await card.wait_closed())["reason"] == "forbidden"


async def test_a_package_that_waits_for_consent_or_is_another_owners_is_not_spoken_for(tmp_path: Path) -> None:
    """cards.md 27, decision 18."""
    async with open_site(tmp_path / "data") as site:
        folder = tmp_path / "radar"
        (folder / "dist").mkdir(parents=True)
        (folder / "dist" / "index.html").write_text("<p>card</p>")
        (folder / "toolwire-card.json").write_bytes(msgspec.json.encode(GOOD))
        offer = await site.ask("POST", "/card-packages", {"source": str(folder)}, status=201)
        async with linked(site, offer["package"]) as card:
            assert (await card.wait_closed())["reason"] == "consent_required"
        async with linked(site, "pkg_of_somebody_else") as card:
            assert (await card.wait_closed())["reason"] == "package_not_found"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (ready(protocol=2), "invalid_param"),
        (ready(protocol=0), "invalid_param"),
        (ready(instance="card_of_nobody"), "invalid_param"),
    ],
)
async def test_a_card_of_another_protocol_or_without_a_place_is_told_and_let_go(
    tmp_path: Path, said: dict[str, Any], code: str
) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await install(site, tmp_path / "radar")
        async with linked(site, package) as card:
            assert (await card.answer("host.ready", **said))["error"]["code"] == code
            assert (await card.wait_closed())["code"] == 1008


@pytest.mark.parametrize(
    "said",
    [
        "nonsense",
        '"text"',
        "[]",
        "{}",
        '{"id": "one", "method": "host.ready", "params": {}}',
        '{"id": 1, "method": "no.such.method"}',
        '{"id": 1, "method": "host.ready", "params": {"protocol": "one", "sdk": ""}}',
        '{"id": 1, "method": "host.ready", "params": ' + "[" * 500 + "]" * 500 + "}",
        '{"id": 1, "method": "host.ready", "params": {"protocol": 1, "sdk": "' + "x" * 5 * 1024 * 1024 + '"}}',
        "\ud800",
    ],
)
async def test_nonsense_before_host_ready_ends_the_connection(tmp_path: Path, said: str) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await install(site, tmp_path / "radar")
        async with linked(site, package) as card:
            await card.say(said)
            assert (await card.wait_closed())["code"] == 1008


async def test_what_is_asked_before_host_ready_is_refused_and_afterwards_answered(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        package = await install(site, tmp_path / "radar")
        async with linked(site, package) as card:
            assert (await card.answer("agents.list"))["error"]["code"] == "not_ready"
            await card.ask("host.ready", **ready())
            assert (await card.answer("host.ready", **ready()))["error"]["code"] == "conflict"
            assert (await card.answer("no.such.method"))["error"]["code"] == "invalid_request"
            assert (await card.answer("storage.get", key=3))["error"]["code"] == "invalid_request"


async def test_a_card_that_never_says_that_it_is_there_is_let_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cards.md §3: 10 s."""
    monkeypatch.setattr(card_link, "READY_S", 0.05)
    async with open_site(tmp_path / "data") as site:
        package = await install(site, tmp_path / "radar")
        async with linked(site, package) as card:
            assert "no host.ready" in (await card.wait_closed())["reason"]


@pytest.mark.parametrize(
    "said",
    [
        "nonsense",
        '{"id": 1, "method": "log.write", "params": ' + "[" * 500 + "]" * 500 + "}",
        '{"id": 1, "method": "log.write", "params": {"level": "info", "text": "' + "x" * 5 * 1024 * 1024 + '"}}',
        # few characters, but many bytes
        '{"id": 1, "method": "log.write", "params": {"level": "info", "text": "' + "文" * 2 * 1024 * 1024 + '"}}',
    ],
)
async def test_nonsense_in_the_middle_ends_the_connection_and_its_calls_with_words(tmp_path: Path, said: str) -> None:
    """Decision 24."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        texts: list[str] = []
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:

            async def call() -> None:
                texts.append(await desk.agent.text(TOOL))

            tasks.start_soon(call)
            await card.event("tools.call")
            await card.say(said)
            assert (await card.wait_closed())["code"] == 1008
        assert "stopped while it ran this" in texts[0]


async def test_a_newer_connection_takes_over_and_the_older_one_is_told_not_to_come_back(tmp_path: Path) -> None:
    """Decision 24: two processes of one card do not drive each other away for ever."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as old, connected(site, desk.package) as new:
            assert (await old.wait_closed())["code"] == 4001
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(desk.agent.call, TOOL)
                await new.respond(await new.event("tools.call"))


async def test_the_older_connection_answers_the_calls_it_has_before_it_goes(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as old, anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            first = calls.begin()
            had = await old.event("tools.call")
            async with connected(site, desk.package) as new:
                second = calls.begin()
                await new.respond(await new.event("tools.call"), {"type": "text", "text": "by the newer one"})
                assert (await calls.result(second))["content"][0]["text"] == "by the newer one"
                assert old.closed is None
                await old.respond(had, {"type": "text", "text": "by the older one"})
                assert (await calls.result(first))["content"][0]["text"] == "by the older one"
                assert (await old.wait_closed())["code"] == 4001


async def test_an_older_connection_that_does_not_finish_is_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_connections, "FINISH_S", 0.01)
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as old, anyio.create_task_group() as tasks:
            calls = Calling(desk, tasks)
            calls.begin()
            await old.event("tools.call")
            async with connected(site, desk.package):
                assert (await old.wait_closed())["code"] == 4001
                assert "stopped while it ran this: another connection speaks for the card" in await calls.text()


async def test_a_frame_is_for_its_copy_alone_and_comes_before_a_process(tmp_path: Path) -> None:
    """cards.md §7, 60."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        await site.card(desk.id, "card", package=desk.package, title="Second")
        async with connected(site, desk.package) as process, connected(site, desk.package, desk.card) as frame:
            assert process.closed is None
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(desk.agent.call, TOOL)
                await frame.respond(await frame.event("tools.call"))
            await site.ask("DELETE", f"{desk.path}/cards/{desk.card}", status=204)
            assert "removed" in (await frame.wait_closed())["reason"]


async def test_a_card_answers_its_own_calls_alone_and_once(tmp_path: Path) -> None:
    """cards.md 57, decision 26."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        other = await install(site, tmp_path / "other", manifest(name="other-card"))
        async with connected(site, desk.package) as card, connected(site, other) as thief:
            results: list[dict[str, Any]] = []

            async def call() -> None:
                results.append(await desk.agent.call(TOOL))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                data = await card.event("tools.call")
                stolen = {"content": [{"type": "text", "text": "stolen"}]}
                await thief.ask("tools.respond", callId=data["callId"], result=stolen)
                await thief.ask("tools.respond", callId=data["callId"], error="stolen")
                await thief.ask("tools.progress", callId=data["callId"], message="stolen")
                await card.respond(data)
                await card.ask("tools.respond", callId=data["callId"], error="twice")
                await card.ask("tools.respond", callId="call_of_nobody", error="never")
        assert results[0]["content"] == [{"type": "text", "text": "done"}]
        assert await desk.lines() == []
        assert (await desk.log())[0]["progress"] == ""


async def test_a_flood_of_progress_is_slowed_down_and_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """cards.md 36, §3: 400 requests at once; what a card owes is always taken."""
    monkeypatch.setattr(card_pace, "RATE", 0.001)  # however long this takes, no room comes back
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            tasks.start_soon(desk.agent.call, TOOL)
            data = await card.event("tools.call")
            for number in range(10_000):
                await card.request("tools.progress", callId=data["callId"], message=str(number))
            last = await card.request("tools.respond", callId=data["callId"], error="enough")
            refusals: list[dict[str, Any]] = []
            while (answer := await card.next()).get("id") != last:
                if "error" in answer:
                    refusals.append(answer["error"])
            assert "error" not in answer
            assert len(refusals) == 9600
            assert {refusal["code"] for refusal in refusals} == {"rate_limited"}
            assert all(refusal["retryAfterMs"] > 0 for refusal in refusals)
        assert (await desk.log())[0]["error"] == "enough"


async def test_a_card_has_64_requests_worked_on_and_still_ends_its_calls(tmp_path: Path) -> None:
    """cards.md §3."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            tasks.start_soon(desk.agent.call, TOOL)
            data = await card.event("tools.call")
            for _ in range(64):  # 50 questions wait, and each further one is a conflict
                await card.request("ui.confirm", title="Sure?")
            for _ in range(14):
                assert (await card.next())["error"]["code"] == "conflict"
            for _ in range(14):
                await card.request("ui.confirm", title="Sure?")
            for _ in range(14):
                assert (await card.next())["error"]["code"] == "conflict"
            await card.respond(data)
        assert (await desk.log())[0]["status"] == "ok"


async def test_a_card_that_never_reads_is_given_up_with_its_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card_connections, "MAX_BACKLOG_BYTES", 10_000)
    monkeypatch.setattr(card_link, "CLOSE_S", 0.05)
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        card, texts = Deaf(), list[str]()
        async with connected(site, desk.package, made=card), anyio.create_task_group() as tasks:

            async def call() -> None:
                texts.append(await desk.agent.text(TOOL))

            tasks.start_soon(call)
            await card.full.wait()
            (connection,) = site.host.canvas.connections.of_package(desk.package)
            for number in range(200):
                connection.send("tools.cancel", ToolCancelData(str(number), "cancelled", "x" * 100))
            assert not site.host.canvas.connections.is_awake(desk.package, desk.card)
        assert "does not read" in texts[0]


class Deaf(WireCard):
    """It says that it is there, and reads nothing after the answer to that."""

    def __init__(self) -> None:
        super().__init__()
        self.full = anyio.Event()
        self._read = 0

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.send":
            self._read += 1
            if self._read > 1:
                self.full.set()
                await anyio.sleep_forever()
        await super().send(message)


async def test_an_update_or_a_removal_ends_the_connections_of_the_package(tmp_path: Path) -> None:
    """cards.md 25, decision 25."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card:
            await install(site, tmp_path / "radar", with_tool(description="Runs other tests."))
            assert (await card.wait_closed())["reason"] == "the package was updated"
        async with connected(site, desk.package) as card:
            await site.ask("DELETE", f"/card-packages/{desk.package}?force=true", status=204)
            assert (await card.wait_closed())["reason"] == "the package was removed"


async def test_after_a_restart_of_the_host_a_card_by_key_attaches_again(tmp_path: Path) -> None:
    """Decision 24: with the same key and package, and the copies that stand on the boards."""
    async with open_site(tmp_path / "data") as site:
        desk, key = await desk_with(site, tmp_path / "radar"), site.owner_key
        async with connected(site, desk.package):
            pass
    async with open_site(tmp_path / "data", key) as site, connected(site, desk.package) as card:
        desk.agent.move_to(site)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.agent.call, TOOL)
            await card.respond(await card.event("tools.call"))


async def test_peers_that_change_are_told_to_the_cards_beside_them(tmp_path: Path) -> None:
    """cards.md 72, §3: agents.changed."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card:
            terminal = (await site.card(desk.id, "terminal"))["id"]
            assert await card.event("agents.changed") == {"card": desk.card}
            await site.arrow(desk.id, desk.card, terminal)
            assert await card.event("agents.changed") == {"card": desk.card}
            await site.ask("PATCH", f"{desk.path}/cards/{desk.card}", {"x": 7})
            await site.ask("PATCH", f"{desk.path}/cards/{terminal}", {"title": "Build"})
            assert await card.event("agents.changed") == {"card": desk.card}
            names = [peer["name"] for peer in (await card.ask("agents.list"))["agents"]]
            assert names == ["writer", "Build"]


@pytest.mark.virtual_time
async def test_room_for_requests_comes_back_at_200_a_second() -> None:
    """cards.md §3."""
    pace = Pace()
    assert [pace.wait_ms() for _ in range(401)] == [0] * 400 + [5]
    await anyio.sleep(0.005)
    assert [pace.wait_ms(), pace.wait_ms()] == [0, 5]
    await anyio.sleep(3600)
    assert [pace.wait_ms() for _ in range(401)] == [0] * 400 + [5]
