"""What is fuzzed: each target takes any bytes and raises where a promise is broken. It makes no inputs.

The promise of mcp.md: no input makes a 5xx, a hang, a second response or a mistake of ours.
"""

import contextlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import anyio
import msgspec

from tests.fuzz.connections import connection
from tests.fuzz.site import PAGE, PATIENCE_S, Site
from tests.interaction.bench import BOTH
from tests.interaction.cells import SECRET
from tests.interaction.stdio import Lines
from toolwire.adapters.clock import SystemClock
from toolwire.adapters.memory import MemoryStore
from toolwire.core.call import Caller
from toolwire.core.errors import InvalidParam, InvalidRequest, SessionNotFound, ToolwireError
from toolwire.core.jsontypes import as_object
from toolwire.engine.recorder import Recorder
from toolwire.surfaces.event_ids import EventIds, Mark
from toolwire.surfaces.sealing import Seal
from toolwire.surfaces.sessions import Sessions
from toolwire.wire.card import read_from_host, read_request
from toolwire.wire.jsonrpc import Message, decode
from toolwire.wire.link import decode_from_agent, decode_from_gateway

Target: TypeAlias = Callable[[Site, bytes], None]

CORPUS = Path(__file__).parent / "corpus"
CODES = {-32700, -32600, -32601, -32602, -32603, -32000, -32001, -32002, -32003, -32020, -32021, -32022, -32042}
MAX_INPUT_BYTES = 16 * 1024
"""Beyond it there is nothing new to find, and a pipe no longer takes it in one piece."""

_TOKEN = frozenset(b"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz")
_VERBS = frozenset(["GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD"])


def http(site: Site, data: bytes) -> None:
    """A whole request as text: `VERB PATH`, headers, an empty line, the body; `$SESSION` and `$PAGE` stand for ours."""
    site.run(_ask, site, data)
    assert site.mistakes.found == []


async def _ask(site: Site, data: bytes) -> None:
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    words = first.decode("latin-1").split()
    verb = words[0] if words and words[0] in _VERBS else "POST"
    path = words[1] if len(words) > 1 and words[1].isascii() and words[1].startswith("/") else "/mcp"
    headers = {"accept": BOTH, "content-type": "application/json", **_headers_in(site, lines)}
    pieces = [body[start : start + 100] for start in range(0, len(body), 100)] if b"x-pieces" in head else [body]
    answer = site.client.start(verb, path, headers, *pieces)
    with anyio.fail_after(PATIENCE_S):
        await answer.started.wait()
        is_stream = answer.headers.get("content-type") == "text/event-stream"
        lasts = is_stream and (verb == "GET" or b"subscriptions" in body)
        if lasts:
            answer.leave()  # else it would go on for as long as its client stays
        await answer.ended.wait()
        if not lasts:
            _check_answer(answer.status, answer.headers, await answer.body(), _request_in(body))


def _headers_in(site: Site, lines: list[bytes]) -> dict[str, Any]:
    """Headers as a server would pass them on: names are tokens, values have no line ends."""
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(b":")
        name = name.strip().lower()
        if not name or not _TOKEN.issuperset(name):
            continue
        value = value.strip().replace(b"\r", b"").replace(b"\0", b"")
        value = value.replace(b"$SESSION", site.session.encode()).replace(b"$PAGE", PAGE.encode())
        key = name.decode()
        before = found.get(key)
        found[key] = value if before is None else [*(before if isinstance(before, list) else [before]), value]
    return found


def _request_in(body: bytes) -> Message | None:
    try:
        message = decode(body)
    except ToolwireError:
        return None
    return message if isinstance(message, Message) and message.is_request else None


def _check_answer(status: int, headers: Mapping[str, str], body: bytes, request: Message | None) -> None:
    assert status < 500, (status, body)
    assert SECRET.encode() not in body
    assert b"Traceback" not in body
    if headers.get("content-type") == "text/event-stream":
        messages = [json.loads(data) for data in _data_of(body)]
        responses = [message for message in messages if "method" not in message]
        assert messages[-1:] == responses, "one response, and it is the last"
        _check_response(responses[0], request)
    elif body and headers.get("content-type") == "application/json":
        said = json.loads(body)
        if "jsonrpc" in said:  # else it was no path of ours
            _check_response(said, request)
    else:
        assert (status in (200, 202, 204), body) == (True, b""), (status, body)
    if request is not None and status == 200:
        assert body, "a request is answered"


def _data_of(body: bytes) -> list[bytes]:
    lines = [line for line in body.split(b"\n") if line.startswith(b"data: ")]
    return [line.removeprefix(b"data: ") for line in lines]


def _check_response(said: Any, request: Message | None) -> None:
    assert said["jsonrpc"] == "2.0"
    assert ("result" in said) != ("error" in said), said
    if request is not None and said["id"] is not None:
        assert said["id"] == json.loads(request.id), said
    if "error" in said:
        assert said["error"]["code"] in CODES, said
        assert said["error"]["data"]["code"], said


