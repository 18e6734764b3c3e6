"""The shapes of what a card and its host say to each other; `wire.card` turns them into bytes and back.

packages/card-sdk takes its types from here (scripts/make_card_types.py). Times are milliseconds: `deadline` is Unix
time, and `remaining_ms` what is left of it as the host sends, for a card whose clock is wrong (cards.md decision 22).
`card` names a copy: in events always, in requests that are about one copy. A web card's connection is for one copy, and
leaves it out.
"""

from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, UnsetType

from toolwire.core.jsontypes import JsonObject

PROTOCOL = 1
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""The largest message either side takes: a result of 1 MiB as JSON in JSON, and what is around it."""
MAX_RESULT_BYTES = 1024 * 1024
MAX_PARTS = 16
MAX_PROGRESS_CHARS = 200
MAX_ERROR_CHARS = 4_000
MAX_LOG_CHARS = 2_000
LEAST_COMMAND_MS = 1_000
MOST_COMMAND_MS = 120_000
"""How long a card may have a command run."""

CancelCode: TypeAlias = Literal["cancelled", "deadline", "disconnected", "disabled", "unloaded"]
"""Why a call is not wanted any more (cards.md decision 25)."""
LogLevel: TypeAlias = Literal["debug", "info", "warn", "error"]


class _Wire(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What goes over the wire: names in camelCase, unknown ones ignored, defaults left out."""


class CardRef(_Wire, frozen=True):
    """One copy of a package."""

    id: str
    name: str


class AgentRef(_Wire, frozen=True):
    """Who calls."""

    id: str
    name: str


class TextPart(_Wire, frozen=True, tag="text", tag_field="type"):
    """Text in a tool's result."""

    text: str


class ImagePart(_Wire, frozen=True, tag="image", tag_field="type"):
    """A picture in a tool's result; `data` is base64, `mime_type` image/png, image/jpeg, image/webp or image/gif."""

    data: str
    mime_type: str


class ToolResult(_Wire, frozen=True):
    """What a call gives, 1 to 16 parts (cards.md 46-49)."""

    content: tuple[TextPart | ImagePart, ...]
    is_error: bool = False


# Requests of the card: what goes with each method, and what comes back.


class ReadyParams(_Wire, frozen=True):
    """`host.ready`. `instance` is the copy that a web card's frame is for."""

    protocol: int
    sdk: str
    instance: str | None = None


class Peer(_Wire, frozen=True):
    """An agent or terminal of the card's workspace. `connected` says that an arrow joins it to the card."""

    id: str
    name: str
    kind: Literal["ai", "shell"]
    status: Literal["working", "needs-input", "finished", "idle", "exited"]
    connected: bool


class SettingsData(_Wire, frozen=True):
    """What a copy is set to, also as `settings.changed`: values by key, and the keys of the secrets that are set."""

    card: str
    values: JsonObject
    secrets: tuple[str, ...] = ()


class Ready(_Wire, frozen=True):
    """The context. `cards` are the copies that this connection is for; `disabled` the tools that are switched off.

    `settings` are those of each copy, where the manifest declares any.
    """

    protocol: int
    package: str
    version: str
    cards: tuple[CardRef, ...]
    disabled: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    language: str = "en"
    settings: tuple[SettingsData, ...] = ()


class RespondParams(_Wire, frozen=True):
    """`tools.respond`: the end of a call; exactly one of `result` and `error` (words for the model)."""

    call_id: str
    result: ToolResult | UnsetType = UNSET
    error: str | UnsetType = UNSET


class ProgressParams(_Wire, frozen=True):
    """`tools.progress`."""

    call_id: str
    message: str


class SetEnabledParams(_Wire, frozen=True):
    """`tools.setEnabled`, for all copies of the package."""

    tool: str
    enabled: bool


class CardParams(_Wire, frozen=True):
    """Methods that are about one copy and need nothing else: `agents.list`, `storage.keys`, `storage.clear`."""

    card: str | None = None


class PeersResult(_Wire, frozen=True):
    """`agents.list`."""

    agents: tuple[Peer, ...]


class CommandParams(_Wire, frozen=True):
    """`terminals.run`; `timeout_ms` from 1,000 to 120,000. `call_id` names the tool call that this is done for."""

    terminal: str
    command: str
    timeout_ms: int = 30_000
    card: str | None = None
    call_id: str | None = None


class CommandResult(_Wire, frozen=True):
    """What became of a command. `exit_code` is `None` when it was still running at its time-out."""

    exit_code: int | None
    output: str
    truncated: bool = False
    timed_out: bool = False


class WriteParams(_Wire, frozen=True):
    """`terminals.write`: characters as if typed."""

    terminal: str
    data: str
    card: str | None = None


class ConfirmParams(_Wire, frozen=True):
    """`ui.confirm`. With `call_id` it is asked on behalf of that call, whose deadline declines it."""

    title: str
    message: str = ""
    confirm_label: str = ""
    cancel_label: str = ""
    tone: Literal["neutral", "danger"] = "neutral"
    card: str | None = None
    call_id: str | None = None


