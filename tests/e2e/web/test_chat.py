"""Talking to an attached SDK agent in the page: answers as they come, calls on the way, and its owner's yes or no."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.running import Process
from tests.e2e.web.screen import PHONE, Screen

pytestmark = pytest.mark.e2e

MAILER = """
from toolwire.agent import Agent
from toolwire.sdk import LLMResponse, Options, TextBlock, ToolUseBlock, tool
from toolwire.sdk.testing import FakeLLMProvider


@tool(risk_level="high")
def send_mail(to: str, subject: str) -> str:
    "Send a mail."
    return f"sent to {to}"


@tool
def look_up(name: str) -> str:
    "Look up an address."
    return f"{name}@example.org"


def answer(request):
    last, mark = request.messages[-1], f"t{len(request.messages)}"
    if last.role != "tool" and "mail" not in last.text:
        return LLMResponse("end_turn", [TextBlock(f"You said {last.text!r}, as turn {len(request.messages)}.")])
    if last.role != "tool":
        return LLMResponse("tool_use", [TextBlock("I look it up."), ToolUseBlock(mark, "look_up", {"name": "ada"})])
    said = last.content[0]
    if said.output and said.output.startswith("ada@"):
        return LLMResponse("tool_use", [ToolUseBlock(mark, "send_mail", {"to": said.output, "subject": "late"})])
    return LLMResponse("end_turn", [TextBlock(said.output or f"It stays here: {said.error}")])


agent = Agent.from_options(
    Options(system_prompt="You write mails.", name="mailer", allowed_tools=(send_mail, look_up)),
    provider=FakeLLMProvider(responder=answer),
)
"""


@contextmanager
def mailer_on(screen: Screen, workspace: str, folder: Path) -> Generator[None]:
    """The agent on a board, attached until the block ends."""
    (folder / "mailer.py").write_text(MAILER)
    card = screen.card(workspace, "agent", title="mailer")
    flags = ["--url", screen.ready.url, "--key", card["agent_key"]]
    with Process(["agent", "run", "mailer:agent", *flags], folder) as process:
        process.errors_say("attached to")
        yield


def opened(page: Page) -> Locator:
    """The conversation with the agent."""
    page.get_by_role("group", name="Agent: mailer").get_by_role("button", name="Chat").click()
    return page.get_by_role("log", name="Conversation")


def say(page: Page, message: str) -> None:
    field = page.get_by_label("Message to mailer")
    field.fill(message)
    field.press("Enter")


def test_what_is_said_is_answered_in_one_conversation_which_a_reload_keeps(screen: Screen, tmp_path: Path) -> None:
    workspace = screen.workspace()
    with mailer_on(screen, workspace, tmp_path):
        page = screen.window(f"/w/{workspace}")
        log = opened(page)
        expect(log.get_by_text("Say something to this agent")).to_be_visible()
        say(page, "hello")
        expect(log.get_by_text("You said 'hello', as turn 2.")).to_be_visible()
        page.reload()
        log = opened(page)
        expect(log.get_by_text("You said 'hello', as turn 2.")).to_be_visible()
        say(page, "again")
        expect(log.get_by_text("You said 'again', as turn 4.")).to_be_visible()


def test_a_call_waits_for_a_yes_and_its_way_is_shown(screen: Screen, tmp_path: Path) -> None:
    workspace = screen.workspace()
    with mailer_on(screen, workspace, tmp_path):
        page = screen.window(f"/w/{workspace}")
        log = opened(page)
        say(page, "mail ada")
        asked = log.get_by_role("region", name="May it call send_mail?")
        expect(asked).to_contain_text("ada@example.org")
        expect(log.get_by_text("I look it up.")).to_be_visible()
        expect(log.get_by_text("calling look_up")).to_be_visible()
        asked.get_by_role("button", name="Approve").click()
        expect(log.get_by_text("sent to ada@example.org")).to_be_visible()
        expect(asked.get_by_text("Approved")).to_be_visible()
        expect(asked.get_by_role("button")).to_have_count(0)


def test_a_phone_says_no_with_a_reason_and_the_other_window_sees_it(screen: Screen, tmp_path: Path) -> None:
    workspace = screen.workspace()
    with mailer_on(screen, workspace, tmp_path):
        page = screen.window(f"/w/{workspace}")
        log = opened(page)
        say(page, "mail ada")
        expect(log.get_by_role("button", name="Deny")).to_be_visible()
        expect(page.get_by_role("group", name="Agent: mailer").get_by_role("button", name="Asks you")).to_be_visible()
        phone = screen.window(f"/w/{workspace}", viewport=PHONE, has_touch=True, locale="zh-CN", color_scheme="dark")
        phone.get_by_role("list", name="等待你回答的智能体").get_by_role("button", name="查看").tap()
        phone.get_by_label("理由").fill("not today")
        phone.get_by_role("button", name="拒绝").tap()
        for seen in (log, phone.get_by_role("log")):
            expect(seen.get_by_text("It stays here: not today")).to_be_visible()
        expect(phone.get_by_role("list", name="等待你回答的智能体")).to_be_hidden()
        expect(log.get_by_text("Reason: not today")).to_be_visible()


def test_what_the_agent_asks_during_a_call_of_somebody_else_is_decided_here(screen: Screen, tmp_path: Path) -> None:
    workspace = screen.workspace()
    with mailer_on(screen, workspace, tmp_path), ThreadPoolExecutor(1) as pool:
        page = screen.window(f"/w/{workspace}")
        log = opened(page)
        calling = pool.submit(screen.ask, "POST", "/agents/mailer/invoke", {"message": "mail ada"})
        log.get_by_role("button", name="Approve").click()
        assert calling.result(30)["text"] == "sent to ada@example.org"
