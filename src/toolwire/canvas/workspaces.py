"""The workspaces of all owners: boards that are edited in versions, can be undone, and survive a restart.

It knows boards as values alone: what a card stands for, whether it lives, and who may see it is others' concern. All
workspaces are held in memory; the store is written before an edit counts. Who wants to know of edits asks `on_changed`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from toolwire.canvas.history import Direction, History, histories
from toolwire.core.board import Board, Card, Edit, apply
from toolwire.core.errors import CardNotFound, Conflict, InvalidParam, WorkspaceNotFound
from toolwire.core.ids import new_id
from toolwire.core.ports import Clock, Del, Op, Put, Store
from toolwire.surfaces.feed import Feed

MAX_NAME_CHARS = 128
MAX_WORKSPACES = 200
"""Of one owner."""
MAX_BOARD_BYTES = 8 * 1024 * 1024
"""A board as it is kept, which each edit writes whole (ADR 0022)."""
_PAGE = 1000

ChangedListener: TypeAlias = "Callable[[Workspace | None, Workspace | None], None]"
"""Told of a workspace before and after: `None` before it was made, and after it was removed. It must not block."""


class Workspace(Struct, frozen=True, omit_defaults=True):
    """A named board. `version` rises with every edit; times are Unix seconds, UTC."""

    id: str
    owner: str
    name: str
    created_at: float
    version: int = 1
    board: Board = Board()
    is_open: bool = True

    def card(self, card_id: str) -> Card:
        """A card of the board.

        Raises:
            CardNotFound: there is none of that id.
        """
        found = self.board.cards.get(card_id)
        if found is None:
            raise CardNotFound(f"there is no card {card_id!r} in workspace {self.name!r}")
        return found


class _Kept:
    """A workspace in memory."""

    __slots__ = ("history", "lock", "workspace")

    def __init__(self, workspace: Workspace, history: History) -> None:
        self.workspace = workspace
        self.history = history
        self.lock = anyio.Lock()


_encode = msgspec.json.Encoder().encode  # not MessagePack, which has no large integers
_decode = msgspec.json.Decoder(Workspace).decode


class Workspaces:
    """All workspaces. Call `load` before anything else."""

    def __init__(self, store: Store, clock: Clock, feed: Feed) -> None:
        self._store = store
        self._clock = clock
        self._feed = feed
        self._kept: dict[str, _Kept] = {}
        self._creating = anyio.Lock()
        self._listeners: list[ChangedListener] = []

    async def load(self) -> None:
        """Read all workspaces from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        known, after = await histories(self._store), ""
        while rows := await self._store.scan("workspace", None, after, _PAGE):
            for row in rows:
                self._kept[row.key] = _Kept(_decode(row.value), known.get(row.key, History()))
            after = rows[-1].key

    def on_changed(self, listener: ChangedListener) -> None:
        """Tell `listener` of every workspace that is made, edited, opened, closed or removed."""
        self._listeners.append(listener)

    def all(self) -> Iterator[Workspace]:
        """Every owner's workspaces, the oldest first."""
        return (kept.workspace for kept in tuple(self._kept.values()))

    def of_owner(self, owner: str) -> list[Workspace]:
        """An owner's workspaces, the oldest first."""
        return [workspace for workspace in self.all() if workspace.owner == owner]

    def get(self, owner: str, workspace_id: str) -> Workspace:
        """A workspace of this owner.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
        """
        return self._find(owner, workspace_id).workspace

    def standing(self, owner: str, agent_id: str) -> list[tuple[Workspace, Card]]:
        """Where an agent stands: its cards, with the workspaces that they are in."""
        return [
            (workspace, card)
            for workspace in self.of_owner(owner)
            for card in workspace.board.cards.values()
            if card.agent_id == agent_id
        ]

    def copies(self, owner: str, package: str) -> list[tuple[Workspace, Card]]:
        """The cards that are copies of a package, with the workspaces that they are in."""
        return [
            (workspace, card)
            for workspace in self.of_owner(owner)
            for card in workspace.board.cards.values()
            if card.package == package
        ]

    def find_card(self, owner: str, card_id: str) -> tuple[Workspace, Card]:
        """A card by its id alone, which is unique among all workspaces.

        Raises:
            CardNotFound: the owner has none of that id.
        """
        for workspace in self.of_owner(owner):
            found = workspace.board.cards.get(card_id)
            if found is not None:
                return workspace, found
        raise CardNotFound(f"there is no card {card_id!r} in any workspace")

    async def create(self, owner: str, name: str, board: Board | None = None) -> Workspace:
        """Make a workspace, empty or with a board.

        Raises:
            InvalidParam: the name cannot be used.
            Conflict: the owner has too many, or the board is too large.
        """
        workspace = Workspace(new_id("ws"), owner, _checked_name(name), self._clock.now(), board=board or Board())
        put = _put(workspace)
        async with self._creating:  # or several at once would each find room for itself
            if len(self.of_owner(owner)) >= MAX_WORKSPACES:
                raise Conflict(f"an owner has at most {MAX_WORKSPACES} workspaces; remove one")
            with anyio.CancelScope(shield=True):
                await self._store.tx([put])
            self._kept[workspace.id] = _Kept(workspace, History())
        self._tell(None, workspace)
        return workspace

    async def remove(self, owner: str, workspace_id: str) -> None:
        """Remove a workspace with all that is on its board.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
        """
        kept = self._find(owner, workspace_id)
        async with kept.lock:
            self._find(owner, workspace_id)
            with anyio.CancelScope(shield=True):
                ops = (Del("workspace", owner, workspace_id), *kept.history.removed(owner, workspace_id))
                await self._store.tx(ops)
            del self._kept[workspace_id]
            self._tell(kept.workspace, None)
            self._feed.forget(workspace_id)

    async def rename(self, owner: str, workspace_id: str, name: str) -> Workspace:
        """Give a workspace another name.

        Raises:
            InvalidParam, WorkspaceNotFound: as above.
        """
        wanted = _checked_name(name)
        return await self._change(owner, workspace_id, lambda workspace: replace(workspace, name=wanted))

    async def set_open(self, owner: str, workspace_id: str, is_open: bool) -> Workspace:
        """Open or close a workspace: agents cannot call the cards of a closed one (cards.md 61).

        Raises:
            WorkspaceNotFound: the owner has none of that id.
        """
        return await self._change(owner, workspace_id, lambda workspace: replace(workspace, is_open=is_open))

    async def edit(
        self, owner: str, workspace_id: str, make: Callable[[Board], Edit], expect: int | None = None
    ) -> Workspace:
        """Change a board, in one step that can be taken back.

        Args:
            owner: whose it is.
            workspace_id: which.
            make: the edit, from the board as it is now.
            expect: the version that the editor has seen; `None` where the last edit may win.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
            Conflict: it is not in that version any more (`current` is its version), the edit does not fit the board, or
                that would become too large.
        """
        kept = self._find(owner, workspace_id)
        async with kept.lock:
            before = self.at_version(owner, workspace_id, expect)
            edited = apply(before.board, make(before.board))
            if edited.board == before.board:
                return before
            after = replace(before, board=edited.board, version=before.version + 1)
            return await self._commit(kept, after, *kept.history.edited(owner, workspace_id, edited.inverse))

    async def step(self, owner: str, workspace_id: str, direction: Direction, expect: int | None = None) -> Workspace:
        """Take back the latest edit, or do again the one that was taken back last.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
            Conflict: there is nothing to take back, or as for `edit`.
        """
        kept = self._find(owner, workspace_id)
        async with kept.lock:
            before = self.at_version(owner, workspace_id, expect)
            steps = kept.history.undo if direction == "undo" else kept.history.redo
            if not steps:
                raise Conflict(f"there is nothing to {direction} in workspace {before.name!r}")
            edited = apply(before.board, steps[-1])
            history, ops = kept.history.stepped(owner, workspace_id, direction, edited.inverse)
            after = replace(before, board=edited.board, version=before.version + 1)
            return await self._commit(kept, after, history, ops)

    def at_version(self, owner: str, workspace_id: str, expect: int | None) -> Workspace:
        """A workspace, in the version that somebody has seen, or in any.

        Raises:
            WorkspaceNotFound: the owner has none of that id.
            Conflict: it is not in that version any more; `current` is its version.
        """
        workspace = self._find(owner, workspace_id).workspace
        if expect is not None and expect != workspace.version:
            raise Conflict(
                f"workspace {workspace.name!r} is at version {workspace.version}, not {expect}; read it and edit again",
                current=workspace.version,
            )
        return workspace

    def depth(self, workspace: Workspace) -> tuple[int, int]:
        """How many edits can be undone and redone."""
        history = self._kept[workspace.id].history
        return len(history.undo), len(history.redo)

    async def _change(self, owner: str, workspace_id: str, make: Callable[[Workspace], Workspace]) -> Workspace:
        kept = self._find(owner, workspace_id)
        async with kept.lock:
            self._find(owner, workspace_id)
            after = make(kept.workspace)
            if after == kept.workspace:
                return after
            return await self._commit(kept, replace(after, version=after.version + 1), kept.history, ())

    async def _commit(self, kept: _Kept, after: Workspace, history: History, steps: Sequence[Op]) -> Workspace:
        before = kept.workspace
        with anyio.CancelScope(shield=True):  # a cancelled editor would not know whether its edit counts
            await self._store.tx([_put(after), *steps])
            kept.workspace, kept.history = after, history
        self._tell(before, after)
        return after

    def _find(self, owner: str, workspace_id: str) -> _Kept:
        kept = self._kept.get(workspace_id)
        if kept is None or kept.workspace.owner != owner:
            raise WorkspaceNotFound(f"there is no workspace {workspace_id!r}; list yours")
        return kept

    def _tell(self, before: Workspace | None, after: Workspace | None) -> None:
        for listener in tuple(self._listeners):
            listener(before, after)


def _put(workspace: Workspace) -> Put:
    encoded = _encode(workspace)
    if len(encoded) > MAX_BOARD_BYTES:
        raise Conflict(f"a board takes at most {MAX_BOARD_BYTES} bytes; keep long texts elsewhere, or take cards away")
    return Put("workspace", workspace.owner, workspace.id, encoded)


def _checked_name(name: str) -> str:
    checked = name.strip()
    if not checked or len(checked) > MAX_NAME_CHARS or not checked.isprintable():
        raise InvalidParam(
            f"a workspace's name has 1 to {MAX_NAME_CHARS} printable characters, not {name!r}", param="name"
        )
    return checked
