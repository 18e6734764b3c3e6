"""What the user has set for a card's copies, as its author reads and changes it; the host keeps and checks it.

Contract: cards.md §2 (`settings`), §3 (`card.settings`).
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct

from toolwire.card.abilities import Asks
from toolwire.card.errors import CardError
from toolwire.wire.card_messages import SettingParams, SettingsData

logger = logging.getLogger("toolwire.card")

Listener: TypeAlias = Callable[[Mapping[str, Any], str], None]
"""Gets all values of a copy, and its id."""

_NOTHING: Final = SettingsData("", {})


class Settings:
    """The settings that the manifest declares, of each copy; those of the package are the same in all."""

    def __init__(self, card: Asks) -> None:
        self._card = card
        self._known: dict[str, SettingsData] = {}
        self._listeners: list[Listener] = []

    def value(self, key: str, default: Any = None, *, card: str | None = None) -> Any:
        """What a setting is set to, else its default in the manifest, else `default`. A secret has no value here.

        Raises:
            CardError: there are several copies, and this is about none of them.
        """
        return self._of(card).values.get(key, default)

    def values(self, *, card: str | None = None) -> Mapping[str, Any]:
        """All values by key, without secrets.

        Raises:
            CardError: as `value`.
        """
        return dict(self._of(card).values)

    def has_secret(self, key: str, *, card: str | None = None) -> bool:
        """Whether the user has set a secret.

        Raises:
            CardError: as `value`.
        """
        return key in self._of(card).secrets

    async def set(self, key: str, value: Any, *, card: str | None = None) -> None:
        """Set what is no secret; `None` puts it back to its default.

        Raises:
            CardError: it does not fit what the manifest declares, or is a secret.
        """
        await self._card.request("settings.set", SettingParams(key, value, self._card.copy_of(card)), Struct)

    def on_change(self, listener: Listener) -> Callable[[], None]:
        """Have `listener` told of every change from now on, with all values of the copy and its id.

        Returns:
            What ends that.
        """
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def begin(self, all_known: Sequence[SettingsData]) -> None:
        """The host has told of all copies; who has heard of others before hears what is new."""
        before, self._known = self._known, {}
        for data in all_known:
            self._known[data.card] = data
            if data.card in before and before[data.card] != data:
                self._tell(data)

    def change(self, data: SettingsData) -> None:
        """The host has told of a copy."""
        self._known[data.card] = data
        self._tell(data)

    def keep(self, copies: Collection[str]) -> None:
        """Forget all other copies."""
        self._known = {copy: data for copy, data in self._known.items() if copy in copies}

    def _tell(self, data: SettingsData) -> None:
        for listener in tuple(self._listeners):
            try:
                listener(dict(data.values), data.card)
            except Exception:
                logger.exception("a listener of settings has failed")

    def _of(self, named: str | None) -> SettingsData:
        copy = self._card.copy_of(named)
        if copy is None and len(self._known) > 1:
            raise CardError("invalid_param", "say in `card` which copy this is about")
        return self._known.get(copy or "", _NOTHING)
