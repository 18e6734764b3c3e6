"""What cards keep: JSON values by key, for one copy or for a whole package, within limits; it asks nobody's leave.

A holder is a package's id, or `copy_holder` of a copy: a copy that is taken off its board keeps its values, because
that can be undone, and loses them with its workspace.

Contract: cards.md §3: a value of 1 MiB, 5 MiB for a copy, 20 MiB for a package, 10,000 keys.
"""

from typing import Any, Final, Literal, TypeAlias

import anyio
import msgspec

from toolwire.core.errors import InvalidParam
from toolwire.core.ports import Del, Op, Put, Store

MAX_KEY_CHARS: Final = 256
MAX_VALUE_BYTES: Final = 1024 * 1024
MAX_KEYS: Final = 10_000
MAX_BYTES: Final = {"instance": 5 * 1024 * 1024, "package": 20 * 1024 * 1024}
_PAGE: Final = 500
_FEW: Final = 50

Scope: TypeAlias = Literal["instance", "package"]


class QuotaExceeded(Exception):
    """There is no room for this; the message says what to do."""


class CardStorage:
    """All cards' values.

    Args:
        store: keeps them.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sizes: dict[tuple[str, str], dict[str, int]] = {}
        self._writing = anyio.Lock()

    async def get(self, owner: str, holder: str, key: str) -> tuple[bool, Any]:
        """Whether something is kept, and what.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        stored = await self._store.get("card_value", owner, _row(holder, key))
        return (False, None) if stored is None else (True, msgspec.json.decode(stored.value))

    async def set(self, owner: str, holder: str, scope: Scope, key: str, value: Any) -> None:
        """Keep a value.

        Raises:
            InvalidParam: the key or the value cannot be kept.
            QuotaExceeded: there is no room.
            StoreUnavailable: the store cannot be written.
        """
        if not key or len(key) > MAX_KEY_CHARS or "\0" in key:
            raise InvalidParam(f"a key has 1 to {MAX_KEY_CHARS} characters, not {key[:40]!r}", param="key")
        data = msgspec.json.encode(value)
        if len(data) > MAX_VALUE_BYTES:
            raise QuotaExceeded(f"a value has {len(data)} bytes; {MAX_VALUE_BYTES} are kept. Keep it in parts")
        async with self._writing:
            sizes = await self._sizes_of(owner, holder)
            used = sum(sizes.values()) - sizes.get(key, 0) + len(data)
            if used > MAX_BYTES[scope]:
                raise QuotaExceeded(f"{used} bytes would be kept; {MAX_BYTES[scope]} may be. Delete what is old")
            if key not in sizes and len(sizes) >= MAX_KEYS:
                raise QuotaExceeded(f"there are {MAX_KEYS} keys already; delete what is old")
            with anyio.CancelScope(shield=True):  # what is kept has to be counted, whoever hangs up meanwhile
                await self._store.tx([Put("card_value", owner, _row(holder, key), data)])
            sizes[key] = len(data)

    async def delete(self, owner: str, holder: str, key: str) -> None:
        """Keep nothing under a key.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        async with self._writing:
            sizes = await self._sizes_of(owner, holder)
            with anyio.CancelScope(shield=True):
                await self._store.tx([Del("card_value", owner, _row(holder, key))])
            sizes.pop(key, None)

    async def keys(self, owner: str, holder: str) -> list[str]:
        """All keys, in order.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        return sorted(await self._sizes_of(owner, holder))

    async def clear(self, owner: str, holder: str) -> None:
        """Keep nothing for a holder any more.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        async with self._writing:
            sizes = await self._sizes_of(owner, holder)
            ops: list[Op] = [Del("card_value", owner, _row(holder, key)) for key in sizes]
            with anyio.CancelScope(shield=True):
                if ops:
                    await self._store.tx(ops)
            self._sizes.pop((owner, holder), None)

    async def clear_workspace(self, owner: str, workspace_id: str) -> None:
        """Keep nothing for the copies of a workspace any more.

        Raises:
            StoreUnavailable: the store cannot be read or written.
        """
        prefix = copy_holder(workspace_id, "")
        async with self._writing:
            while rows := await self._store.scan("card_value", owner, prefix, _FEW):
                ops: list[Op] = [Del("card_value", owner, row.key) for row in rows if row.key.startswith(prefix)]
                if not ops:
                    break
                await self._store.tx(ops)
            self._sizes = {key: sizes for key, sizes in self._sizes.items() if not key[1].startswith(prefix)}

    async def _sizes_of(self, owner: str, holder: str) -> dict[str, int]:
        """The bytes under each key; read once."""
        known = self._sizes.get((owner, holder))
        if known is not None:
            return known
        sizes: dict[str, int] = {}
        prefix = after = f"{holder}\0"
        while rows := await self._store.scan("card_value", owner, after, _PAGE):
            mine = [row for row in rows if row.key.startswith(prefix)]
            sizes |= {row.key.removeprefix(prefix): len(row.value) for row in mine}
            if len(mine) < len(rows):
                break
            after = rows[-1].key
        return self._sizes.setdefault((owner, holder), sizes)


def copy_holder(workspace_id: str, card_id: str) -> str:
    """Under what the values of a copy are kept."""
    return f"{workspace_id}/{card_id}"


def _row(holder: str, key: str) -> str:
    return f"{holder}\0{key}"
