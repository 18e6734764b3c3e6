"""Shows a turn while it happens: the answer in pieces, calls and what becomes of them; it asks and decides nothing.

Events and deltas come on the agent's event loop, which a slow terminal must not hold up: they are put into a queue, and
a thread of its own shows them, in their order.
"""

import queue
import threading
from collections.abc import Callable
from typing import Any, Final, Self, TypeAlias, cast

import msgspec

from toolwire.cli.chat.terminal import CYAN, DIM, PLAIN, RED, YELLOW, Terminal, clean
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.content import ContentRef
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.messages import Message, TaskDelta, TextDelta, ThinkingDelta, ToolProgress

PREVIEW_LINES: Final = 4
PREVIEW_CHARACTERS: Final = 400

_messages = msgspec.json.Decoder(list[Message]).decode

Fetch: TypeAlias = Callable[[ContentRef], bytes]
"""The bytes behind a reference; may block."""


class Screen:
    """A terminal's lower end, where the turn appears. Use it in a `with` block, which owns the thread.

    Args:
        terminal: where it is shown.
        fetch: reads the content store; called on the screen's thread.
    """

    def __init__(self, terminal: Terminal, fetch: Fetch) -> None:
        self._terminal = terminal
        self._fetch = fetch
        self._waiting: queue.Queue[Callable[[], None] | None] = queue.Queue()
        self._thread = threading.Thread(target=self._show_all, name="toolwire-chat-screen", daemon=True)
        self._names: dict[str, str] = {}
        self._subtasks: set[str] = set()
        self._at_line_start = True
        self._style: str | None = None
        self._said = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.put(None)
        self._thread.join()

    def event(self, event: EventEnvelope) -> None:
        """Take an event; for `Client.subscribe`. Of a part handed to another agent only its calls are shown."""
        if event.type == "TaskCreated" and event.payload.parent_task_id is not None:
            self._subtasks.add(event.task_id)
        if event.task_id not in self._subtasks or event.type.startswith(("ToolCall", "ToolResult")):
            self._waiting.put(lambda: self._show_event(event))

    def delta(self, task_id: str, delta: TaskDelta) -> None:
        """Take a part of an answer or a tool's progress; for `Client.subscribe_deltas`."""
        if task_id not in self._subtasks or isinstance(delta, ToolProgress):
            self._waiting.put(lambda: self._show_delta(delta))

    def settle(self) -> None:
        """Wait until all that has come is shown and the cursor stands at the beginning of a line."""
        self._waiting.put(self._end_line)
        self._waiting.join()

    def _show_all(self) -> None:
        while True:
            show = self._waiting.get()
            try:
                if show is None:
                    return
                show()
            except (KeyError, OSError, ValueError, msgspec.DecodeError) as error:
                self._line(f"  (this cannot be shown: {type(error).__name__})", DIM)
            finally:
                self._waiting.task_done()

    def _show_delta(self, delta: TaskDelta) -> None:
        match delta:
            case TextDelta(text=text):
                self._said = True
                self._stream(text, PLAIN)
            case ThinkingDelta(text=text):
                self._stream(text, DIM)
            case ToolProgress(message=message, progress=progress, total=total) if message or progress is not None:
                share = "" if progress is None else f" {progress:g}" + (f"/{total:g}" if total else "")
                self._line(f"  … {delta.tool_name}{share} {one_line(message)}".rstrip(), DIM)
            case _:
                pass

    def _show_event(self, event: EventEnvelope) -> None:
        payload = event.payload
        match event.type:
            case "LLMResponseRecorded":
                self._show_unstreamed(payload.response_ref)
            case "ToolCallStarted":
                self._names[payload.call_id] = payload.tool_name
                self._line(f"● {payload.tool_name} {self._arguments(payload)}".rstrip(), CYAN)
            case "ToolResultRecorded":
                self._show_result(payload)
            case "ToolCallDenied":
                self._line(f"  ✗ {payload.tool_name}: not run: {one_line(payload.reason)}", RED)
            case "ToolCallApprovalResolved" if not payload.approved:
                self._line(f"  ✗ {payload.tool_name}: denied: {one_line(payload.reason or 'no')}", RED)
            case _:
                self._show_state(event.type, payload)

    def _show_state(self, kind: str, payload: Any) -> None:
        match kind:
            case "LLMRetryScheduled":
                self._line(f"  … asking again in {payload.delay_seconds:g} s: {one_line(payload.error)}", DIM)
            case "McpServerSkipped":
                self._line(f"! the tools of {payload.alias!r} are missing: {one_line(payload.reason)}", YELLOW)
            case "TurnInterrupted":
                self._line("! interrupted", YELLOW)
            case "TaskFailed":
                detail = f": {one_line(payload.detail)}" if payload.detail else ""
                self._line(f"! the turn ended without an answer: {one_line(payload.reason)}{detail}", RED)
            case _:
                pass

    def _show_unstreamed(self, response: ContentRef) -> None:
        """Show the text of an answer that did not come in pieces."""
        said, self._said = self._said, False
        if said:
            self._end_line()
            return
        for message in _messages(self._fetch(response)):
            if message.text.strip():
                self._stream(message.text, PLAIN)
                self._end_line()

    def _show_result(self, payload: Any) -> None:
        name = self._names.pop(payload.call_id, "")
        if not payload.success:
            self._line(f"  ✗ {name}: {preview(payload.summary or 'tool failed')}", RED)
            return
        output = msgspec.json.decode(self._fetch(payload.output_ref)) if payload.output_ref.size else ""
        text = output if isinstance(output, str) else msgspec.json.encode(output).decode()
        self._line(f"  ✓ {name}: {preview(text)}" if text else f"  ✓ {name}", DIM)

    def _arguments(self, payload: Any) -> str:
        arguments: JsonObject | None = payload.arguments
        if arguments is None and payload.arguments_ref is not None:
            arguments = msgspec.json.decode(self._fetch(payload.arguments_ref))
        named = [f"{name}={msgspec.json.encode(value).decode()}" for name, value in (arguments or {}).items()]
        text = one_line(" ".join(named))
        return text if len(text) <= PREVIEW_CHARACTERS else text[:PREVIEW_CHARACTERS] + "…"

    def _stream(self, text: str, style: str) -> None:
        text = clean(text)
        if not text:
            return
        if self._style is not None and self._style != style:
            self._end_line()
        self._terminal.write(text, style)
        self._style, self._at_line_start = style, text.endswith("\n")

    def _line(self, text: str, style: str) -> None:
        self._end_line()
        self._terminal.write(clean(text) + "\n", style)

    def _end_line(self) -> None:
        if not self._at_line_start:
            self._terminal.write("\n")
        self._style, self._at_line_start = None, True


def one_line(text: str) -> str:
    """The text on one line, safe to print."""
    return " ".join(clean(text).split())


def preview(text: str) -> str:
    """The beginning of a tool's output, and how much more there is."""
    text = clean(text).strip()
    lines = text[:PREVIEW_CHARACTERS].splitlines()[:PREVIEW_LINES]
    shown = "\n    ".join(lines)
    left = len(text) - sum(len(line) + 1 for line in lines) + 1
    return f"{shown} … ({left:,} characters more)" if left > 0 else shown


def arguments_lines(arguments: Any) -> list[str]:
    """All arguments of a call, for somebody who has to agree to it: a line each, long texts on lines of their own."""
    if not isinstance(arguments, dict):
        return [clean(msgspec.json.encode(arguments).decode())]
    lines: list[str] = []
    for name, value in cast("JsonObject", arguments).items():
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        first, *more = clean(text).split("\n")
        lines += [f"{one_line(name)}: {first}", *(f"│ {line}" for line in more)]
    return lines
