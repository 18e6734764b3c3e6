"""What docs/how-to/ask-the-client.md says of asking is so, on both revisions."""

from typing import Any

import pytest

from docs_src.ask_the_client.tutorial001 import BOOKED, server
from tests.interaction.answering import ABLE, Asked, by_method, form
from tests.interaction.bench import Gate
from tests.interaction.cells import CELLS, talking
from tests.interaction.requirement import Cell
from toolwire.server import Server

on_every_cell = pytest.mark.parametrize("cell", CELLS)


def trips(gate: Gate) -> Server:
    return server


@on_every_cell
async def test_a_trip_is_booked_once_or_not_at_all(cell: Cell):
    BOOKED.clear()
    async with talking(cell, trips, ABLE) as talk:
        client = Asked(talk, by_method(elicit=form(to="Rome", seat="aisle")))
        assert await client.text("book") == "Booked: Rome, aisle seat."
        assert BOOKED == ["Rome"]
        client.answer = by_method(elicit={"action": "decline"})
        assert await client.text("book") == "Nothing was booked."


@on_every_cell
async def test_the_model_the_page_and_two_things_at_once_are_asked_for(cell: Cell):
    async with talking(cell, trips, ABLE) as talk:
        client = Asked(talk, by_method(elicit=form(to="Rome"), sample="Old stones."))
        assert await client.text("describe", {"place": "Rome"}) == "Old stones."
        assert await client.text("pack") == "Rome: tickets go to ['file:///home']"
        assert await client.text("quick") == "Rome"
        client.answer = by_method(elicit={"action": "accept"})
        assert await client.text("pay") == "Thank you."


@on_every_cell
async def test_a_client_that_cannot_be_asked_is_told_so_or_done_without(cell: Cell):
    none: dict[str, Any] = {}
    async with talking(cell, trips, none) as talk:
        client = Asked(talk, by_method(), none)
        assert (await client.say("tools/call", {"name": "book"}))["error"]["code"] == -32021
        assert await client.text("quick") == "Paris, as always."
