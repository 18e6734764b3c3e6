"""The mock host of Python cards says what a host says: one card, asked the same on both (cards.md §3, §7)."""

import base64
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import msgspec
import pytest

from tests.unit.canvas.cards import WireCard, desk_with, linked
from tests.unit.canvas.site import open_site
from tests.unit.card.manifests import GOOD, manifest
from toolwire.card import Card, CardError, ToolCall, tool_error, tool_image, tool_result
from toolwire.card.session import OpenWire
from toolwire.testing import MockHost

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
BAD = "\ud800"

Handle: TypeAlias = Callable[[dict[str, Any], ToolCall], Awaitable[Any]]
CallTool: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


class LinkWire:
    """A card's end of the host's link, without a socket."""

    def __init__(self, card: WireCard) -> None:
        self._card = card

    async def send(self, text: bytes) -> None:
        await self._card.say(text.decode())

    async def receive(self) -> bytes:
        return msgspec.json.encode(await self._card.next())


@asynccontextmanager
async def on_host(tmp_path: Path, declared: dict[str, Any], card: Card) -> AsyncGenerator[CallTool]:
    async with open_site(tmp_path / "data") as site:
        desk = await desk_with(site, tmp_path / "radar", declared)

        @asynccontextmanager
        async def opened() -> AsyncGenerator[LinkWire]:
            async with linked(site, desk.package) as linked_card:
                yield LinkWire(linked_card)

        open_wire: OpenWire = opened
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(card.serve, open_wire)
            await card.ready()

            async def call(arguments: dict[str, Any]) -> dict[str, Any]:
                return await desk.agent.call("test_radar_run_tests", **arguments)

            yield call
            tasks.cancel_scope.cancel()


@asynccontextmanager
async def on_mock(tmp_path: Path, declared: dict[str, Any], card: Card) -> AsyncGenerator[CallTool]:
    async with MockHost(declared).connected(card) as host:

        async def call(arguments: dict[str, Any]) -> dict[str, Any]:
            return msgspec.json.decode(msgspec.json.encode(await host.call_tool("run_tests", arguments)))

        yield call


async def results(tmp_path: Path, declared: dict[str, Any], handler: Handle, arguments: dict[str, Any]) -> list[Any]:
    """What an agent gets, of a host and of the mock."""
    found: list[Any] = []
    for place in (on_host, on_mock):
        card = Card()
        card.tools.handle("run_tests", handler)
        CARDS["now"] = card
        async with place(tmp_path, declared, card) as call:
            found.append(await call(arguments))
    return found


CARDS: dict[str, Card] = {}
"""The card that a handler below belongs to."""


def raising(error: Exception) -> Handle:
    async def handler(arguments: dict[str, Any], call: ToolCall) -> Any:
        raise error

    return handler


def returning(value: Any) -> Handle:
    async def handler(arguments: dict[str, Any], call: ToolCall) -> Any:
        return value

    return handler


OUTCOMES: list[Handle] = [
    returning(None),
    returning("text"),
    returning({"a": [1, None]}),
    returning({"content": [{"type": "text", "text": "x"}], "isError": True}),
    returning({"content": [{"type": "text", "text": "x"}] * 17}),
    returning({"content": [{"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/gif"}]}),
    returning(tool_error("Connect a terminal first.")),
    returning(tool_result("a", tool_image(PNG, caption="b"))),
    returning("x" * 1024 * 1024),
    returning(float("nan")),
    raising(ValueError("no such check")),
    raising(KeyError()),
    raising(OSError(f"no file {BAD}" + "x" * 5000)),
    raising(ExceptionGroup("both", [ValueError("one"), ValueError("two")])),
]


@pytest.mark.parametrize("number", range(len(OUTCOMES)))
async def test_agents_get_the_same_of_whatever_a_handler_does(tmp_path: Path, number: int) -> None:
    """cards.md 40-52."""
    host, mock = await results(tmp_path, GOOD, OUTCOMES[number], {})
    assert host == mock


@pytest.mark.parametrize("arguments", [{"filter": 3.5}, {"filter": "x" * 201}, {"filter": None}])
async def test_arguments_that_do_not_fit_are_refused_in_the_same_words(
    tmp_path: Path, arguments: dict[str, Any]
) -> None:
    """cards.md 10, 11: but for the name, which agents see in another form."""
    host, mock = await results(tmp_path, GOOD, returning("never"), arguments)
    text = host["content"][0]["text"].replace("test_radar_run_tests", "run_tests")
    assert host["isError"] is mock["isError"] is True
    assert text == mock["content"][0]["text"]


ASKING: dict[str, Callable[[Card], Awaitable[Any]]] = {
    "no terminal": lambda card: card.terminals.run("gone", "ls"),
    "typing into none": lambda card: card.terminals.write("gone", "ls"),
    "an empty key": lambda card: card.storage.set("", 1),
    "a long key": lambda card: card.storage.set("x" * 257, 1),
    "a large value": lambda card: card.storage.set("a", "x" * 2 * 1024 * 1024),
    "another copy": lambda card: card.storage.get("a", card="card_of_nobody"),
    "a value": lambda card: card.storage.get("a", 7),
    "keys": lambda card: card.storage.package.keys(),
    "a line about another": lambda card: card.log.info("x", card="card_of_nobody"),
    "a question without words": lambda card: card.ui.confirm(" "),
    "a tool that is not there": lambda card: card.tools.set_enabled("gone", False),
    "a setting that is not there": lambda card: card.settings.set("gone", 1),
    "a copy's peers": lambda card: card.agents.list(card="card_of_nobody"),
}


@pytest.mark.parametrize("asking", ASKING)
@pytest.mark.parametrize("permissions", [["agents.read", "terminals.write"], []])
async def test_cards_are_refused_alike(tmp_path: Path, asking: str, permissions: list[str]) -> None:
    """cards.md 66, 72-75, §3: with the same code, and the same words where they name nothing of one's own."""

    async def handler(arguments: dict[str, Any], call: ToolCall) -> Any:
        try:
            return ["good", await ASKING[asking](CARDS["now"])]
        except CardError as error:
            return ["refused", error.code]

    host, mock = await results(tmp_path, manifest(permissions=permissions), handler, {})
    assert host == mock
