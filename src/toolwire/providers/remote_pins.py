"""Definitions of tools and prompts as they were accepted, and what a server lists held against them; it asks nobody.

A definition is part of what a person or a rule has agreed to (ARCHITECTURE §7.4). A changed one is shown as it was
accepted, and not used until the change has been accepted, because a server cannot run its old form.
"""

import difflib
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import anyio
import anyio.to_thread
import msgspec
from msgspec import Struct

from toolwire.core.errors import ServiceUnavailable
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Put, Store
from toolwire.core.prompt import Prompt
from toolwire.core.tool import Tool

PIN_KIND = "remote_pins"
PROMPT = "prompt:"
"""Stands before a prompt's name where a tool's would stand alone."""
VERSION_CHARS = 16
"""A remote tool's version is the beginning of its digest."""


Definition: TypeAlias = Tool | Prompt
"""What is pinned. Resources are not: they come and go as data does, and nothing is called by them."""


class Pin(Struct, frozen=True, rename="camel"):
    """An accepted definition; `accepted_at` is Unix seconds, UTC."""

    digest: str
    definition: JsonObject
    accepted_at: float

    @property
    def tool(self) -> Tool:
        """The tool as it was accepted."""
        return msgspec.convert(self.definition, Tool)

    @property
    def prompt(self) -> Prompt:
        """The prompt as it was accepted."""
        return msgspec.convert(self.definition, Prompt)


Pins = Mapping[str, Pin]
"""By `key_of`."""


class PinStore(Protocol):
    """Where the pins of one server are kept."""

    async def load(self) -> Pins:
        """What has been accepted so far.

        Raises:
            ServiceUnavailable: it cannot be read.
        """
        ...

    async def save(self, pins: Pins) -> None:
        """Keep exactly these.

        Raises:
            ServiceUnavailable: they cannot be written.
        """
        ...


class MemoryPins:
    """Pins that last as long as the process."""

    def __init__(self) -> None:
        self._pins: Pins = {}

    async def load(self) -> Pins:
        """See `PinStore.load`."""
        return self._pins

    async def save(self, pins: Pins) -> None:
        """See `PinStore.save`."""
        self._pins = dict(pins)


class _File(Struct, forbid_unknown_fields=True):
    servers: dict[str, dict[str, Pin]]


class FilePins:
    """Pins of one server in a JSON file that may have those of others, too.

    Args:
        path: the file; it is made when the first pin is kept.
        server: what the file knows the server by; no secret.
    """

    def __init__(self, path: Path, server: str) -> None:
        self._path = path
        self._server = server

    async def load(self) -> Pins:
        """See `PinStore.load`."""
        return (await anyio.to_thread.run_sync(self._read)).servers.get(self._server, {})

    async def save(self, pins: Pins) -> None:
        """See `PinStore.save`."""
        await anyio.to_thread.run_sync(self._write, dict(pins))

    def _read(self) -> _File:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_File)
        except FileNotFoundError:
            return _File({})
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ServiceUnavailable(f"cannot read the accepted definitions in {str(self._path)!r}: {error}") from None

    def _write(self, pins: dict[str, Pin]) -> None:
        whole = self._read()
        whole.servers[self._server] = dict(sorted(pins.items()))
        beside = self._path.with_name(f"{self._path.name}.new")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(msgspec.json.format(msgspec.json.encode(whole), indent=2) + b"\n")
            beside.replace(self._path)
        except OSError as error:
            raise ServiceUnavailable(f"cannot keep the accepted definitions in {str(self._path)!r}: {error}") from None


class StoredPins:
    """Pins of one server as a record of the store, for one owner."""

    def __init__(self, store: Store, owner: str, server: str) -> None:
        self._store = store
        self._owner = owner
        self._server = server

    async def load(self) -> Pins:
        """See `PinStore.load`."""
        stored = await self._store.get(PIN_KIND, self._owner, self._server)
        return {} if stored is None else msgspec.json.decode(stored.value, type=dict[str, Pin])

    async def save(self, pins: Pins) -> None:
        """See `PinStore.save`."""
        await self._store.tx([Put(PIN_KIND, self._owner, self._server, msgspec.json.encode(pins))])


class Held(Struct, frozen=True):
    """What is not used: its definition is another than the accepted one, or it is new and was never accepted.

    Attributes:
        now: as the server lists it.
        accepted: as it was accepted; `None` if it never was.
    """

    now: Definition
    accepted: Definition | None

    def diff(self) -> str:
        """What has changed, a line each, as `diff -u` shows it."""
        before = [] if self.accepted is None else _lines(self.accepted)
        shown = difflib.unified_diff(before, _lines(self.now), "accepted", "now", lineterm="", n=2)
        return "\n".join(shown)


class Judged(Struct, frozen=True):
    """What a server lists, held against what was accepted.

    Attributes:
        offered: tools as they may be shown: those that are held in their accepted form, if they have one.
        held: what must not be used, by `key_of`.
        pins: what is accepted from now on.
        prompts: prompts, as tools.
    """

    offered: tuple[Tool, ...]
    held: Mapping[str, Held]
    pins: Pins
    prompts: tuple[Prompt, ...] = ()


def judge(listed: Iterable[Definition], pins: Pins, *, hold_new: bool = False) -> Judged:
    """Hold `listed` against `pins`.

    What was never seen is accepted, unless `hold_new` says that it must wait and others have been accepted before: at
    the first sight of a server there is nothing that it could have changed.
    """
    kept = dict(pins)
    tools: list[Tool] = []
    prompts: list[Prompt] = []
    held: dict[str, Held] = {}
    for each in listed:
        key, shown = key_of(each), each
        pin = pins.get(key)
        if pin is None and hold_new and pins:
            held[key] = Held(each, None)
            continue
        if pin is None:
            kept[key] = pin_of(each)
        elif pin.digest != each.digest():
            shown = _accepted(pin, each)
            held[key] = Held(each, shown)
        if isinstance(shown, Tool):
            tools.append(shown)
        else:
            prompts.append(shown)
    return Judged(tuple(tools), held, kept, tuple(prompts))


def _accepted(pin: Pin, now: Definition) -> Definition:
    """As it was accepted, with what of a tool is not the server's to say."""
    if isinstance(now, Prompt):
        return pin.prompt
    version = pin.digest[:VERSION_CHARS]
    return msgspec.structs.replace(
        pin.tool, version=version, risk_level=now.risk_level, timeout_s=now.timeout_s, source=now.source
    )


def differing(listed: Iterable[Definition], pins: Pins) -> dict[str, Held]:
    """By `key_of`, what is not what was accepted, or was never."""
    found: dict[str, Held] = {}
    for each in listed:
        pin = pins.get(key_of(each))
        if pin is None:
            found[key_of(each)] = Held(each, None)
        elif pin.digest != each.digest():
            found[key_of(each)] = Held(each, _accepted(pin, each))
    return found


def key_of(definition: Definition) -> str:
    """What a definition is kept under: a tool's name, or `prompt:` and a prompt's."""
    return definition.name if isinstance(definition, Tool) else PROMPT + definition.name


def pin_of(definition: Definition) -> Pin:
    """The pin of what is accepted now."""
    return Pin(definition.digest(), definition.definition(), time.time())


def _lines(definition: Definition) -> list[str]:
    encoded = msgspec.json.encode(definition.definition(), order="sorted")
    return msgspec.json.format(encoded, indent=2).decode().splitlines()
