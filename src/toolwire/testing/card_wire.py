"""A connection between a card and a mock host in one process; it does not know what the messages say."""

from collections import deque

import anyio

from toolwire.card.errors import WireLost


class _Mailbox:
    """Messages in one direction."""

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()
        self._news = anyio.Event()
        self._is_cut = False

    def put(self, message: bytes) -> None:
        """Leave a message."""
        self._messages.append(message)
        self._news.set()

    def cut(self) -> None:
        """Nothing comes any more."""
        self._is_cut = True
        self._news.set()

    async def get(self) -> bytes:
        """The next message.

        Raises:
            WireLost: none comes any more.
        """
        while not self._messages:
            if self._is_cut:
                raise WireLost("the host has hung up")
            self._news = anyio.Event()
            await self._news.wait()
        return self._messages.popleft()


class MemoryWire:
    """A connection: `send` and `receive` are the card's end (`card.session.Wire`), `post` and `asked` the host's."""

    def __init__(self) -> None:
        self._to_host, self._to_card = _Mailbox(), _Mailbox()
        self._is_cut = False

    async def send(self, text: bytes) -> None:
        """See `card.session.Wire.send`."""
        if self._is_cut:
            raise WireLost("the host has hung up")
        self._to_host.put(text)

    async def receive(self) -> bytes:
        """See `card.session.Wire.receive`."""
        return await self._to_card.get()

    def post(self, text: bytes) -> None:
        """Tell the card."""
        self._to_card.put(text)

    async def asked(self) -> bytes:
        """What the card says next."""
        return await self._to_host.get()

    def cut(self) -> None:
        """End it."""
        self._is_cut = True
        self._to_card.cut()
