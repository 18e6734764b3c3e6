"""What the settings of cards are set to, for one copy or a whole package: plain values, and secrets that are sealed.

Cards and answers are told which secrets are set, never what they are. A copy that is taken off its board keeps its
settings, because that can be undone, and loses them with its workspace.

Contract: cards.md §2 (`settings`), §3 (`card.settings`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct

from toolwire.canvas.card_storage import copy_holder
from toolwire.canvas.packages import Package
from toolwire.card.settings import Setting, settings_of, values_of, what_is_wrong
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Del, Put, Store
from toolwire.surfaces.sealed_box import SealedBox

MAX_BYTES: Final = 64 * 1024
"""What is kept for a copy, and for a package beside it."""
_KIND: Final = "card_settings"
_PURPOSE: Final = b"card-settings-1"
_PAGE: Final = 500


class Kept(Struct, frozen=True, omit_defaults=True):
    """What a holder has: values by key, and secrets as they are sealed."""

    values: JsonObject = {}
    sealed: dict[str, str] = {}


class Read(Struct, frozen=True):
    """The settings of a copy, as it may read them: values, and the keys of the secrets that are set."""

    values: JsonObject
    secrets: tuple[str, ...]


_EMPTY: Final = Kept()
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Kept).decode


class CardSettings:
    """All cards' settings.

    Args:
        store: keeps them.
        secret: of the host, which seals secrets.
    """

    def __init__(self, store: Store, secret: bytes) -> None:
        self._store = store
        self._box = SealedBox(secret, _PURPOSE)
        self._kept: dict[str, Kept] = {}
        self._writing = anyio.Lock()
        self._listeners: list[Callable[[Package, str | None], None]] = []

    async def load(self) -> None:
        """Read all settings from the store.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        after = ""
        while rows := await self._store.scan(_KIND, None, after, _PAGE):
            self._kept |= {row.key: _decode(row.value) for row in rows}
            after = rows[-1].key

    def on_changed(self, listener: Callable[[Package, str | None], None]) -> None:
        """Tell `listener` of every change: the package, and the copy, or `None` where it concerns all copies."""
        self._listeners.append(listener)

    def read(self, package: Package, workspace_id: str, card_id: str) -> Read:
        """The settings of a copy, by the manifest that was accepted."""
        own, shared = self._of(copy_holder(workspace_id, card_id)), self._of(package.id)
        declared = declared_by(package)
        kept = {one.key: (own if one.scope == "instance" else shared) for one in declared}
        values = {key: holder.values[key] for key, holder in kept.items() if key in holder.values}
        secrets = tuple(one.key for one in declared if one.is_secret and one.key in kept[one.key].sealed)
        return Read(values_of(declared, values), secrets)

    async def change(self, package: Package, workspace_id: str, card_id: str, given: Mapping[str, Any]) -> None:
        """Set what is given; `None` puts a setting back to its default, and removes a secret.

        Raises:
            InvalidParam: a value does not fit, with all `errors` as `{"key", "message"}`; or there is no room.
            StoreUnavailable: the store cannot be written.
        """
        declared = {one.key: one for one in declared_by(package)}
        _check(declared, given)
        async with self._writing:
            changed: dict[str, Kept] = {}
            for scope, holder in (("instance", copy_holder(workspace_id, card_id)), ("package", package.id)):
                mine = [(declared[key], value) for key, value in given.items() if declared[key].scope == scope]
                if mine:
                    changed[holder] = self._with(package.owner, holder, mine)
            rows = {holder: _encode(kept) for holder, kept in changed.items()}
            for data in rows.values():
                if len(data) > MAX_BYTES:
                    words = f"these settings have {len(data)} bytes; {MAX_BYTES} are kept. Make the texts shorter"
                    raise InvalidParam(words, param="values")
            with anyio.CancelScope(shield=True):  # what is kept has to be known, whoever hangs up meanwhile
                await self._store.tx([Put(_KIND, package.owner, holder, data) for holder, data in rows.items()])
            self._kept |= changed
        if changed:
            for listener in tuple(self._listeners):
                listener(package, None if package.id in changed else card_id)

    async def clear(self, owner: str, holders: Sequence[str]) -> None:
        """Keep nothing for some holders any more: ids of packages, or `card_storage.copy_holder` of copies.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        async with self._writing:
            known = [holder for holder in holders if holder in self._kept]
            if known:
                await self._store.tx([Del(_KIND, owner, holder) for holder in known])
            for holder in known:
                del self._kept[holder]

    async def clear_workspace(self, owner: str, workspace_id: str) -> None:
        """Keep nothing for the copies of a workspace any more.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        prefix = copy_holder(workspace_id, "")
        await self.clear(owner, [holder for holder in self._kept if holder.startswith(prefix)])

    def _of(self, holder: str) -> Kept:
        return self._kept.get(holder, _EMPTY)

    def _with(self, owner: str, holder: str, given: Sequence[tuple[Setting, Any]]) -> Kept:
        before = self._of(holder)
        values, sealed = dict(before.values), dict(before.sealed)
        for setting, value in given:
            values.pop(setting.key, None)
            sealed.pop(setting.key, None)
            if value is not None and setting.is_secret:
                sealed[setting.key] = self._box.seal(value.encode(), f"{owner}\0{holder}\0{setting.key}")
            elif value is not None:
                values[setting.key] = value
        return Kept(values, sealed)


def declared_by(package: Package) -> tuple[Setting, ...]:
    """The settings of the version that was accepted; none where none was."""
    return () if package.accepted is None else settings_of(package.accepted.manifest)


def _check(declared: Mapping[str, Setting], given: Mapping[str, Any]) -> None:
    errors: list[JsonObject] = []
    for key, value in given.items():
        setting = declared.get(key)
        wrong = "is no setting of this card" if setting is None else what_is_wrong(setting, value)
        if wrong is not None:
            errors.append({"key": key[:64], "message": wrong})
    if errors:
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        words = f"setting {errors[0]['key']!r} {errors[0]['message']}{more}"
        raise InvalidParam(words, param="values", errors=errors)
