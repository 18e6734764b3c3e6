"""What happens to a call while it runs, as numbered values; it does not store or send them."""

from typing import TypeAlias

from msgspec import Struct

from toolwire.core.result import Content, Result


class Progress(Struct, frozen=True, tag="progress", omit_defaults=True):
    """How far the tool is. `progress` rises strictly within a call; `message` is a short line for people."""

    progress: float
    total: float | None = None
    message: str | None = None


class Log(Struct, frozen=True, tag="log", omit_defaults=True):
    """A line the tool logged; `level` is one of MCP's eight syslog levels."""

    level: str
    text: str
    logger: str | None = None


class Chunk(Struct, frozen=True, tag="chunk", omit_defaults=True):
    """A part of the answer, ahead of the whole."""

    content: Content


class Finished(Struct, frozen=True, tag="finished"):
    """The end; nothing comes after it."""

    result: Result


Event: TypeAlias = Progress | Log | Chunk | Finished


class Stamped(Struct, frozen=True):
    """An event in its place: `seq` counts from 1 within the call, `at` is Unix seconds, UTC."""

    call_id: str
    seq: int
    at: float
    event: Event