def stdio(site: Site, data: bytes) -> None:
    """All that one client writes to a server's standard input."""
    site.run(_talk, site, data[:MAX_INPUT_BYTES])
    assert site.mistakes.found == []


async def _talk(site: Site, data: bytes) -> None:
    (their_source, our_sink), (our_source, their_sink) = os.pipe(), os.pipe()
    lines = Lines(our_source, our_sink, PATIENCE_S)
    said: list[Any] = []

    async def serve() -> None:
        try:
            await site.served.serve_lines(their_source, their_sink, anyio.Event())
        finally:
            os.close(their_source)
            os.close(their_sink)

    try:
        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(serve)
                await lines.send(data)
                lines.end()
                said = await lines.messages()
    finally:
        lines.leave()
    _check_lines(data, said)


def _check_lines(data: bytes, said: list[Any]) -> None:
    asked = [line for line in data.split(b"\n") if line.strip()]
    responses = [message for message in said if "method" not in message]
    assert len(responses) <= len(asked)
    owed = Counter(_key(json.loads(request.id)) for line in asked if (request := _request_in(line)) is not None)
    named = Counter(_key(id_) for line in asked for id_ in _ids_in(line))
    for response in responses:
        _check_response(response, None)
    answered = Counter(_key(response["id"]) for response in responses if "result" in response)
    assert answered <= owed, f"answered more often than asked: {answered - owed}"
    said_of = Counter(_key(response["id"]) for response in responses if response["id"] is not None)
    assert said_of <= named, f"more said of it than asked: {said_of - named}"


def _key(id_: Any) -> str:
    """7 and "7" are two ids, 1 and 1.0 and true are too."""
    return json.dumps(id_)


def _ids_in(line: bytes) -> list[Any]:
    """The id of what could pass for a request; that of an answer is one of the server's."""
    request = _request_in(line)
    if request is not None:  # also where a member that nobody reads is no UTF-8
        return [json.loads(request.id)]
    try:
        message = as_object(msgspec.json.decode(line.decode("utf-8", "replace")))
    except (msgspec.DecodeError, RecursionError):
        return []
    if message is None or "id" not in message:
        return []
    is_answer = "method" not in message and not {"result", "error"}.isdisjoint(message)
    return [] if is_answer else [message["id"]]


def tokens(site: Site, data: bytes) -> None:
    """What clients keep for us and send back: ids of sessions and events, states, and what is made from good ones."""
    site.run(_open_tokens, data)


async def _open_tokens(data: bytes) -> None:
    caller = Caller("alice", "alice", "mcp")
    ids = EventIds(b"secret")
    good = ids.mint(Mark("call", "call_1", 3, request_id="7"), b"alice")
    text = data.decode("latin-1")
    for spoilt in (text, good[: len(text)] + text, text + good, good + text):
        if spoilt != good:
            with contextlib.suppress(InvalidRequest):
                assert ids.read(spoilt, b"alice") == ids.read(good, b"alice")  # another spelling of the same
        with contextlib.suppress(InvalidRequest):
            ids.read(spoilt, b"mallory")
            raise AssertionError(f"somebody else's event id was taken: {spoilt!r}")
    _open_states(text)
    await _open_sessions(text, caller)


def _open_states(text: str) -> None:
    seal = Seal(b"secret", SystemClock())
    good = seal.close("call_1", {"0": {"action": "accept"}}, ["alice", "tool"])
    for spoilt in (text, good[: len(text)] + text, text + good, good + text):
        with contextlib.suppress(InvalidParam):
            seal.open(spoilt, ["alice", "tool"])
            assert spoilt == good, f"a state that is not ours was taken: {spoilt!r}"
        with contextlib.suppress(InvalidParam):
            seal.open(spoilt, ["mallory", "tool"])
            raise AssertionError(f"somebody else's state was taken: {spoilt!r}")


async def _open_sessions(text: str, caller: Caller) -> None:
    clock = SystemClock()
    store = MemoryStore(clock)
    sessions = Sessions(store, Recorder(store), clock, b"secret", 3600.0)
    good = sessions.mint(caller, "agent").id
    for spoilt in (text, good[: len(text)] + text, text + good):
        if spoilt != good:
            with contextlib.suppress(SessionNotFound):
                await sessions.find(spoilt, caller, "agent")
                raise AssertionError(f"a session id that nobody was given was taken: {spoilt!r}")


def link(site: Site, data: bytes) -> None:
    """Frames of agents and cards, of either side: they are read or refused, as bytes and as text."""
    for read in (decode_from_agent, decode_from_gateway, read_request, read_from_host):
        for frame in (data, data.decode("utf-8", "replace")):
            with contextlib.suppress(ToolwireError):
                read(frame)


TARGETS: dict[str, Target] = {
    "http": http,
    "connection": connection,
    "stdio": stdio,
    "tokens": tokens,
    "link": link,
}


def seeds_of(name: str) -> list[Path]:
    """The inputs that a target begins with."""
    return sorted((CORPUS / name).iterdir())