class ConfirmResult(_Wire, frozen=True):
    """Whether the user said yes."""

    confirmed: bool


class StoreParams(_Wire, frozen=True):
    """`storage.get`, `storage.delete`. `scope` "package" is shared by all copies."""

    key: str
    scope: Literal["instance", "package"] = "instance"
    card: str | None = None


class StoreSetParams(_Wire, frozen=True):
    """`storage.set`; `value` is any JSON value."""

    key: str
    value: Any
    scope: Literal["instance", "package"] = "instance"
    card: str | None = None


class StoreScopeParams(_Wire, frozen=True):
    """`storage.keys`, `storage.clear`."""

    scope: Literal["instance", "package"] = "instance"
    card: str | None = None


class ValueResult(_Wire, frozen=True):
    """`storage.get`; `found` false where nothing is kept under the key."""

    found: bool
    value: Any = None


class KeysResult(_Wire, frozen=True):
    """`storage.keys`."""

    keys: tuple[str, ...]


class SettingParams(_Wire, frozen=True):
    """`settings.set`; `value` null puts it back to its default. Secrets are the user's alone to set."""

    key: str
    value: Any
    card: str | None = None


class LogParams(_Wire, frozen=True):
    """`log.write`; without `card` it is about the package."""

    level: LogLevel
    text: str
    card: str | None = None


class Done(_Wire, frozen=True):
    """Nothing to say."""


PARAMS: dict[str, type[Struct]] = {
    "host.ready": ReadyParams,
    "tools.respond": RespondParams,
    "tools.progress": ProgressParams,
    "tools.setEnabled": SetEnabledParams,
    "agents.list": CardParams,
    "terminals.run": CommandParams,
    "terminals.write": WriteParams,
    "ui.confirm": ConfirmParams,
    "storage.get": StoreParams,
    "storage.set": StoreSetParams,
    "storage.delete": StoreParams,
    "storage.keys": StoreScopeParams,
    "storage.clear": StoreScopeParams,
    "settings.set": SettingParams,
    "log.write": LogParams,
}
"""method → what its `params` are."""

RESULTS: dict[str, type[Struct]] = {
    "host.ready": Ready,
    "tools.respond": Done,
    "tools.progress": Done,
    "tools.setEnabled": Done,
    "agents.list": PeersResult,
    "terminals.run": CommandResult,
    "terminals.write": Done,
    "ui.confirm": ConfirmResult,
    "storage.get": ValueResult,
    "storage.set": Done,
    "storage.delete": Done,
    "storage.keys": KeysResult,
    "storage.clear": Done,
    "settings.set": Done,
    "log.write": Done,
}
"""method → what its `result` is."""


# Events of the host.


class ToolCallData(_Wire, frozen=True):
    """`tools.call`: `tool` is the manifest's name, `exposed_name` the one that the agent used."""

    call_id: str
    tool: str
    exposed_name: str
    arguments: JsonObject
    agent: AgentRef
    card: CardRef
    deadline: float
    remaining_ms: float


class ToolCancelData(_Wire, frozen=True):
    """`tools.cancel`: nobody waits for the call any more."""

    call_id: str
    code: CancelCode
    reason: str


class CardsData(_Wire, frozen=True):
    """`cards.changed`: the copies that this connection is for now."""

    cards: tuple[CardRef, ...]


class PeersData(_Wire, frozen=True):
    """`agents.changed`: read the list again, if it matters."""

    card: str


class PingData(_Wire, frozen=True):
    """`host.ping`, every 5 s where a connection cannot tell by itself that its other end is gone."""


EVENTS: dict[str, type[Struct]] = {
    "tools.call": ToolCallData,
    "tools.cancel": ToolCancelData,
    "cards.changed": CardsData,
    "agents.changed": PeersData,
    "settings.changed": SettingsData,
    "host.ping": PingData,
}
"""event → what its `data` is."""


CONNECT_EVENT = "card.connect"
HELLO_EVENT = "card.hello"
"""How a frame's script tells the page that it listens: the page then connects, or did so when the frame had loaded."""


PONG_EVENT = "card.pong"
"""How a frame answers `host.ping`, over its port: the page then knows that its script is not stuck."""


class ConnectData(_Wire, frozen=True):
    """`card.connect`: what the canvas page posts to a card's frame, as an event, with a `MessagePort` for the rest.

    `instance` is the copy that the frame is for; the card says it again in `host.ready`.
    """

    protocol: int
    instance: str | None = None


class Fault(_Wire, frozen=True):
    """Why a request was refused. `code` is one of ours (`error_rows.ERRORS`) or of `FAULT_CODES`."""

    code: str
    message: str
    retry_after_ms: int | None = None


FAULT_CODES = ("not_connected", "not_ready", "permission_denied", "quota_exceeded")
"""Codes that only cards are told: no arrow joins what it asks for, it has not said `host.ready`, its package was not
given the permission, its storage is full."""
