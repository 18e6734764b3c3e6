"""`toolwire chat` in a real terminal: a pseudo-terminal on which a person types, with Ctrl-C as the key that it is."""

import contextlib
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.running import STOP_LIMIT_S, TOOLWIRE, environment

pytestmark = pytest.mark.e2e

CTRL_C, CTRL_D = "\x03", "\x04"

BOT = """
import time
from toolwire.sdk import LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.testing import FakeLLMProvider


@tool
def wait_long() -> str:
    "Wait."
    time.sleep(3600)
    return "waited"


@tool(risk_level="high")
def send_mail(to: str) -> str:
    "Send a mail."
    return f"sent to {to}"


def answer(request):
    last = request.messages[-1]
    if last.role == "tool":
        return LLMResponse("end_turn", [TextBlock(f"Read {last.content[0].output!r}.")])
    if last.text == "hang":
        print("thinking", flush=True)
        time.sleep(3600)
    asked = {"wait": ("wait_long", {}), "mail": ("send_mail", {"to": "ada"})}.get(last.text)
    if asked is None:
        return LLMResponse("end_turn", [TextBlock(f"You said {last.text!r}.")])
    return LLMResponse("tool_use", [ToolUseBlock("t1", *asked)])


options = Options(system_prompt="You help.", name="helper", allowed_tools=(wait_long, send_mail))
model = FakeLLMProvider(responder=answer)
"""


IN_ITS_TERMINAL = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background processes ignore it; one at a terminal does not
os.close(os.open(os.ttyname(0), os.O_RDWR))  # the first terminal that a session leader opens is the one with its Ctrl-C
os.execv(sys.argv[1], sys.argv[1:])
"""


class Person:
    """Somebody at a terminal in which `toolwire chat` runs."""

    def __init__(self, terminal: int, process: "subprocess.Popen[bytes]") -> None:
        self._terminal = terminal
        self.process = process
        self.seen = ""
        self._looked_at = 0

    def types(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def sees(self, text: str) -> None:
        """Wait until the text is shown, below what was waited for before."""
        end = time.monotonic() + STOP_LIMIT_S
        while (found := self.seen.find(text, self._looked_at)) < 0:
            ready, _, _ = select.select([self._terminal], [], [], max(0.0, end - time.monotonic()))
            assert ready, f"{text!r} did not come:\n{self.seen}"
            self.seen += os.read(self._terminal, 65536).decode()
        self._looked_at = found + len(text)


@contextlib.contextmanager
def person(folder: Path) -> Generator[Person]:
    (folder / "bot.py").write_text(BOT)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", IN_ITS_TERMINAL, TOOLWIRE, "chat", "bot:options"],
        cwd=folder,
        env=environment({"NO_COLOR": "1", "TERM": "dumb"}),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Person(ours, process)
    finally:
        process.kill()
        process.wait(STOP_LIMIT_S)
        os.close(ours)


def test_a_person_talks_approves_with_an_edit_and_leaves(tmp_path: Path):
    with person(tmp_path) as someone:
        someone.sees("helper is listening")
        someone.types("hello\n")
        someone.sees("You said 'hello'.")
        someone.types("mail\n")
        someone.sees("? send_mail needs your yes")
        someone.sees("to: ada")
        someone.types("e\n")
        someone.sees('{"to":"ada"}')
        someone.types('\x7f\x7f\x7f\x7f\x7fbob"}\n')
        someone.sees("✓ send_mail: sent to bob")
        someone.sees("Read 'sent to bob'.")
        someone.sees("> ")
        someone.types(CTRL_D)
        assert someone.process.wait(STOP_LIMIT_S) == 0


@pytest.mark.parametrize(("goal", "running"), [("wait", "● wait_long"), ("hang", "thinking")])
def test_ctrl_c_interrupts_the_turn_and_not_the_program(goal: str, running: str, tmp_path: Path):
    """A tool that never returns, and a model that never answers."""
    with person(tmp_path) as someone:
        someone.sees("> ")
        someone.types(f"{goal}\n")
        someone.sees(running)
        someone.types(CTRL_C)
        someone.sees("! interrupted")
        someone.sees("> ")
        someone.types("hello\n")
        someone.sees("You said 'hello'.")
        someone.types("/quit\n")
        assert someone.process.wait(STOP_LIMIT_S) == 0
