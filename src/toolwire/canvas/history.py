"""What of a workspace can be undone and redone, and how that is kept: one record for each step; it changes no board.

An edit writes its own step alone, however many there are. Steps have numbers that go on where the last one left off:
those to undo first, those to redo after them, the next one to redo in front.
"""

from collections.abc import AsyncGenerator
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.core.board import Edit
from toolwire.core.ports import Del, Op, Put, Store

KIND = "workspace_edit"
MAX_STEPS = 200
"""How far back a workspace can be undone."""
_PAGE = 1000

Direction: TypeAlias = Literal["undo", "redo"]


class _Step(Struct, frozen=True):
    """A record: an edit that takes back what was done, or does again what was taken back."""

    direction: Direction
    edit: Edit


_encode = msgspec.json.Encoder().encode  # not MessagePack, which has no large integers
_decode = msgspec.json.Decoder(_Step).decode


class History(Struct, frozen=True):
    """The steps of one workspace; `undo` and `redo` have the next one last. `first` is the number of the oldest."""

    undo: tuple[Edit, ...] = ()
    redo: tuple[Edit, ...] = ()
    first: int = 0

    def edited(self, owner: str, workspace_id: str, inverse: Edit) -> tuple["History", list[Op]]:
        """After an edit that `inverse` takes back: nothing can be redone any more. With what has to be written."""
        number = self.first + len(self.undo)
        ops: list[Op] = [_put(owner, workspace_id, number, "undo", inverse)]
        ops += [_del(owner, workspace_id, number + gone) for gone in range(1, len(self.redo))]
        undo, first = (*self.undo, inverse), self.first
        while len(undo) > MAX_STEPS:
            ops.append(_del(owner, workspace_id, first))
            undo, first = undo[1:], first + 1
        return History(undo, (), first), ops

    def stepped(self, owner: str, workspace_id: str, direction: Direction, inverse: Edit) -> tuple["History", list[Op]]:
        """After the next step of that direction, which `inverse` takes back. With what has to be written."""
        if direction == "undo":
            after = History(self.undo[:-1], (*self.redo, inverse), self.first)
            return after, [_put(owner, workspace_id, self.first + len(after.undo), "redo", inverse)]
        after = History((*self.undo, inverse), self.redo[:-1], self.first)
        return after, [_put(owner, workspace_id, self.first + len(self.undo), "undo", inverse)]

    def removed(self, owner: str, workspace_id: str) -> list[Op]:
        """What has to be written when the workspace is gone."""
        count = len(self.undo) + len(self.redo)
        return [_del(owner, workspace_id, self.first + number) for number in range(count)]


async def histories(store: Store) -> dict[str, History]:
    """All that is kept, by the workspace's id.

    Raises:
        StoreUnavailable: the store cannot be read.
    """
    found: dict[str, History] = {}
    async for workspace_id, number, step in _steps(store):
        known = found.get(workspace_id, History(first=number))
        if step.direction == "undo":
            found[workspace_id] = History((*known.undo, step.edit), known.redo, known.first)
        else:
            found[workspace_id] = History(known.undo, (step.edit, *known.redo), known.first)
    return found


async def _steps(store: Store) -> AsyncGenerator[tuple[str, int, _Step]]:
    after = ""
    while rows := await store.scan(KIND, None, after, _PAGE):
        for row in rows:
            workspace_id, _, number = row.key.partition("/")
            yield workspace_id, int(number), _decode(row.value)
        after = rows[-1].key


def _put(owner: str, workspace_id: str, number: int, direction: Direction, edit: Edit) -> Put:
    return Put(KIND, owner, _key(workspace_id, number), _encode(_Step(direction, edit)))


def _del(owner: str, workspace_id: str, number: int) -> Del:
    return Del(KIND, owner, _key(workspace_id, number))


def _key(workspace_id: str, number: int) -> str:
    return f"{workspace_id}/{number:012d}"
