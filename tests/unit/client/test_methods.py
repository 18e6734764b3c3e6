"""The methods of the client ask what the document describes, and read what it promises."""

import inspect
import re
from pathlib import Path
from typing import Any, cast

import pytest
from starlette.routing import Route

from tests.unit.canvas.site import open_site
from toolwire.client.agents import AgentCalls, KeyCalls
from toolwire.client.asks import Ask, Watch
from toolwire.client.boards import CardCalls, PackageCalls, WorkspaceCalls
from toolwire.client.calls import CallCalls, TaskCalls
from toolwire.client.doors import Group, Method, Stream
from toolwire.client.files import FileCalls, WebhookCalls
from toolwire.surfaces.described import Described, description_of

GROUPS: tuple[type[Group[Any]], ...] = (
    AgentCalls,
    KeyCalls,
    CallCalls,
    TaskCalls,
    FileCalls,
    WebhookCalls,
    WorkspaceCalls,
    CardCalls,
    PackageCalls,
)
VALUES: dict[str, Any] = {
    "place": (1.0, 2.0),
    "size": (3.0, 4.0),
    "version": 1,
    "content": b"x",
    "arguments": {},
    "answers": {},
}


def first(wanted: Any) -> Ask[Any]:
    """The first request of what a method wants."""
    if isinstance(wanted, Ask):
        return cast(Ask[Any], wanted)
    return cast(Watch[Any], wanted).ask if isinstance(wanted, Watch) else next(wanted)


def asked() -> list[tuple[str, Ask[Any]]]:
    """Every method, with its least and with all of its parameters, and the first request that it makes."""
    found: list[tuple[str, Ask[Any]]] = []
    for group in GROUPS:
        for name, value in vars(group).items():
            if isinstance(value, Method | Stream):
                make: Any = cast(Any, value).__wrapped__
                parameters = list(inspect.signature(make).parameters.values())[1:]
                needed = {one.name: VALUES.get(one.name, "x") for one in parameters if one.default is one.empty}
                with_task = {"task_id": "x"} if any(one.name == "task_id" for one in parameters) else {}
                for given in (needed, needed | with_task):
                    wanted: Any = make(None, **given)
                    found.append((f"{group.__name__}.{name}", first(wanted)))
    return found


@pytest.fixture
async def described(tmp_path: Path) -> list[tuple[str, re.Pattern[str], Described]]:
    async with open_site(tmp_path) as site:
        routes = [*site.host.gateway.routes, *site.host.canvas.routes]
    found: list[tuple[str, re.Pattern[str], Described]] = []
    for route in routes:
        assert isinstance(route, Route)
        described = description_of(route.endpoint)
        assert described is not None
        pattern = re.compile(re.sub(r"{\w+(:\w+)?}", "[^/]+", route.path))
        found += [(method, pattern, described) for method in route.methods or ()]
    return found


async def test_every_method_asks_a_route_that_is_there_for_what_it_answers(
    described: list[tuple[str, re.Pattern[str], Described]],
):
    asks = asked()
    assert len(asks) > 100
    for name, ask in asks:
        there = [found for method, path, found in described if method == ask.method and path.fullmatch(ask.path)]
        assert there, f"{name} asks {ask.method} {ask.path}"
        if name not in ("TaskCalls.events", "WorkspaceCalls.events", "CallCalls.watch"):
            answers = [repr(found.answers).replace("collections.abc.Sequence", "list") for found in there]
            assert repr(ask.answers) in answers, name
        sent = {parameter.name for found in there for parameter in found.parameters}
        assert set(ask.query) <= sent, name
