"""Who hears what a tool logs: whoever asked, on the older wire for the session, on the newer with the request."""

from typing import Any

import pytest

from tests.interaction.bench import NEW, OLD, Peer
from tests.interaction.cells import EVERY_CELL, Talk, talking
from tests.interaction.requirements import HTTP_2025, Cell, proves
from tests.interaction.requirements import OLD as OLD_CELLS

LEVEL_KEY = "io.modelcontextprotocol/logLevel"
SAID = [("debug", "fine"), ("info", "1 done"), ("error", "bad"), ("critical", "worse")]
on_every_cell = pytest.mark.parametrize("cell", EVERY_CELL)
on_older_cells = pytest.mark.parametrize("cell", sorted(OLD_CELLS, key=EVERY_CELL.index))


async def heard(talk: Talk, level: str | None) -> list[tuple[str, str]]:
    """What a client that asks for `level` hears of a call before its result."""
    params: dict[str, Any] = {"name": "log"}
    if level is not None and talk.era == NEW:
        params["_meta"] = {LEVEL_KEY: level}
    elif level is not None:
        assert await talk.result("logging/setLevel", {"level": level}) == {}
    *before, last = await talk.say("tools/call", params)
    assert last["result"]["content"][0]["text"] == "logged"
    assert all(each["method"] == "notifications/message" for each in before)
    assert all(each["params"]["logger"] == "toolwire.tool" for each in before)
    return [(each["params"]["level"], each["params"]["data"]) for each in before]


@proves("logging.levels")
@on_every_cell
@pytest.mark.parametrize(
    ("level", "first"),
    [("debug", 0), ("info", 1), ("notice", 2), ("warning", 2), ("error", 2), ("critical", 3), ("emergency", 4)],
)
async def test_a_client_hears_from_the_level_on_that_it_asked_for(cell: Cell, level: str, first: int):
    async with talking(cell) as talk:
        assert await heard(talk, level) == SAID[first:]


@proves("logging.asked")
@on_every_cell
async def test_a_client_that_asked_for_nothing_hears_nothing(cell: Cell):
    async with talking(cell) as talk:
        assert await heard(talk, None) == []


@proves("logging.levels")
@on_every_cell
@pytest.mark.parametrize("level", ["verbose", "INFO", 3, {}])
async def test_a_level_that_does_not_exist_is_refused(cell: Cell, level: Any):
    async with talking(cell) as talk:
        if talk.era == NEW:
            error = await talk.error("tools/call", {"name": "log", "_meta": {LEVEL_KEY: level}})
        else:
            error = await talk.error("logging/setLevel", {"level": level})
        assert error["code"] == -32602


@proves("logging.asked")
@on_older_cells
async def test_a_level_holds_until_it_is_set_again(cell: Cell):
    async with talking(cell) as talk:
        assert await heard(talk, "error") == SAID[2:]
        assert await heard(talk, None) == SAID[2:]
        assert await heard(talk, "critical") == SAID[3:]
        assert await heard(talk, None) == SAID[3:]


@proves("logging.asked", HTTP_2025)
async def test_a_level_holds_for_its_session_alone():
    async with talking(HTTP_2025) as talk:
        assert talk.peer is not None
        assert await heard(talk, "debug") == SAID
        without = Talk(HTTP_2025, talk.server, talk.gate, Peer(talk.peer.client, OLD), None)
        assert without.peer is not None
        other = Talk(HTTP_2025, talk.server, talk.gate, await without.peer.session(), None)
        assert await heard(other, None) == []
        assert await without.result("logging/setLevel", {"level": "debug"}) == {}
        assert await heard(without, None) == []
        assert await heard(talk, None) == SAID


@proves("logging.asked")
@on_every_cell
async def test_a_level_of_one_request_is_not_that_of_the_next(cell: Cell):
    async with talking(cell) as talk:
        if talk.era == NEW:
            assert await heard(talk, "debug") == SAID
            assert await heard(talk, None) == []
        else:
            params = {"name": "log", "_meta": {LEVEL_KEY: "debug"}}
            assert len(await talk.say("tools/call", params)) == 1


@proves("logging.asked")
@on_every_cell
async def test_who_reads_a_resource_hears_of_it_too(cell: Cell):
    async with talking(cell) as talk:
        talk.gate.release.set()
        params: dict[str, Any] = {"uri": "notes://held"}
        if talk.era == NEW:
            params["_meta"] = {LEVEL_KEY: "warning"}
        else:
            await talk.result("logging/setLevel", {"level": "warning"})
        told, last = await talk.say("resources/read", params)
        assert (told["params"]["level"], told["params"]["data"]) == ("warning", "slow")
        assert "result" in last


@proves("logging.asked", HTTP_2025)
async def test_a_client_that_takes_json_alone_gets_the_result_alone():
    async with talking(HTTP_2025) as talk:
        await talk.result("logging/setLevel", {"level": "debug"})
        [message] = await talk.rest(await talk.begin("tools/call", {"name": "log"}, accept="application/json"))
        assert "result" in message
