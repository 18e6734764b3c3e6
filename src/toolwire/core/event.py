"""What happens to a call while it runs, as numbered values; it does not store or send them."""

from typing import TypeAlias

from msgspec import Struct

from toolwire.core.asking import Question
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


class Asks(Struct, frozen=True, tag="asks"):
    """Something is asked of the client; the call goes on when all of it is answered."""

    questions: tuple[Question, ...]


class Answered(Struct, frozen=True, tag="answered"):
    """What became of questions, by key: "accept", "decline", "cancel", or "answered"; what was said is not told."""

    outcomes: dict[str, str]


class Paused(Struct, frozen=True, tag="paused", omit_defaults=True):
    """The client need not hold a stream open for what is still to come: it may come back, after `retry_after_s`."""

    retry_after_s: float | None = None


class Finished(Struct, frozen=True, tag="finished"):
    """The end; nothing comes after it."""

    result: Result


Event: TypeAlias = Progress | Log | Chunk | Asks | Answered | Paused | Finished


class Stamped(Struct, frozen=True):
    """An event in its place: `seq` counts from 1 within the call, `at` is Unix seconds, UTC."""

    call_id: str
    seq: int
    at: float
    event: Event
