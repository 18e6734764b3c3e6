"""cards.md §3, 57, 72-76, 79: cards that ask for what is not theirs, or go on when they are gone."""

from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import WireCard, connected, desk_with, install
from tests.unit.canvas.site import open_site
from tests.unit.card.manifests import encoded, manifest, with_tool
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.canvas.card_storage import CardStorage
from toolwire.canvas.workspaces import MAX_WORKSPACES, Workspaces
from toolwire.core.errors import Conflict
from toolwire.core.ports import Op
from toolwire.surfaces.feed import KEPT_BYTES, Feed


class Deaf(WireCard):
    """A card that stops reading what it is sent, and goes on asking."""

    def __init__(self) -> None:
        super().__init__()
        self.is_deaf = False
        self.held = anyio.Event()

    async def send(self, message: MutableMapping[str, Any]) -> None:
        if self.is_deaf:
            self.held.set()
            await anyio.sleep_forever()
        await super().send(message)


async def test_a_card_whose_connection_is_to_be_closed_does_nothing_more(tmp_path: Path) -> None:
    """It could go on with permissions that its owner has not accepted any more, for as long as it reads nothing."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        card = Deaf()
        async with connected(site, desk.package, made=card):
            await card.ask("storage.set", scope="package", key="before", value=1)
            card.is_deaf = True
            (tmp_path / "radar" / "toolwire-card.json").write_bytes(encoded(manifest(permissions=[])))
            offer = await site.ask("POST", "/card-packages", {"source": str(tmp_path / "radar")}, status=201)
            assert offer["status"] == "installed"
            with anyio.fail_after(5):
                await card.held.wait()
            await card.request("storage.set", scope="package", key="after", value=1)
            await anyio.wait_all_tasks_blocked()
        async with connected(site, desk.package) as later:
            assert (await later.ask("storage.keys", scope="package"))["keys"] == ["before"]


async def test_a_question_goes_with_its_card(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        other = (await site.card(desk.id, "card", package=desk.package))["id"]
        follower = site.host.canvas.feed.follow(desk.id)
        async with connected(site, desk.package) as card:
            await card.request("ui.confirm", card=desk.card, title="Drop all?", message="")
            kept = await card.request("ui.confirm", card=other, title="Keep it?", message="")
            while len((await site.ask("GET", f"{desk.path}/confirmations"))["confirmations"]) < 2:
                await follower.next()
            await site.ask("DELETE", f"{desk.path}/cards/{desk.card}", status=204)
            with anyio.fail_after(5):
                while (moment := await follower.next()) is None or moment.kind != "confirmed":
                    pass
            assert moment.data["outcome"] == "withdrawn"
            [waiting] = (await site.ask("GET", f"{desk.path}/confirmations"))["confirmations"]
            assert waiting["title"] == "Keep it?"
            await site.ask("POST", f"{desk.path}/confirmations/{waiting['id']}", {"confirmed": True}, status=204)
            while (message := await card.next()).get("id") != kept:
                pass
            assert message["result"]["confirmed"] is True


async def test_copies_and_packages_see_nothing_of_each_others_values(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        second = (await site.card(desk.id, "card", package=desk.package))["id"]
        package = await install(site, tmp_path / "other", manifest(name="other-radar"))
        stranger = (await site.card(desk.id, "card", package=package))["id"]
        async with connected(site, desk.package) as card, connected(site, package) as other:
            for scope, copy in (("package", None), ("instance", desk.card), ("instance", second)):
                value = copy or "all"
                more = {} if copy is None else {"card": copy}
                await card.ask("storage.set", scope=scope, key="k", value=value, **more)
            assert (await card.ask("storage.get", scope="instance", key="k", card=second))["value"] == second
            await card.ask("storage.clear", scope="instance", card=second)
            assert (await card.ask("storage.get", scope="instance", key="k", card=desk.card))["value"] == desk.card
            assert (await card.ask("storage.get", scope="package", key="k"))["value"] == "all"
            for scope, more in (("package", {}), ("instance", {"card": stranger})):
                assert (await other.ask("storage.keys", scope=scope, **more))["keys"] == []
                absurd = f"{desk.package}\0k" if scope == "package" else "\0k"
                assert (await other.ask("storage.get", scope=scope, key=absurd, **more))["found"] is False
            for method, more in (
                ("storage.get", {"scope": "instance", "key": "k"}),
                ("agents.list", {}),
                ("ui.confirm", {"title": "t", "message": ""}),
                ("log.write", {"level": "info", "text": "t"}),
            ):
                for foreign in (desk.card, second, desk.agent_card, desk.id, package):
                    error = (await other.answer(method, card=foreign, **more))["error"]
                    assert error["code"] == "invalid_param", (method, foreign)


async def test_a_card_answers_for_no_call_but_its_own(tmp_path: Path) -> None:
    """cards.md 57: neither another package nor another copy's own connection."""
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        second = (await site.card(desk.id, "card", package=desk.package))["id"]
        package = await install(site, tmp_path / "other", manifest(name="other-radar"))
        await site.card(desk.id, "card", package=package)
        texts: list[str] = []

        async def call() -> None:
            result = await desk.agent.call("test_radar_run_tests")
            texts.append(result["content"][0]["text"])

        async with (
            connected(site, desk.package, desk.card) as card,
            connected(site, desk.package, second) as twin,
            connected(site, package) as other,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(call)
            told = await card.event("tools.call")
            for impostor in (twin, other):
                await impostor.ask("tools.progress", callId=told["callId"], message="mine")
                await impostor.respond(told, {"type": "text", "text": "forged"})
                answer = await impostor.answer("ui.confirm", callId=told["callId"], title="t", message="")
                assert answer["error"]["code"] == "conflict"
            await card.respond(told, {"type": "text", "text": "true"})
        assert texts == ["true"]
        assert [call["progress"] for call in await desk.log()] == [""]


async def test_what_waits_for_an_updated_package_is_not_handed_to_the_new_one_if_the_tool_is_another(
    tmp_path: Path,
) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        follower = site.host.canvas.feed.follow(desk.id)
        texts: list[str] = []

        async def call() -> None:
            texts.append(await desk.agent.text("test_radar_run_tests"))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while (moment := await follower.next()) is None or moment.kind != "wake":
                    pass
                await install(site, tmp_path / "radar", with_tool(description="Deletes the tests."))
                async with connected(site, desk.package) as card:
                    with anyio.move_on_after(0):
                        await card.event("tools.call")
                        raise AssertionError("the card was called")
        assert "updated" in texts[0]


async def test_a_feed_keeps_nothing_of_a_workspace_that_is_gone_and_a_bounded_part_of_others() -> None:
    feed = Feed()
    follower = feed.follow("ws_1")
    last = 0
    for last in range(1, 13):
        feed.tell("ws_1", "board", {"number": last, "text": "x" * (KEPT_BYTES // 8)})
    first = await follower.next()
    assert first is not None
    assert first.kind == "reset"
    late = feed.follow("ws_1", first.id)
    feed.tell("ws_1", "board", {"text": "x" * (2 * KEPT_BYTES)})
    huge = await late.next()
    assert huge is not None
    assert huge.kind == "board"
    feed.forget("ws_1")
    feed.tell("ws_1", "call", {})
    assert await late.next() is None
    again = feed.follow("ws_1")
    feed.tell("ws_1", "call", {"number": 1})
    moment = await again.next()
    assert moment is not None
    assert moment.data == {"number": 1}
    assert moment.id.endswith("-1")


async def test_progress_hides_nothing_from_those_who_read_it(tmp_path: Path) -> None:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar")
        async with connected(site, desk.package) as card, anyio.create_task_group() as tasks:
            tasks.start_soon(desk.agent.call, "test_radar_run_tests")
            told = await card.event("tools.call")
            await card.ask("tools.progress", callId=told["callId"], message="\x1b[2Jtests:\n\u202e3 of\t4 — 文 é\u0000")
            await card.respond(told)
        assert [call["progress"] for call in await desk.log()] == ["[2Jtests: 3 of 4 — 文 é"]


async def test_a_value_is_counted_although_its_card_hangs_up_meanwhile() -> None:
    store = SlowStore(SystemClock())
    storage = CardStorage(store)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(storage.set, "me", "pkg_1", "package", "k", "x" * 100)
        await store.began.wait()
        tasks.cancel_scope.cancel()
        store.goes_on.set()
    assert await storage.keys("me", "pkg_1") == ["k"]
    assert (await storage.get("me", "pkg_1", "k"))[0]


class SlowStore(MemoryStore):
    """Writes when it is told to."""

    def __init__(self, clock: SystemClock) -> None:
        super().__init__(clock)
        self.began = anyio.Event()
        self.goes_on = anyio.Event()

    async def tx(self, ops: Sequence[Op]) -> None:
        self.began.set()
        await self.goes_on.wait()
        await super().tx(ops)


async def test_workspaces_made_at_once_are_no_more_than_one_after_the_other() -> None:
    workspaces = Workspaces(MemoryStore(SystemClock()), SystemClock(), Feed())
    refused: list[str] = []

    async def make() -> None:
        try:
            await workspaces.create("me", "desk")
        except Conflict as error:
            refused.append(error.message)

    async with anyio.create_task_group() as tasks:
        for _ in range(MAX_WORKSPACES + 5):
            tasks.start_soon(make)
    assert (len(workspaces.of_owner("me")), len(refused)) == (MAX_WORKSPACES, 5)
