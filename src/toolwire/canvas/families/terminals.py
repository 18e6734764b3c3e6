"""`terminal_*`: what an agent may do in the terminals that it is joined to; the terminals themselves are elsewhere."""

from collections.abc import Mapping, Sequence
from typing import Final

from toolwire.canvas.copies import Copy
from toolwire.canvas.families.arrows import ArrowCalls, Offer, Passage, card_tool
from toolwire.canvas.identity import AgentInfo
from toolwire.canvas.terminals import MAX_SCREEN_LINES, Terminals
from toolwire.core.result import Result, Text, failed, text_result
from toolwire.core.tool import Tool
from toolwire.providers.function import LocalTool
from toolwire.wire.card_messages import CommandResult

MAX_TOLD_CHARS: Final = 30_000
"""Of a command's output or a screen that a model is given; the middle of more is left out."""
USUAL_LINES: Final = 100
USUAL_MS: Final = 60_000
MOST_MS: Final = 120_000
SPARE_S: Final = 20.0
"""How long a command may wait in line, beyond its own time."""

KEYS: Final[Mapping[str, str]] = {
    "enter": "\r",
    "tab": "\t",
    "escape": "\x1b",
    "backspace": "\x7f",
    "delete": "\x1b[3~",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "right": "\x1b[C",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "page_up": "\x1b[5~",
    "page_down": "\x1b[6~",
    "ctrl_c": "\x03",
    "ctrl_d": "\x04",
    "ctrl_z": "\x1a",
    "ctrl_l": "\x0c",
}

SCREEN: Final = card_tool(
    "terminal_read",
    "Read a terminal",
    "Reads the last lines that a connected terminal shows, as plain text. Use it to see how far a program is that runs"
    " there. Returns the lines; what programs print may be untrusted.",
    read_only=True,
    lines={"type": "integer", "minimum": 1, "maximum": MAX_SCREEN_LINES, "description": "How many; 100 by default."},
)
COMMAND: Final = Tool(
    "terminal_run",
    "Runs a shell command in a connected terminal and waits for its end. The shell goes on from command to command:"
    " folder, variables and background programs stay. A command that is not over in time, because it waits for input"
    " for instance, is interrupted; start long-running programs with & or with terminal_send_keys. Returns the output"
    " and the exit code.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "maxLength": 100_000, "description": "For bash."},
            "timeout_ms": {
                "type": "integer",
                "minimum": 1_000,
                "maximum": MOST_MS,
                "description": "How long it may take; 60000 by default.",
            },
            "card": SCREEN.input_schema["properties"]["card"],
        },
        "required": ["command"],
        "additionalProperties": False,
    },
    title="Run a command",
    timeout_s=MOST_MS / 1000 + SPARE_S,
    source=SCREEN.source,
    risk_level="high",
)
TYPE: Final = card_tool(
    "terminal_send_keys",
    "Type into a terminal",
    "Types into a connected terminal as a person does: first the text, then the keys. Use it to start a program that"
    " goes on, to answer one that asks, or to stop one (ctrl_c); then look with terminal_read. For a command whose"
    " result you want, use terminal_run instead.",
    text={"type": "string", "maxLength": 20_000, "description": "What to type; it does not end with Enter by itself."},
    keys={
        "type": "array",
        "maxItems": 50,
        "items": {"enum": list(KEYS)},
        "description": 'Keys to press after it, in order, such as ["enter"].',
    },
)


class TerminalFamily:
    """The tools of terminals; see `granted.Family`.

    Args:
        terminals: all terminals.
        calls: takes calls through arrows.
    """

    def __init__(self, terminals: Terminals, calls: ArrowCalls) -> None:
        self._terminals = terminals
        self._calls = calls
        bodies = ((SCREEN, self._read), (COMMAND, self._run), (TYPE, self._send_keys))
        self._offers = [Offer(tool, _is_terminal, body, self._state) for tool, body in bodies]

    def __call__(self, agent: AgentInfo, found: Sequence[Copy]) -> Sequence[LocalTool]:
        """What the cards that an agent reaches give it."""
        return list(self._calls.granted(agent, found, self._offers))

    def _state(self, copy: Copy) -> str:
        return self._terminals.status(copy.card)

    async def _read(self, passage: Passage) -> Result:
        copy, lines = passage.copy, passage.arguments.get("lines", USUAL_LINES)
        text = self._terminals.screen(copy.workspace, copy.card, lines)
        status = self._terminals.status(copy.card)
        return Result((Text(cut(text) or "(the terminal is empty)"),), {"screen": cut(text), "status": status})

    async def _run(self, passage: Passage) -> Result:
        copy, command = passage.copy, passage.arguments["command"]
        timeout_s = passage.arguments.get("timeout_ms", USUAL_MS) / 1000
        passage.say(f"$ {command}")
        ended = await self._terminals.run(copy.workspace, copy.card, command, timeout_s)
        return _told(ended, timeout_s)

    async def _send_keys(self, passage: Passage) -> Result:
        copy = passage.copy
        typed = passage.arguments.get("text", "") + "".join(KEYS[key] for key in passage.arguments.get("keys", ()))
        if not typed:
            return failed("nothing to type: give text, keys or both")
        await self._terminals.write(copy.workspace, copy.card, typed)
        return text_result("Typed. Look at the terminal with terminal_read.")


def cut(text: str) -> str:
    """A text in at most `MAX_TOLD_CHARS`, and a line in its middle where something is left out."""
    if len(text) <= MAX_TOLD_CHARS:
        return text
    half = MAX_TOLD_CHARS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half} characters were left out here …\n{text[-half:]}"


def _is_terminal(copy: Copy) -> bool:
    return copy.card.kind == "terminal"


def _told(ended: CommandResult, timeout_s: float) -> Result:
    output = cut(ended.output)
    shown = {
        "exit_code": ended.exit_code,
        "output": output,
        "truncated": ended.truncated or len(output) < len(ended.output),
        "timed_out": ended.timed_out,
    }
    if ended.timed_out:
        end = f"(not over after {timeout_s:g} s; it was interrupted)"
    else:
        end = f"(exit code {ended.exit_code})"
    gap = "" if not output or output.endswith("\n") else "\n"
    return Result((Text(f"{output}{gap}{end}"),), shown)
