"""The conversation: reads a person's lines, runs the agent's turns, asks about calls that need a yes.

Ctrl-C ends the present turn, or the question, never the program: that is `/quit`, or the end of the input.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from toolwire.cli.chat.screen import Screen, arguments_lines, one_line
from toolwire.cli.chat.terminal import BOLD, DIM, PLAIN, RED, YELLOW, Terminal
from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.client import Client
from toolwire.sdk.errors import AgentError
from toolwire.sdk.events import EventEnvelope
from toolwire.sdk.options import permission_modes
from toolwire.sdk.turns.runner import DriveOutcome, PendingApproval

PROMPT: Final = "> "
QUESTION: Final = "  [y]es, [n]o (with a reason if you like), [e]dit, [a]ll of them, [s]how everything: "
LINES_SHOWN: Final = 40

_decode = msgspec.json.Decoder(dict[str, Any]).decode

HELP: Final = """\
  /help            this
  /new             begin a new conversation
  /mode [MODE]     say what is asked about from now on: default, acceptEdits or bypassPermissions
  /usage           tokens used in this conversation, and what they cost where prices are known
  /task            the id of this conversation, for --resume
  /quit            leave; the end of input does too
  Ctrl-C ends the turn, and not the program. A line that begins with // is said with one slash.
"""


class Talk:
    """One person and one agent at a terminal.

    Args:
        client: the agent.
        terminal: where the person is.
        screen: shows the turns.
        task_id: a conversation to go on with; by default a new one.
    """

    def __init__(self, client: Client, terminal: Terminal, screen: Screen, task_id: str | None = None) -> None:
        self._client = client
        self._terminal = terminal
        self._screen = screen
        self._task_id = task_id
        self._mode: str | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/help": lambda _: terminal.write(HELP),
            "/new": self._new,
            "/mode": self._set_mode,
            "/usage": self._usage,
            "/task": lambda _: self._note(self._task_id or "no conversation has begun"),
        }

    def run(self) -> None:
        """Talk until the person leaves."""
        with self._screen:
            leave = self._client.subscribe(self._remember), self._client.subscribe(self._screen.event)
            silence = self._client.subscribe_deltas(self._screen.delta)
            try:
                if self._task_id is not None:
                    task_id = self._task_id
                    self._turn(lambda: self._client.resume(task_id))
                while self._goes_on():
                    pass
            finally:
                for end in (*leave, silence):
                    end()

    def _goes_on(self) -> bool:
        """Read and do one line; whether there may be another."""
        try:
            return self._line(self._terminal.read(PROMPT).strip())
        except EOFError:
            self._terminal.write("\n")
            return False
        except KeyboardInterrupt:
            self._terminal.write("\n")
            self._note("nothing is running; /quit leaves")
            return True

    def _line(self, line: str) -> bool:
        if line in ("/quit", "/exit"):
            return False
        if line.startswith("/") and not line.startswith("//"):
            self._command(line)
        elif line:
            self._say(line.removeprefix("/") if line.startswith("//") else line)
        return True

    def _command(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        command = self._commands.get(word)
        if command is None:
            self._note(f"there is no {word}; /help says what there is")
            return
        try:
            command(rest.strip())
        except (AgentError, ToolwireError) as error:
            self._note(str(error), RED)

    def _say(self, goal: str) -> None:
        task_id, mode = self._task_id, self._mode
        if task_id is None:
            self._turn(lambda: self._client.start(goal=goal, permission_mode=mode))
        else:
            self._turn(lambda: self._client.send_goal(task_id, goal=goal, permission_mode=mode))

    def _turn(self, begin: Callable[[], DriveOutcome]) -> None:
        """Do something that moves the task, and ask about calls until nothing waits for an answer any more."""
        step: Callable[[], DriveOutcome] | None = begin
        while step is not None:
            outcome = self._driven(step)
            step = None if outcome is None or not outcome.pending else self._answered(outcome)

    def _driven(self, step: Callable[[], DriveOutcome]) -> DriveOutcome | None:
        """Run a verb; `None` after Ctrl-C, or when it cannot be done."""
        failure = None
        try:
            return step()
        except KeyboardInterrupt:
            return None
        except (AgentError, ToolwireError, ValueError) as error:
            failure = str(error)
        finally:
            self._settle()
            if failure is not None:
                self._note(failure, RED)
        return None

    def _settle(self) -> None:
        try:
            self._screen.settle()
        except KeyboardInterrupt:  # once more: what is left is shown before the next prompt
            self._screen.settle()

    def _answered(self, outcome: DriveOutcome) -> Callable[[], DriveOutcome]:
        """Ask about the first call that waits; what to do then."""
        task_id = outcome.task_id
        try:
            return self._ask(task_id, outcome.pending)
        except (EOFError, KeyboardInterrupt):
            self._terminal.write("\n")
            return lambda: self._client.interrupt(task_id)

    def _ask(self, task_id: str, waiting: Sequence[PendingApproval]) -> Callable[[], DriveOutcome]:
        client, pending = self._client, waiting[0]
        call_id = pending.call_id
        self._present(pending, LINES_SHOWN, f", the first of {len(waiting)}" if len(waiting) > 1 else "")
        while True:
            word, _, rest = self._terminal.read(QUESTION).strip().partition(" ")
            reason = rest.strip() or None
            match word.lower():
                case "y" | "yes":
                    return lambda: client.approve(task_id, call_id, resolver="terminal")
                case "a" | "all" if self._agreed_to_all(waiting[1:]):
                    return lambda: client.approve_all(task_id, resolver="terminal")
                case "n" | "no":
                    return lambda: client.deny(task_id, call_id, reason, resolver="terminal")
                case "e" | "edit":
                    edited = self._edited(pending)
                    if edited is not None:
                        return lambda: self._approve_edited(task_id, call_id, edited)
                case "s" | "show":
                    self._present(pending, None)
                case _:
                    pass

    def _approve_edited(self, task_id: str, call_id: str, arguments: JsonObject) -> DriveOutcome:
        try:
            return self._client.approve(task_id, call_id, arguments, resolver="terminal")
        except ValueError as error:
            self._note(str(error), RED)
            return self._client.resume(task_id)  # rests, and still asks

    def _agreed_to_all(self, others: Sequence[PendingApproval]) -> bool:
        """Show the calls that have not been shown yet, and ask once more; nobody agrees to what they have not seen."""
        for pending in others:
            self._present(pending, None)
        return not others or self._terminal.read("  yes to all of them? ").strip().lower() in ("y", "yes")

    def _present(self, pending: PendingApproval, limit: int | None, more: str = "") -> None:
        why = f": {one_line(pending.reason)}" if pending.reason else ""
        self._terminal.write(f"? {pending.tool_name} needs your yes{more}{why}\n", BOLD)
        lines = arguments_lines(pending.arguments)
        for line in lines[:limit]:
            self._terminal.write(f"    {line}\n")
        if limit is not None and len(lines) > limit:
            self._note(f"    and {len(lines) - limit} lines more, which [s] shows", YELLOW)

    def _edited(self, pending: PendingApproval) -> JsonObject | None:
        """The arguments as the person wants them; `None` when they left them, or wrote no JSON object."""
        line = self._terminal.read("  arguments: ", msgspec.json.encode(pending.arguments).decode())
        try:
            return _decode(line)
        except msgspec.DecodeError as error:
            self._note(f"  that is no JSON object: {error}", RED)
            return None

    def _remember(self, event: EventEnvelope) -> None:
        """On the agent's loop: know the conversation from its first event on, since Ctrl-C leaves no outcome."""
        if event.type == "TaskCreated" and event.payload.parent_task_id is None:
            self._task_id = event.task_id

    def _new(self, _: str) -> None:
        self._task_id = None
        self._note("a new conversation begins with your next line")

    def _set_mode(self, mode: str) -> None:
        if mode and mode not in permission_modes():
            self._note(f"there is no mode {mode!r}; there are {', '.join(permission_modes())}")
            return
        self._mode = mode or self._mode
        self._note(f"the mode is {self._mode or 'the one of the options'}")

    def _usage(self, _: str) -> None:
        if self._task_id is None:
            self._note("nothing has been used yet")
            return
        used = self._client.usage(self._task_id)
        cost = "" if used.cost_usd is None else f", {used.cost_usd:.4f} USD"
        self._note(f"{used.input:,} tokens read ({used.cache_read:,} from cache), {used.output:,} written{cost}")

    def _note(self, text: str, style: str = DIM) -> None:
        self._terminal.write(text + "\n", style or PLAIN)
