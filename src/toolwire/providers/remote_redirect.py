"""Where a browser comes back to after a sign-in: one address on 127.0.0.1, for as long as that takes.

It knows nothing of OAuth but the query of a redirect: `code`, `state`, `iss`, and `error`.
"""

import html
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream

from toolwire.providers.remote_auth import SignInFailed

PATH = "/callback"
HOST = "127.0.0.1"
MAX_HEAD_BYTES = 16 * 1024
READ_S = 10.0
DONE = "You are signed in. You can close this window."
FAILED = "You are not signed in. You can close this window; the program says why."
STRANGER = "This answer does not belong to a sign-in that is under way here."


class Loopback:
    """A listener on a free port, or on the one that is asked for.

    Args:
        listener: of `anyio.create_tcp_listener`.
    """

    def __init__(self, listener: anyio.abc.Listener[SocketStream]) -> None:
        self._listener = listener
        self._port: int = listener.extra(SocketAttribute.local_port)
        self._strangers = 0

    @classmethod
    async def open(cls, port: int = 0) -> "Loopback":
        """Listen on `port` of 127.0.0.1; 0 takes a free one.

        Raises:
            OSError: that port is taken.
        """
        return cls(await anyio.create_tcp_listener(local_host=HOST, local_port=port, backlog=16))

    @property
    def url(self) -> str:
        """What to give as `redirect_uri`."""
        return f"http://{HOST}:{self._port}{PATH}"

    async def aclose(self) -> None:
        """Listen no more."""
        await self._listener.aclose()

    async def answer(self, state: str, begin: Callable[[], Awaitable[None]], wait_s: float) -> dict[str, str]:
        """Begin the sign-in and wait for the browser; the parameters that it brings.

        Args:
            state: the one that was sent; an answer with another is turned away, and waited on.
            begin: shows the link; it may go on until the browser has been here.
            wait_s: how long the person may take, in seconds.

        Raises:
            SignInFailed: nobody came in time.
        """
        found: dict[str, str] = {}

        async def receive(stream: SocketStream) -> None:
            async with stream:
                query = await _query(stream)
                if query is None:
                    await _reply(stream, 404, "There is nothing here.")
                elif not secrets.compare_digest(query.get("state", "").encode(), state.encode()):
                    self._strangers += 1
                    await _reply(stream, 400, STRANGER)
                else:
                    await _reply(stream, 200, FAILED if "error" in query else DONE)
                    if not found:
                        found.update(query)
                        tasks.cancel_scope.cancel()

        failure: Exception | None = None
        with anyio.move_on_after(wait_s):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._listener.serve, receive)
                try:
                    await begin()
                except Exception as error:  # noqa: BLE001 -- raised below, where no group wraps it
                    failure = error
                    tasks.cancel_scope.cancel()
        if failure is not None and not found:
            raise SignInFailed(f"the link to sign in could not be shown: {failure}") from failure
        if not found:
            raise SignInFailed(f"nobody signed in within {wait_s:.0f} s{self._seen()}")
        return found

    def _seen(self) -> str:
        if not self._strangers:
            return ""
        return f"; {self._strangers} answers came whose state is not the one that was sent"


async def _query(stream: SocketStream) -> dict[str, str] | None:
    """The query of a GET on our path; `None` for anything else."""
    head = b""
    with anyio.move_on_after(READ_S):
        try:
            while b"\r\n\r\n" not in head and len(head) < MAX_HEAD_BYTES:
                head += await stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "GET" or b"\r\n\r\n" not in head:
        return None
    target = urlsplit(words[1])
    if target.path != PATH:
        return None
    return {name: values[0] for name, values in parse_qs(target.query).items()}


async def _reply(stream: SocketStream, status: int, text: str) -> None:
    page = f"<!doctype html><meta charset=utf-8><title>Toolwire</title><p>{html.escape(text)}".encode()
    head = (
        f"HTTP/1.1 {status} -\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(page)}\r\n"
        "cache-control: no-store\r\ncontent-security-policy: default-src 'none'\r\nreferrer-policy: no-referrer\r\n"
        "connection: close\r\n\r\n"
    )
    try:
        await stream.send(head.encode() + page)
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
