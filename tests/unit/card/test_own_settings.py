"""cards.md §3 (`card.settings`): what a Python card reads and changes of its settings, and what it never learns."""

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from tests.unit.card.manifests import manifest
from toolwire.card import Card, CardError
from toolwire.testing import MockHost

DECLARED = manifest(
    settings=[
        {"key": "greeting", "type": "string", "label": "Greeting", "default": "hi", "maxLength": 5},
        {"key": "every", "type": "number", "label": "Every", "min": 5, "required": True},
        {"key": "paint", "type": "color", "label": "Paint", "scope": "package"},
        {"key": "token", "type": "secret", "label": "Token"},
    ]
)


class Ears:
    """Hears changes."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self._changed = anyio.Event()

    def __call__(self, values: Mapping[str, Any], copy: str) -> None:
        self.heard.append((copy, dict(values)))
        self._changed.set()

    async def until(self, count: int) -> list[tuple[str, dict[str, Any]]]:
        with anyio.fail_after(5):
            while len(self.heard) < count:
                self._changed = anyio.Event()
                await self._changed.wait()
        return self.heard


async def test_values_are_there_once_it_is_connected_and_of_secrets_whether_they_are_set() -> None:
    card = Card()
    assert card.settings.value("greeting", "nothing yet") == "nothing yet"
    async with MockHost(DECLARED, settings={"every": 15, "token": "hush"}).connected(card):
        assert card.settings.values() == {"greeting": "hi", "every": 15}
        assert (card.settings.has_secret("token"), card.settings.value("token")) == (True, None)


async def test_changes_are_told_with_all_values_and_the_copy() -> None:
    card, ears = Card(), Ears()
    async with MockHost(DECLARED, copies=["a", "b"]).connected(card) as host:
        stop = card.settings.on_change(ears)
        host.set_setting("greeting", "hey", card="b")
        host.set_setting("paint", "#00ff00")
        assert await ears.until(3) == [
            ("card_2", {"greeting": "hey"}),
            ("card_1", {"greeting": "hi", "paint": "#00ff00"}),
            ("card_2", {"greeting": "hey", "paint": "#00ff00"}),
        ]
        stop()
        stop()
        await card.settings.set("greeting", None, card="card_2")
        assert (len(ears.heard), card.settings.value("greeting", card="card_2")) == (3, "hi")
        with pytest.raises(CardError, match="which copy"):
            card.settings.value("greeting")


async def test_a_listener_that_fails_stops_nothing() -> None:
    def fail(values: Mapping[str, Any], copy: str) -> None:
        raise RuntimeError(copy)

    card, ears = Card(), Ears()
    card.settings.on_change(fail)
    card.settings.on_change(ears)
    async with MockHost(DECLARED).connected(card):
        await card.settings.set("greeting", "hey")
        assert await ears.until(1) == [("card_1", {"greeting": "hey"})]


@pytest.mark.parametrize(
    ("key", "value", "code", "words"),
    [
        ("greeting", "too long", "invalid_param", "takes 5 characters"),
        ("every", 4, "invalid_param", "at least 5"),
        ("every", True, "invalid_param", "takes a number"),
        ("every", None, "invalid_param", "is required"),
        ("paint", "green", "invalid_param", "takes a color"),
        ("other", 1, "invalid_param", "no setting"),
        ("token", "mine", "permission_denied", "the user alone"),
    ],
)
async def test_a_card_sets_what_fits_and_is_no_secret(key: str, value: Any, code: str, words: str) -> None:
    card = Card()
    async with MockHost(DECLARED).connected(card):
        with pytest.raises(CardError, match=words) as refused:
            await card.settings.set(key, value)
        assert refused.value.code == code


async def test_at_a_new_connection_a_card_hears_what_has_changed_meanwhile() -> None:
    card, ears = Card(), Ears()
    card.settings.on_change(ears)
    async with MockHost(DECLARED).connected(card):
        assert ears.heard == []
    async with MockHost(DECLARED, settings={"greeting": "hey"}).connected(card):
        assert ears.heard == [("card_1", {"greeting": "hey"})]
