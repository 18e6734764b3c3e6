"""cards.md 75, 79, decision 35: what a card asks inside a call appears above every page, and no answer is a no."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.web.cards import caller, declared, text_of, tool, typescript_card
from tests.e2e.web.screen import Screen

pytestmark = pytest.mark.e2e

ERASER = """
import { card } from '@toolwire/card-sdk'
const ask = async ({ what }: { what: string }, call) => {
  const title = `Erase ${what}?`, message = '<b>It</b> is gone then.'
  const yes = await card.ui.confirm({ title, message, confirmLabel: 'Erase', tone: 'danger', call })
  return yes ? `erased ${what}` : `kept ${what}`
}
card.tools.handle<{ what: string }>('erase', ask)
card.tools.handle<{ what: string }>('erase_soon', ask)
"""
WHAT = {"what": {"type": "string"}}


def test_questions_of_calls_queue_above_every_page_and_one_that_nobody_answers_is_declined(
    screen: Screen, tmp_path: Path
) -> None:
    tools = (tool("erase", WHAT), tool("erase_soon", WHAT, timeoutMs=3000))
    package = screen.install(typescript_card(tmp_path / "eraser", declared("eraser", *tools), ERASER))
    workspace = screen.workspace()
    agent, card = screen.card(workspace, "agent", title="writer"), screen.card(workspace, "card", package=package)
    screen.arrow(workspace, agent["id"], card["id"])
    page = screen.window(f"/w/{workspace}")
    expect(page.locator("iframe.card-frame")).to_be_visible()
    page.get_by_role("link", name="Keys").click()
    asked = page.get_by_role("alertdialog")
    with caller(agent) as client:
        first = client.call("eraser_erase", what="the logs")
        expect(asked).to_contain_text("For the agent writer, which called erase")
        second = client.call("eraser_erase", what="the backups")
        expect(asked).to_contain_text("Question 1 of 2")
        expect(asked).to_contain_text("Eraser asks")
        expect(asked).to_contain_text("<b>It</b> is gone then.")
        expect(asked).to_contain_text("Declined by itself in")
        expect(asked.get_by_role("heading")).to_have_text("Erase the logs?")
        asked.get_by_role("button", name="Erase").click()
        assert text_of(first.result(20)) == "erased the logs"
        expect(asked.get_by_role("heading")).to_have_text("Erase the backups?")
        asked.get_by_role("button", name="Decline").click()
        assert text_of(second.result(20)) == "kept the backups"
        soon = client.call("eraser_erase_soon", what="all")
        expect(asked.get_by_role("heading")).to_have_text("Erase all?")
        assert soon.result(20).is_error
        expect(asked).to_have_count(0)
        expect(page.get_by_text("its time was up").or_(page.get_by_text("does not ask any more"))).to_be_visible()
