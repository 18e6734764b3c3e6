"""What a mock host answers to cards: the same refusals as a host's, and simple fakes behind them; it calls no tools."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from toolwire.canvas.card_storage import MAX_BYTES, MAX_KEY_CHARS, MAX_VALUE_BYTES
from toolwire.card.errors import CardError
from toolwire.card.manifest import Manifest
from toolwire.card.settings import settings_of, values_of, what_is_wrong
from toolwire.card.texts import cleaned
from toolwire.wire.card_messages import (
    LEAST_COMMAND_MS,
    MOST_COMMAND_MS,
    CardParams,
    CardRef,
    CommandParams,
    CommandResult,
    ConfirmParams,
    ConfirmResult,
    Done,
    KeysResult,
    Peer,
    PeersResult,
    SettingParams,
    SettingsData,
    StoreParams,
    StoreScopeParams,
    StoreSetParams,
    ValueResult,
    WriteParams,
)

Answer: TypeAlias = Callable[[Any], Any]
"""Answers a method: gets its params, gives its result, or an awaitable of that; raises `CardError` to refuse."""
OnCommand: TypeAlias = Callable[[str, str], "CommandResult | str"]
"""Gets a terminal's id and a command."""
Confirm: TypeAlias = "bool | Callable[[ConfirmParams], bool]"

DONE = Done()


class CardAnswers:
    """Answers what is about peers, terminals, questions, storage and settings.

    See `cards.MockHost` for the arguments. `tell_settings` is told of a copy whose settings have changed.
    """

    def __init__(self, manifest: Manifest, agents: Sequence[Peer], on_command: OnCommand, confirm: Confirm) -> None:
        self.copies: tuple[CardRef, ...] = ()
        self.storage: dict[str, dict[str, Any]] = {}
        self.written: dict[str, str] = {}
        self.settings: dict[str, dict[str, Any]] = {}
        self.tell_settings: Callable[[SettingsData], None] = lambda data: None
        self._manifest = manifest
        self._agents = tuple(agents)
        self._on_command = on_command
        self._confirm = confirm

    def table(self) -> Mapping[str, Answer]:
        """The methods by name."""
        return {
            "agents.list": self._list,
            "terminals.run": self._run,
            "terminals.write": self._write,
            "ui.confirm": self._ask,
            "storage.get": self._get,
            "storage.set": self._set,
            "storage.delete": self._delete,
            "storage.keys": self._keys,
            "storage.clear": self._clear,
            "settings.set": self._change,
        }

    def _list(self, params: CardParams) -> Struct:
        self._need("agents.read")
        self.copy(params.card)
        return PeersResult(self._agents)

    def _run(self, params: CommandParams) -> Struct:
        self._check_terminal(params.terminal, params.card)
        if not LEAST_COMMAND_MS <= params.timeout_ms <= MOST_COMMAND_MS:
            words = f"timeoutMs goes from {LEAST_COMMAND_MS} to {MOST_COMMAND_MS}, not {params.timeout_ms}"
            raise CardError("invalid_param", words)
        ran = self._on_command(params.terminal, params.command)
        return CommandResult(0, ran) if isinstance(ran, str) else ran

    def _write(self, params: WriteParams) -> Struct:
        self._check_terminal(params.terminal, params.card)
        self.written[params.terminal] = self.written.get(params.terminal, "") + params.data
        return DONE

    def _ask(self, params: ConfirmParams) -> Struct:
        if not cleaned(params.title, 1):
            raise CardError("invalid_param", "a question needs a title")
        self.copy(params.card)
        return ConfirmResult(self._confirm if isinstance(self._confirm, bool) else self._confirm(params))

    def _get(self, params: StoreParams) -> Struct:
        kept = self._kept(params)
        return ValueResult(params.key in kept, kept.get(params.key))

    def _set(self, params: StoreSetParams) -> Struct:
        kept = self._kept(params)
        if not 1 <= len(params.key) <= MAX_KEY_CHARS or "\0" in params.key:
            raise CardError("invalid_param", f"a key has 1 to {MAX_KEY_CHARS} characters, not {params.key[:40]!r}")
        sizes = {key: len(msgspec.json.encode(value)) for key, value in {**kept, params.key: params.value}.items()}
        if sizes[params.key] > MAX_VALUE_BYTES or sum(sizes.values()) > MAX_BYTES[params.scope]:
            raise CardError("quota_exceeded", "there is no room for this; keep less")
        kept[params.key] = params.value
        return DONE

    def _delete(self, params: StoreParams) -> Struct:
        self._kept(params).pop(params.key, None)
        return DONE

    def _keys(self, params: StoreScopeParams) -> Struct:
        return KeysResult(tuple(sorted(self._kept(params))))

    def _clear(self, params: StoreScopeParams) -> Struct:
        self._kept(params).clear()
        return DONE

    def settings_data(self) -> tuple[SettingsData, ...]:
        """The settings of all copies; none where the manifest declares none."""
        return tuple(self._settings_of(copy.id) for copy in self.copies) if settings_of(self._manifest) else ()

    def change_setting(self, card: str, key: str, value: Any) -> None:
        """Set something, a secret too, and tell the card.

        Raises:
            CardError: the manifest does not declare it so.
        """
        declared = next((one for one in settings_of(self._manifest) if one.key == key), None)
        wrong = "is no setting of this card" if declared is None else what_is_wrong(declared, value)
        if declared is None or wrong is not None:
            raise CardError("invalid_param", f"setting {key!r} {wrong}")
        is_shared = declared.scope == "package"
        self.settings.setdefault(self._manifest.name if is_shared else card, {})[key] = value
        for copy in self.copies:
            if is_shared or copy.id == card:
                self.tell_settings(self._settings_of(copy.id))

    def _change(self, params: SettingParams) -> Struct:
        copy = self.copy(params.card)
        if any(one.is_secret and one.key == params.key for one in settings_of(self._manifest)):
            raise CardError("permission_denied", f"{params.key!r} is a secret, which the user alone sets")
        self.change_setting(copy, params.key, params.value)
        return DONE

    def _settings_of(self, copy: str) -> SettingsData:
        declared = settings_of(self._manifest)
        kept = {**self.settings.get(self._manifest.name, {}), **self.settings.get(copy, {})}
        secrets = tuple(one.key for one in declared if one.is_secret and kept.get(one.key) is not None)
        return SettingsData(copy, values_of(declared, kept), secrets)

    def _kept(self, params: StoreParams | StoreSetParams | StoreScopeParams) -> dict[str, Any]:
        holder = self._manifest.name if params.scope == "package" else self.copy(params.card)
        return self.storage.setdefault(holder, {})

    def copy(self, named: str | None) -> str:
        """The id of the copy that a request is about.

        Raises:
            CardError: it names none.
        """
        ids = [copy.id for copy in self.copies]
        if named is None and len(ids) == 1:
            return ids[0]
        if named not in ids:
            raise CardError("invalid_param", f"say in `card` which copy this is about, one of {', '.join(ids)}")
        return str(named)

    def _need(self, permission: str) -> None:
        if permission not in self._manifest.permitted():
            words = f"the manifest does not ask for {permission!r}; add it to permissions"
            raise CardError("permission_denied", words)

    def _check_terminal(self, terminal: str, card: str | None) -> None:
        self._need("terminals.write")
        self.copy(card)
        if not any(peer.id == terminal and peer.kind == "shell" and peer.connected for peer in self._agents):
            words = f"no terminal {terminal!r} is connected to this card; ask the user to draw an arrow to one"
            raise CardError("not_connected", words)
