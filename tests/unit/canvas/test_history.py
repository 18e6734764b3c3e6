"""What can be undone and redone, as it is kept: one record a step, which a restart finds as it was."""

import anyio
from hypothesis import given
from hypothesis import strategies as st

from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.canvas.history import KIND, MAX_BYTES, MAX_STEPS
from toolwire.canvas.workspaces import Workspaces
from toolwire.core.board import Board, Card, Edit, PutCard
from toolwire.core.ports import Store
from toolwire.surfaces.feed import Feed


async def opened(store: Store) -> Workspaces:
    workspaces = Workspaces(store, SystemClock(), Feed())
    await workspaces.load()
    return workspaces


def titled(number: int) -> Board:
    return Board({"card_1": Card("card_1", "note", str(number))})


async def follow(steps: list[str]) -> None:
    """Take the steps, and hold what is there after each against lists of boards that are plainly kept."""
    store = MemoryStore(SystemClock())
    workspaces = await opened(store)
    id_ = (await workspaces.create("me", "desk")).id
    other = (await workspaces.create("me", "other")).id
    await workspaces.edit("me", other, lambda _: (PutCard(Card("card_2", "note", "kept")),))
    past, future, present = list[Board](), list[Board](), Board()
    for number, step in enumerate(steps):
        if step == "edit":
            made = titled(number)
            await workspaces.edit("me", id_, lambda _, made=made: (PutCard(made.cards["card_1"]),))
            past, future, present = [*past, present], [], made
        elif step == "undo" and past:
            await workspaces.step("me", id_, "undo")
            future, present = [*future, present], past.pop()
        elif step == "redo" and future:
            await workspaces.step("me", id_, "redo")
            past, present = [*past, present], future.pop()
        elif step == "restart":
            workspaces = await opened(store)
        workspace = workspaces.get("me", id_)
        assert workspace.board == present
        assert workspaces.depth(workspace) == (len(past), len(future))
        assert len(await store.scan(KIND, "me")) == len(past) + len(future) + 1
    await workspaces.remove("me", id_)
    assert [row.key.partition("/")[0] for row in await store.scan(KIND, "me")] == [other]


@given(st.lists(st.sampled_from(["edit", "edit", "undo", "undo", "redo", "restart"]), max_size=30))
def test_edits_are_undone_and_redone_across_restarts(steps: list[str]) -> None:
    anyio.run(follow, steps)


async def test_the_oldest_steps_are_forgotten() -> None:
    store = MemoryStore(SystemClock())
    workspaces = await opened(store)
    id_ = (await workspaces.create("me", "desk")).id
    for number in range(MAX_STEPS + 5):
        await workspaces.edit("me", id_, lambda _, number=number: (PutCard(titled(number).cards["card_1"]),))
    assert len(await store.scan(KIND, "me")) == MAX_STEPS
    workspaces = await opened(store)
    for _ in range(MAX_STEPS):
        await workspaces.step("me", id_, "undo")
    assert workspaces.get("me", id_).board == titled(4)
    assert workspaces.depth(workspaces.get("me", id_)) == (0, MAX_STEPS)


async def test_large_steps_are_forgotten_sooner() -> None:
    """Each step has a whole card as it was: by count alone, 200 of them would take gigabytes."""
    store = MemoryStore(SystemClock())
    workspaces = await opened(store)
    id_ = (await workspaces.create("me", "desk")).id

    def edit(number: int) -> Edit:
        return (PutCard(Card("card_1", "note", str(number), content={"text": "x" * (MAX_BYTES // 8)})),)

    for number in range(12):
        await workspaces.edit("me", id_, lambda _, number=number: edit(number))
    for _ in range(2):
        assert sum(len(row.value) for row in await store.scan(KIND, "me")) <= MAX_BYTES
        assert workspaces.depth(workspaces.get("me", id_)) == (7, 0)
        await workspaces.step("me", id_, "undo")
        await workspaces.step("me", id_, "redo")
        workspaces = await opened(store)
    for _ in range(7):
        await workspaces.step("me", id_, "undo")
    assert workspaces.get("me", id_).board.cards["card_1"].title == "4"
    await workspaces.edit("me", id_, lambda _: edit(99))
    assert workspaces.depth(workspaces.get("me", id_)) == (1, 0)
    assert len(await store.scan(KIND, "me")) == 1
