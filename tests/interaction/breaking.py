"""A proxy on a socket whose connections break when a test says so; it knows nothing of HTTP."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, SocketStream

GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Proxy:
    """Passes connections on to a port of this machine."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._scopes: set[anyio.CancelScope] = set()
        self._passed = b""
        self._more = anyio.Event()
        self.port = 0

    async def passed(self, text: bytes) -> None:
        """Wait until a client was sent this."""
        while text not in self._passed:
            await self._more.wait()

    def cut(self) -> int:
        """Break all connections that there are; says how many."""
        count = len(self._scopes)
        for scope in tuple(self._scopes):
            scope.cancel()
        return count

    async def pass_on(self, client: SocketStream) -> None:
        """One connection."""
        with anyio.CancelScope() as scope:
            self._scopes.add(scope)
            try:
                async with (
                    client,
                    await anyio.connect_tcp("127.0.0.1", self._target) as server,
                    anyio.create_task_group() as tasks,
                ):
                    tasks.start_soon(_pump, client, server, tasks.cancel_scope)
                    tasks.start_soon(_pump, server, client, tasks.cancel_scope, self._note)
            finally:
                self._scopes.discard(scope)

    def _note(self, data: bytes) -> None:
        self._passed += data
        self._more.set()
        self._more = anyio.Event()


async def _pump(
    source: ByteReceiveStream,
    sink: ByteSendStream,
    scope: anyio.CancelScope,
    note: Callable[[bytes], None] | None = None,
) -> None:
    with suppress(*GONE):
        async for data in source:
            await sink.send(data)
            if note is not None:
                note(data)
    scope.cancel()


@asynccontextmanager
async def proxied(port: int) -> AsyncGenerator[Proxy]:
    """A proxy to `port` until the block ends."""
    proxy = Proxy(port)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        proxy.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        tasks.start_soon(listener.serve, proxy.pass_on)
        yield proxy
        tasks.cancel_scope.cancel()
