"""How calls look to people and to programs, one a line or one in full; it asks nobody for them."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, Protocol, TextIO

import msgspec

from toolwire.cli.output import print_json
from toolwire.client import RecordedCall, WholeCall
from toolwire.wire.answers.calls import ENDED

KEPT_IDS: Final = 10_000
_COLOURS: Final = {"completed": "green", "failed": "red", "timeout": "red", "rejected": "red", "canceled": "yellow"}
_MARKS: Final = {"completed": "✓", "failed": "✗", "timeout": "✗", "rejected": "✗", "canceled": "–"}


class Screen(Protocol):
    """Where calls are shown; a call that is shown again is one that has gone on."""

    def show(self, call: RecordedCall) -> None:
        """Show a call as it is now."""
        ...


class JsonLines:
    """For programs: a line of JSON for each time."""

    def show(self, call: RecordedCall) -> None:
        """Print it."""
        told: dict[str, Any] = msgspec.to_builtins(call)
        told.pop("type", None)
        print_json(told)


class Ended:
    """Remembers which calls were shown with their end, so that none is shown twice."""

    def __init__(self) -> None:
        self._ids: dict[str, None] = {}

    def is_new(self, call: RecordedCall) -> bool:
        """Whether a call has ended, and this was not known."""
        if call.status not in ENDED or call.call_id in self._ids:
            return False
        self._ids[call.call_id] = None
        if len(self._ids) > KEPT_IDS:
            del self._ids[next(iter(self._ids))]
        return True

    def __contains__(self, call_id: str) -> bool:
        return call_id in self._ids


class PlainLines:
    """For a pipe or a file: a line for each call that has ended."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._ended = Ended()

    def show(self, call: RecordedCall) -> None:
        """Print it if it has ended."""
        if self._ended.is_new(call):
            self._out.write("  ".join(one for one in words_of(call) if one) + "\n")
            self._out.flush()


class LiveLines:
    """For a terminal: what runs stands below, and goes up when it ends. Use it in `shown`.

    Args:
        console: rich's.
    """

    def __init__(self, console: Any) -> None:
        from rich.live import Live

        self._console = console
        self._running: dict[str, RecordedCall] = {}
        self._ended = Ended()
        self._live = Live(console=console, get_renderable=self._draw, refresh_per_second=4, transient=True)

    @contextmanager
    def shown(self) -> Generator["LiveLines"]:
        """Show calls until the block ends; those that run then stay as they are."""
        with self._live:
            yield self
        for call in self._running.values():
            self._console.print(self._line(call), soft_wrap=False)

    def show(self, call: RecordedCall) -> None:
        """Show it above if it has ended, else below."""
        if self._ended.is_new(call):
            self._running.pop(call.call_id, None)
            self._console.print(self._line(call), soft_wrap=False)
        elif call.call_id not in self._ended:
            self._running[call.call_id] = call
        self._live.refresh()

    def _draw(self) -> Any:
        from rich.console import Group

        return Group(*(self._line(call) for call in tuple(self._running.values())))

    def _line(self, call: RecordedCall) -> Any:
        from rich.text import Text

        at, mark, status, took, who, what, more, call_id = words_of(call)
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(f"{at}  ", "dim")
        line.append(f"{mark} {status:<9}", _COLOURS.get(call.status, "cyan"))
        line.append(f"  {took:>8}  ", "dim")
        line.append(what, "bold")
        line.append(f"  {who}")
        line.append(f"  {more}", _COLOURS.get(call.status, "dim") if call.error is not None else "dim")
        line.append(f"  {call_id}", "dim")
        return line


@contextmanager
def screen_for(as_json: bool, out: TextIO) -> Generator[Screen]:
    """Where calls are shown, until the block ends."""
    if as_json:
        yield JsonLines()
    elif not out.isatty():
        yield PlainLines(out)
    else:
        from rich.console import Console

        with LiveLines(Console(file=out)).shown() as screen:
            yield screen


def words_of(call: RecordedCall) -> tuple[str, str, str, str, str, str, str, str]:
    """When, a mark, the status, how long, who, what, what more there is to say, and the id."""
    began = datetime.fromisoformat(call.started_at).astimezone()
    running_s = max(0.0, (datetime.now(began.tzinfo) - began).total_seconds())
    took_ms = call.duration_ms if call.ended_at is not None else 1000 * running_s
    what = call.tool if call.agent_name is None else f"{call.agent_name}/{call.tool}"
    return (
        began.strftime("%H:%M:%S"),
        _MARKS.get(call.status, "…"),
        call.status,
        duration(took_ms),
        f"{call.caller.name or call.caller.id} ({call.surface})",
        what,
        _one_line(_more_of(call)),
        call.call_id,
    )


def duration(ms: float) -> str:
    """A duration for people."""
    if ms < 1000:
        return f"{ms:.0f} ms"
    return f"{ms / 1000:.1f} s" if ms < 60_000 else f"{ms // 60_000:.0f} min {ms % 60_000 / 1000:.0f} s"


def told_whole(call: WholeCall) -> str:
    """A call in full, for people."""
    agent = call.agent_name or call.agent_id
    rows = [
        ("call", call.call_id),
        ("tool", call.tool),
        ("agent", agent if agent == call.agent_id or agent is None else f"{agent} ({call.agent_id})"),
        ("caller", f"{call.caller.kind} {call.caller.name or ''} ({call.caller.id}), by {call.surface}"),
        ("status", call.status),
        ("began", call.started_at),
        ("ended", call.ended_at),
        ("took" if call.ended_at else "so far", duration(call.duration_ms)),
        ("until", None if call.ended_at else call.deadline_at),
        ("task", call.task_id),
        ("key", "has an idempotency key" if call.keyed else None),
        ("context", call.context_id),
        ("made by", call.parent),
    ]
    text = "\n".join(f"{name:<9} {value}" for name, value in rows if value is not None)
    return "\n".join([text, *_parts_of(call)])


def _parts_of(call: WholeCall) -> Iterable[str]:
    if call.withheld:
        yield "\nwhat it said is withheld: its arrow is not recorded, or the setting `call_bodies` is off"
    if call.sent is not None:
        yield "\narguments\n" + msgspec.json.format(msgspec.json.encode(call.sent), indent=2).decode()
    if call.lines:
        yield "\nprogress"
        began = datetime.fromisoformat(call.started_at)
        for line in call.lines:
            after_ms = 1000 * (datetime.fromisoformat(line.at) - began).total_seconds()
            share = "" if line.progress is None or line.total is None else f"{line.progress:g}/{line.total:g}  "
            level = "" if line.level is None else f"{line.level}: "
            yield f"  +{duration(max(0.0, after_ms)):<9} {share}{level}{_one_line(line.text)}"
    if call.error is not None:
        yield f"\nerror\n{call.error.code}: {_printable(call.error.message) or '(withheld)'}"
    if call.answer is not None:
        yield "\nresult\n" + (_printable(call.answer.text) or "(no text)")
        others = [block for block in msgspec.to_builtins(call.answer.content) if block.get("type") != "text"]
        for block in others:
            yield f"({block.get('type')}{', ' + block['mimeType'] if 'mimeType' in block else ''})"


def _more_of(call: RecordedCall) -> str:
    if call.error is not None:
        return f"{call.error.code}: {call.error.message}".rstrip(": ")
    if call.status not in ENDED and call.progress is not None:
        return call.progress.message or f"{call.progress.progress:g}"
    return " → ".join(one for one in (call.arguments, call.result) if one)


def _printable(text: str) -> str:
    """A text that moves no cursor and paints nothing."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "�" for letter in text)


def _one_line(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:200]
