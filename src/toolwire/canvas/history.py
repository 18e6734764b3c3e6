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
MAX_BYTES = 16 * 1024 * 1024
"""Of all steps to undo together, as they are kept; the latest is kept whatever its size."""
_PAGE = 1000

Direction: TypeAlias = Literal["undo", "redo"]


class _Step(Struct, frozen=True):
    """A record: an edit that takes back what was done, or does again what was taken back."""

    direction: Direction
    edit: Edit


_encode = msgspec.json.Encoder().encode  # not MessagePack, which has no large integers
_decode = msgspec.json.Decoder(_Step).decode


class History(Struct, frozen=True):
    """The steps of one workspace; `undo` and `redo` have the next one last.

    `first` is the number of the oldest, and `sizes` has the bytes of each step by its number, from that on.
    """

    undo: tuple[Edit, ...] = ()
    redo: tuple[Edit, ...] = ()
    first: int = 0
    sizes: tuple[int, ...] = ()

    def edited(self, owner: str, workspace_id: str, inverse: Edit) -> tuple["History", list[Op]]:
        """After an edit that `inverse` takes back: nothing can be redone any more. With what has to be written."""
        number = self.first + len(self.undo)
        put = _put(owner, workspace_id, number, "undo", inverse)
        ops: list[Op] = [put]
        ops += [_del(owner, workspace_id, number + gone) for gone in range(1, len(self.redo))]
        sizes = (*self.sizes[: len(self.undo)], len(put.value))
        gone, n_bytes = 0, sum(sizes)
        while len(sizes) - gone > MAX_STEPS or (n_bytes > MAX_BYTES and len(sizes) - gone > 1):
            ops.append(_del(owner, workspace_id, self.first + gone))
            n_bytes -= sizes[gone]
            gone += 1
        return History((*self.undo, inverse)[gone:], (), self.first + gone, sizes[gone:]), ops

    def stepped(self, owner: str, workspace_id: str, direction: Direction, inverse: Edit) -> tuple["History", list[Op]]:
        """After the next step of that direction, which `inverse` takes back. With what has to be written."""
        if direction == "undo":
            number = self.first + len(self.undo) - 1
            put = _put(owner, workspace_id, number, "redo", inverse)
            return History(self.undo[:-1], (*self.redo, inverse), self.first, self._sizes_with(number, put)), [put]
        number = self.first + len(self.undo)
        put = _put(owner, workspace_id, number, "undo", inverse)
        return History((*self.undo, inverse), self.redo[:-1], self.first, self._sizes_with(number, put)), [put]

    def _sizes_with(self, number: int, put: Put) -> tuple[int, ...]:
        index = number - self.first
        return (*self.sizes[:index], len(put.value), *self.sizes[index + 1 :])

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
    async for workspace_id, number, size, step in _steps(store):
        known = found.get(workspace_id, History(first=number))
        sizes = (*known.sizes, size)
        if step.direction == "undo":
            found[workspace_id] = History((*known.undo, step.edit), known.redo, known.first, sizes)
        else:
            found[workspace_id] = History(known.undo, (step.edit, *known.redo), known.first, sizes)
    return found


async def _steps(store: Store) -> AsyncGenerator[tuple[str, int, int, _Step]]:
    after = ""
    while rows := await store.scan(KIND, None, after, _PAGE):
        for row in rows:
            workspace_id, _, number = row.key.partition("/")
            yield workspace_id, int(number), len(row.value), _decode(row.value)
        after = rows[-1].key


def _put(owner: str, workspace_id: str, number: int, direction: Direction, edit: Edit) -> Put:
    return Put(KIND, owner, _key(workspace_id, number), _encode(_Step(direction, edit)))


def _del(owner: str, workspace_id: str, number: int) -> Del:
    return Del(KIND, owner, _key(workspace_id, number))


def _key(workspace_id: str, number: int) -> str:
    return f"{workspace_id}/{number:012d}"
