"""A large board on a host, and agents that call by way of its arrows, so many times a second; it measures no page."""

import itertools
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

AGENTS_SHARE = 5
"""One card in so many is an agent, the others are notes."""
SENDERS = 4
ROW, ACROSS, DOWN = 20, 320, 220


@dataclass
class Board:
    """A workspace, and the keys of the agents on it.

    Attributes:
        ways: for each arrow, the path of its agent's toolbox, the agent's key, and the note at its end.
    """

    url: str
    key: str
    workspace: str = ""
    cards: int = 0
    ways: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One REST request as the owner; the `data` of its answer.

        Raises:
            OSError: it was refused.
        """
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        headers = {"authorization": f"Bearer {self.key}", "content-type": "application/json"}
        connection.request(method, f"/api/v1{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status >= 300:
            raise OSError(f"{method} {path} was answered {answer.status}: {content[:200]!r}")
        return json.loads(content)["data"] if content else None


def make_board(url: str, key: str, cards: int, arrows: int) -> Board:
    """A workspace with so many cards, in rows, and so many arrows between its agents and its notes."""
    board = Board(url, key, cards=cards)
    board.workspace = board.ask("POST", "/workspaces", {"name": "large"})["id"]
    base = f"/workspaces/{board.workspace}"
    places = [(n % ROW * ACROSS, n // ROW * DOWN) for n in range(cards)]
    agents = [board.ask("POST", f"{base}/cards", {"kind": "agent", "x": x, "y": y}) for x, y in places[::AGENTS_SHARE]]
    notes = [place for n, place in enumerate(places) if n % AGENTS_SHARE]
    changes: list[dict[str, Any]] = [
        {"change": "add_card", "ref": f"n{n}", "kind": "note", "title": f"Note {n}", "x": x, "y": y, "content": _TEXT}
        for n, (x, y) in enumerate(notes)
    ]
    pairs = list(itertools.islice(_pairs(len(agents), len(notes)), arrows))
    changes += [{"change": "add_arrow", "source": agents[a]["id"], "target": f"n{n}"} for a, n in pairs]
    ids = board.ask("POST", f"{base}/edits", {"changes": changes})["ids"]
    board.ways = [(_path_of(agents[a]["toolbox_url"]), agents[a]["agent_key"], ids[f"n{n}"]) for a, n in pairs]
    return board


_TEXT = {"text": "What an agent reads here, again and again, is always the same."}


def _path_of(url: str) -> str:
    return urlsplit(url).path


def _pairs(agents: int, notes: int) -> Iterator[tuple[int, int]]:
    """Pairs of an agent and a note, near ones first, none twice."""
    for distance in range(notes):
        for agent in range(agents):
            yield agent, (agent * (AGENTS_SHARE - 1) + distance) % notes


class Traffic:
    """Calls by way of all arrows in turn, so many a second, until it is left.

    Attributes:
        failed: how many calls had no good answer.
    """

    def __init__(self, board: Board, calls_per_second: int) -> None:
        self._board = board
        self._pause_s = SENDERS / calls_per_second
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(SENDERS)]
        self._count = 0
        self._began = self._end = 0.0
        self._lock = threading.Lock()
        self.failed = 0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._end = time.monotonic()

    @property
    def calls_per_second(self) -> float:
        """How many calls a second there were in truth."""
        return self._count / (self._end - self._began)

    def _send(self, sender: int) -> None:
        connection = HTTPConnection(urlsplit(self._board.url).netloc, timeout=30)
        ways = itertools.cycle(self._board.ways[sender::SENDERS])
        due = time.monotonic()
        for number in itertools.count():
            due = max(due + self._pause_s, time.monotonic() - 1.0)  # what was missed for long is not caught up
            if self._ended.wait(max(0.0, due - time.monotonic())):
                break
            good = _call(connection, *next(ways), number)
            with self._lock:
                self._count += 1
                self.failed += not good
        connection.close()


def _call(connection: HTTPConnection, path: str, key: str, note: str, number: int) -> bool:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "note_read", "arguments": {"card": note}, "_meta": meta}
    headers = {
        "authorization": f"Bearer {key}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "note_read",
    }
    body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, HTTPException):
        connection.close()
        return False
    return answer.status == 200 and b"again and again" in content
