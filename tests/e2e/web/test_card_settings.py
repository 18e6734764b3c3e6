"""cards.md §2 (`settings`), §3 (`card.settings`): what a card's user sets in its panel, the card sees at once."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.e2e.web.cards import declared, typescript_card
from tests.e2e.web.screen import Screen

pytestmark = pytest.mark.e2e

SETTINGS: list[dict[str, Any]] = [
    {"key": "greeting", "type": "string", "label": {"en": "Greeting", "zh": "问候语"}, "default": "hi"},
    {"key": "every", "type": "number", "label": "Every", "min": 5, "max": 60, "description": "In minutes."},
    {
        "key": "tone",
        "type": "select",
        "label": "Tone",
        "options": [{"value": "a", "label": "Soft"}, {"value": "b", "label": "Loud"}],
    },
    {"key": "paint", "type": "color", "label": "Paint", "default": "#3366ff"},
    {"key": "token", "type": "secret", "label": "Token"},
]

SHOWS = """
import { card } from '@toolwire/card-sdk'
const said = document.getElementById('said')!
const show = (): void => {
  const { greeting, every } = card.settings.values()
  said.textContent = `${greeting} ${every ?? 'never'} ${card.settings.hasSecret('token') ? 'with a token' : 'bare'}`
}
card.settings.onChange(show)
void card.log.debug('started').then(show)
"""


def test_a_card_sees_what_is_set_in_its_panel_without_a_reload(screen: Screen, tmp_path: Path) -> None:
    folder = typescript_card(tmp_path / "greeter", declared("greeter", settings=SETTINGS), SHOWS)
    workspace = screen.workspace()
    card = screen.card(workspace, "card", package=screen.install(folder))
    page = screen.window(f"/w/{workspace}")
    said = page.frame_locator("iframe.card-frame").locator("#said")
    expect(said).to_have_text("hi never bare")
    page.get_by_role("heading", name="Greeter", exact=True).click()
    page.get_by_role("tab", name="Settings").click()
    page.get_by_label("Greeting").fill("good morning")
    page.get_by_label("Every").fill("3")
    page.get_by_label("Token").fill("hush-hush")
    save = page.get_by_role("button", name="Save")
    save.click()
    expect(page.get_by_role("alert").filter(has_text="is at least 5, not 3")).to_be_visible()
    expect(said).to_have_text("hi never bare")
    page.get_by_label("Every").fill("15")
    save.click()
    expect(said).to_have_text("good morning 15 with a token")
    expect(page.get_by_text("The card cannot read it")).to_be_visible()
    assert "hush-hush" not in page.content()
    page.get_by_role("button", name="Remove Token").click()
    save.click()
    expect(said).to_have_text("good morning 15 bare")
    path = f"/workspaces/{workspace}/cards/{card['id']}/settings"
    screen.ask("PUT", path, {"values": {"greeting": "from elsewhere"}})
    expect(page.get_by_label("Greeting")).to_have_value("from elsewhere")
