"""Keeps a worker attached to its gateway, link after link, until the gateway refuses it; it does not answer messages.

How bytes travel is the business of a `Socket`; the one over WebSocket is in websocket.py.
"""

import logging
import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, TypeAlias

import anyio
import msgspec

from toolwire.agent.reads import refusal
from toolwire.agent.worker import Worker
from toolwire.core.error_rows import ERRORS
from toolwire.core.errors import InvalidRequest
from toolwire.wire.link import FromGateway, Refused, Welcome, decode_from_gateway, encode_frames

RETRY_FIRST_S: Final = 0.2
RETRY_MOST_S: Final = 5.0
STEADY_S: Final = 5.0
"""A link that lived as long was a good one: the next attempt comes at once. Two processes with one key, which push each
other out, do not get here."""

WELCOME_S: Final = 20.0
CONFLICTS_MOST: Final = 3

LATE_S: Final = 2.0
"""So late may the event loop be before the author is told."""

_log = logging.getLogger("toolwire.agent")
_split = msgspec.json.Decoder(list[msgspec.Raw]).decode


class LinkLost(Exception):
    """The link could not be opened or is gone; the text says why. Trying again may help."""


class Socket(Protocol):
    """An open link."""

    @property
    def has_more(self) -> bool:
        """Whether `receive` would come back at once."""
        ...

    async def send(self, data: bytes) -> None:
        """Send one message of text.

        Raises:
            LinkLost: the link is gone.
        """
        ...

    def send_now(self, data: bytes) -> bool:
        """Send one message of text without waiting; `False` says that `send` has to, or that the link is gone."""
        ...

    async def receive(self) -> bytes:
        """The next message of text.

        Raises:
            LinkLost: the link is gone.
        """
        ...


OpenSocket: TypeAlias = Callable[[], AbstractAsyncContextManager[Socket]]
"""Opens a link. Raises `LinkLost` if that may work another time, a `ToolwireError` if it never will."""


class Link:
    """One agent's attachment to one gateway.

    Args:
        worker: answers the messages.
        open_socket: opens a link.
        where: the gateway's address, for the log.
    """

    def __init__(self, worker: Worker, open_socket: OpenSocket, where: str) -> None:
        self._worker = worker
        self._open_socket = open_socket
        self._where = where
        self._welcomed = anyio.Event()
        self._attempts = 0
        self._told_lost = False
        self._conflicts = 0
        self._attached = False
        self.agent_id = ""

    @property
    def attached(self) -> bool:
        """Whether the gateway can reach the agent now."""
        return self._attached

    async def wait_attached(self) -> str:
        """Wait until the agent has been attached for the first time; its id."""
        await self._welcomed.wait()
        return self.agent_id

    async def keep(self) -> None:
        """Stay attached, for ever.

        Raises:
            ToolwireError: the gateway refuses this agent, and trying again would not help.
        """
        while True:
            try:
                async with self._open_socket() as socket:
                    await self._converse(socket)
            except LinkLost as lost:
                self._tell_lost(lost)
            await anyio.sleep(self._pause_s())

    async def watch_loop(self) -> None:
        """Tell the author, for ever, when something has kept the event loop from turning."""
        while True:
            due = anyio.current_time() + 1.0
            await anyio.sleep_until(due)
            late = anyio.current_time() - due
            if late > LATE_S:
                _log.warning(
                    "the event loop stood still for %.1f s: a tool does blocking work in an `async def`; "
                    "declare it with `def`, and it gets a thread",
                    late,
                )

    async def _converse(self, socket: Socket) -> None:
        first, *rest = await self._greet(socket)
        self._worker.attached(first)
        self._tell_attached(first)
        began = anyio.current_time()
        lost = LinkLost("closed")
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, socket)
                try:
                    self._take(rest, socket)
                    while True:
                        self._take(frames_of(await socket.receive()), socket)
                except LinkLost as error:
                    lost = error
                tasks.cancel_scope.cancel("the link is gone")
        finally:
            self._attached = False
            self._worker.detached()
            if anyio.current_time() - began >= STEADY_S:
                self._attempts = 0
        raise lost

    async def _greet(self, socket: Socket) -> "tuple[Welcome, *tuple[FromGateway, ...]]":
        await socket.send(encode_frames([self._worker.hello()]))
        with anyio.move_on_after(WELCOME_S):
            match frames_of(await socket.receive()):
                case [Welcome() as welcome, *rest]:
                    return (welcome, *rest)
                case [Refused() as refused, *_]:
                    self._give_up_on(refused)
                    raise LinkLost(f"refused: {refused.message}")
                case _:
                    raise LinkLost("it does not speak the agent link's protocol")
        raise LinkLost(f"no welcome within {WELCOME_S:.0f} s")

    def _give_up_on(self, refused: Refused) -> None:
        """Raise what trying again will not help. A `conflict` may pass, or be another delivery mode, which will not."""
        row = ERRORS.get(refused.code)
        self._conflicts = self._conflicts + 1 if refused.code == "conflict" else 0
        stuck = self._conflicts >= CONFLICTS_MOST and not self._welcomed.is_set()
        if stuck or (row is not None and not row.retryable):
            raise refusal(refused)

    def _take(self, frames: list[FromGateway], socket: Socket) -> None:
        """Act on what came with one message.

        What is answered at once leaves when all that has come is taken, without waking the writer.
        """
        outgoing = self._worker.outgoing
        outgoing.hold()
        for frame in frames:
            self._worker.take(frame)
        if not socket.has_more:
            outgoing.release(socket.send_now)

    async def _write(self, socket: Socket) -> None:
        """Write whatever there is, a message at a time; that the link is gone is the reader's to tell."""
        try:
            while True:
                await socket.send(await self._worker.outgoing.take())
        except LinkLost:
            return

    def _tell_attached(self, welcome: Welcome) -> None:
        self._attached = True
        self.agent_id = welcome.agent_id
        self._told_lost = False
        _log.info("attached to %s as %s", self._where, welcome.agent_id)
        self._welcomed.set()

    def _tell_lost(self, lost: LinkLost) -> None:
        if not self._told_lost:
            self._told_lost = True
            _log.warning("no link to %s: %s; trying again until there is", self._where, lost)

    def _pause_s(self) -> float:
        """Doubles from attempt to attempt, and differs from agent to agent, so that they do not all come at once."""
        most = min(RETRY_FIRST_S * 2**self._attempts, RETRY_MOST_S)
        self._attempts = min(self._attempts + 1, 10)
        return random.uniform(most / 2, most)


def frames_of(data: bytes) -> list[FromGateway]:
    """The frames in a message; those that are not of this protocol are passed over and logged."""
    try:
        return list(decode_from_gateway(data))
    except InvalidRequest as error:
        _log.warning("the gateway sent %d bytes that are no frames: %s", len(data), error.message)
    frames: list[FromGateway] = []
    try:
        parts = _split(data)
    except (msgspec.DecodeError, RecursionError):
        return frames
    for part in parts:
        try:
            frames.extend(decode_from_gateway(bytes(part)))
        except InvalidRequest:
            continue
    return frames
