"""`Client` and `AsyncClient`: a host's REST surface in groups of methods; neither knows a route."""

from types import TracebackType
from typing import Final, Generic, Self

import httpx2

from toolwire.client.agents import AgentCalls, KeyCalls
from toolwire.client.boards import CardCalls, PackageCalls, WorkspaceCalls
from toolwire.client.calls import CallCalls, TaskCalls
from toolwire.client.channels import ChannelCalls, DeliveryCalls
from toolwire.client.doors import TRIES, AsyncDoor, D, Rules, SyncDoor
from toolwire.client.files import FileCalls, WebhookCalls
from toolwire.client.owners import AuditCalls, BrowserCalls, GrantCalls, HostCalls
from toolwire.client.remotes import ConsentCalls, RemoteCalls
from toolwire.client.terminals import ConfirmationCalls, TerminalCalls
from toolwire.client.toolboxes import ToolboxCalls

TIMEOUT_S: Final = 130.0
"""A little longer than a host lets a request wait."""


class Groups(Generic[D]):
    """All methods, behind one door."""

    def __init__(self, door: D) -> None:
        self.door = door
        self.agents = AgentCalls(door)
        self.keys = KeyCalls(door)
        self.calls = CallCalls(door)
        self.tasks = TaskCalls(door)
        self.files = FileCalls(door)
        self.webhooks = WebhookCalls(door)
        self.workspaces = WorkspaceCalls(door)
        self.cards = CardCalls(door)
        self.packages = PackageCalls(door)
        self.toolboxes = ToolboxCalls(door)
        self.terminals = TerminalCalls(door)
        self.confirmations = ConfirmationCalls(door)
        self.channels = ChannelCalls(door)
        self.deliveries = DeliveryCalls(door)
        self.remotes = RemoteCalls(door)
        self.consents = ConsentCalls(door)
        self.grants = GrantCalls(door)
        self.browsers = BrowserCalls(door)
        self.audit = AuditCalls(door)
        self.host = HostCalls(door)


class Client(Groups[SyncDoor]):
    """A host's REST surface; each method returns its answer. Use it in a `with` block, or `close` it.

    Args:
        url: the host's address, such as `http://127.0.0.1:8094`.
        key: an `oag_`, `bak_` or `agk_` key; what it opens, the reference says.
        timeout_s: how long the host may say nothing.
        tries: how often a request that is idempotent is sent at most, when it is refused for now or gets lost. The
            host's Retry-After is waited for.
        transport: carries the requests; for tests.

    Raises:
        ValueError: the address is none.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = TIMEOUT_S,
        tries: int = TRIES,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        super().__init__(SyncDoor(Rules(url, key, timeout_s, tries), transport))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close its connections."""
        self.door.close()


class AsyncClient(Groups[AsyncDoor]):
    """The same for asyncio and trio: each method is awaited. Use it in an `async with` block, or `close` it.

    The parameters are those of `Client`.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = TIMEOUT_S,
        tries: int = TRIES,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(AsyncDoor(Rules(url, key, timeout_s, tries), transport))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close its connections."""
        await self.door.close()
