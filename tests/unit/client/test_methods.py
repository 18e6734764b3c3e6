"""The methods of the client ask what the document describes, all of it, and read what it promises."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

import msgspec
import pytest
from msgspec.structs import fields

from tests.unit.canvas.site import open_site
from toolwire.client import Client, Registration, Terms, Which
from toolwire.client.asks import Ask, Watch
from toolwire.client.contents import Pull, Pulling
from toolwire.client.doors import Group, Method, Pieces, Stream
from toolwire.surfaces.openapi import Operation, operations_of
from toolwire.wire.answers.files import AnnouncedFile, File

TERMS = Terms(idempotency_key="k", context_id="x", attachments=({"file_id": "x"},), timeout_ms=1)
WHICH = Which(agent="x", tool="x", statuses=("failed",), surface="x", caller="x")
VALUES: dict[str, Any] = {
    "place": (1.0, 2.0, 3.0, 4.0),
    "size": (3.0, 4.0),
    "version": 1,
    "content": b"x",
    "arguments": {},
    "values": {},
    "answers": {},
    "registration": Registration(name="x"),
    "terms": TERMS,
    "which": WHICH,
    "start": 5,
}
FOR_BROWSERS: Final = ("signin", "consent", "other")
"""Tags of what no client of the REST surface asks for: pages, and OAuth, which an OAuth client speaks."""
ANSWERS: dict[Any, Any] = {
    AnnouncedFile: msgspec.convert(
        {
            "file_id": "x",
            "filename": "x",
            "content_type": "x",
            "upload_url": "http://h.test/api/v1/files/x/content?expires=1&signature=x",
            "upload_expires_in": 1,
            "download_url": "http://h.test/api/v1/files/x/content?expires=1&signature=x",
            "download_expires_in": 1,
            "max_bytes": 1,
        },
        AnnouncedFile,
    ),
    File: msgspec.convert(
        {
            "file_id": "x",
            "filename": "x",
            "content_type": "x",
            "size": 9,
            "created_at": "x",
            "expires_at": "x",
            "download_url": "http://h.test/api/v1/files/x/content?expires=1&signature=x",
            "download_expires_in": 1,
        },
        File,
    ),
}
EVENTS: Final = ("TaskCalls.events", "WorkspaceCalls.events", "CallCalls.watch")


def requests_of(wanted: Any) -> Iterator[Ask[Any]]:
    """Every request of what a method wants."""
    if isinstance(wanted, Ask):
        yield cast(Ask[Any], wanted)
    elif isinstance(wanted, Watch):
        yield cast(Watch[Any], wanted).ask
    elif isinstance(wanted, Pull):
        yield wanted.ask
        yield Pulling(wanted).again(ANSWERS[File])
    else:
        answer: Any = None
        try:
            while True:
                ask: Ask[Any] = wanted.send(answer)
                yield ask
                answer = ANSWERS.get(ask.answers)
        except StopIteration:
            return


def methods() -> Iterator[tuple[str, Any]]:
    """Every method of every group of a client, by its name."""
    with Client("http://h.test", "oag_x") as client:
        groups: list[Any] = [type(cast(Any, one)) for one in vars(client).values() if isinstance(one, Group)]
    for group in groups:
        attributes = cast(dict[str, Any], vars(group))
        for name, value in attributes.items():
            if isinstance(value, Method | Stream | Pieces):
                yield f"{group.__name__}.{name}", cast(Any, value).__wrapped__


def asked() -> list[tuple[str, Ask[Any]]]:
    """Every method's requests, with its least and with all of its parameters."""
    found: list[tuple[str, Ask[Any]]] = []
    for name, make in methods():
        parameters = list(inspect.signature(make).parameters.values())[1:]
        everything = {one.name: VALUES.get(one.name, "x") for one in parameters}
        least = {one.name: everything[one.name] for one in parameters if one.default is one.empty}
        without_task = {key: value for key, value in everything.items() if key != "task_id" or key in least}
        for given in (least, everything, without_task):
            found += [(name, ask) for ask in requests_of(make(None, **given))]
    return found


def path_of(ask: Ask[Any]) -> str:
    return ask.path.removeprefix("http://h.test").partition("?")[0]


@pytest.fixture
async def operations(tmp_path: Path) -> list[Operation]:
    async with open_site(tmp_path) as site:
        routes = [*site.host.gateway.routes, *site.host.canvas.routes]
    return list(operations_of(routes))


def asks(ask: Ask[Any], operation: Operation) -> bool:
    pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(operation.path))
    return ask.method.lower() == operation.method and re.fullmatch(pattern, path_of(ask)) is not None


async def test_every_method_asks_a_route_that_is_there_for_what_it_answers(operations: list[Operation]):
    found = asked()
    assert len(found) > 200
    for name, ask in found:
        there = [one.description for one in operations if asks(ask, one)]
        assert there, f"{name} asks {ask.method} {ask.path}"
        if name not in EVENTS and not ask.lines and ask.answers is not bytes:
            promised = [repr(one.answers).replace("collections.abc.Sequence", "list") for one in there]
            wanted = None if ask.answers is type(None) else ask.answers
            assert repr(wanted) in promised, name
        sent = {parameter.name for one in there for parameter in one.parameters}
        assert set(ask.query) <= sent, name


async def test_every_route_is_asked_by_a_method_with_all_that_it_takes(operations: list[Operation]):
    found = asked()
    for operation in operations:
        if operation.tag in FOR_BROWSERS:
            continue
        label = f"{operation.method.upper()} {operation.path}"
        there = [ask for _, ask in found if asks(ask, operation)]
        assert there, f"no method of the client asks {label}"
        headers = {header.lower() for ask in there for header in ask.headers}
        named = {name for ask in there for name in ask.query} | {"expires", "signature"}  # these are in the address
        for parameter in operation.description.parameters:
            if parameter.where == "query":
                assert parameter.name in named, f"{parameter.name} of {label}"
            elif parameter.name != "Last-Event-ID":  # `events.Reading` sends it
                assert parameter.name.lower() in headers, f"{parameter.name} of {label}"
        body = operation.description.body
        if isinstance(body, type) and issubclass(body, msgspec.Struct) and body.__struct_fields__:
            given = {name for ask in there if ask.content for name in msgspec.json.decode(ask.content)}
            taken = {one.encode_name for one in fields(body)}
            if "idempotency-key" in headers:
                taken.discard("idempotency_key")
            assert given == taken, f"body of {label}"
