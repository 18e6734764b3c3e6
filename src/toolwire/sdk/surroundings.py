"""What a client opens besides its tasks: the storage, the built-in tools' services, remote servers; it runs nothing."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from toolwire.sdk.hosting.host import Host
from toolwire.sdk.messages import LLMRequest, Message, Provider, TextBlock
from toolwire.sdk.options import HostConfig, Options, RemoteTools
from toolwire.sdk.tool import DecoratedTool

LOGGER = logging.getLogger("toolwire.sdk")


class Surroundings:
    """Opened when they are first needed, closed together, and opened again after that if need be."""

    def __init__(self, options: Options, config: HostConfig) -> None:
        self.config = config
        self._options = options
        self._storage: Any = None
        self._services: Any = None
        self._remote: RemoteTools | None = None
        self.provider: Provider | None = None
        self.model = ""
        self.linger = False

    @property
    def in_memory(self) -> bool:
        """Whether there is no storage to open."""
        return self.config.storage_path is None

    async def open_host(self) -> Host:
        """A host on the storage.

        Raises:
            StoreUnavailable: the storage is in use or cannot be used.
        """
        if self.config.storage_path is None:
            return Host(self.config)
        from toolwire.sdk.hosting.storage import use_storage  # noqa: PLC0415 -- memory does without it

        self._storage = await use_storage(self.config.storage_path)
        return Host(self.config, self._storage.store, True, self._storage.contents)

    def builtin(self, workspace_dir: Path, names: Sequence[str]) -> tuple[DecoratedTool, ...]:
        """The built-in tools of these names, over `workspace_dir`."""
        from toolwire.sdk.builtin import Services, Workspace, builtin_tools  # noqa: PLC0415 -- loaded when selected

        if self._services is None:
            config = self.config
            self._services = Services(
                ask=self._ask,
                web_search_url=config.web_search_url,
                web_search_key=config.web_search_key,
                web_private_hosts=config.webfetch_private_hosts,
                shell_env=config.shell_env,
            )
        return builtin_tools(Workspace(workspace_dir), self._services, names)

    def remote(self) -> RemoteTools | None:
        """Where remote tools come from, if the client has any."""
        if self.config.remote_tools is not None:
            return self.config.remote_tools
        if self.config.mcp_server_resolver is None and self._options.toolbox is None:
            return None
        if self._remote is None:
            from toolwire.sdk.remote.servers import remote_tools  # noqa: PLC0415 -- loads the MCP client

            self._remote = remote_tools(self._options, self.config)
        return self._remote

    async def aclose(self) -> None:
        """Let go of everything; what raises does not keep the rest open. The provider is its maker's to close."""
        remote, self._remote = self._remote or self.config.remote_tools, None
        services, self._services = self._services, None
        for resource in (remote, services):
            close = getattr(resource, "aclose", None)
            if callable(close):
                await _closed(close)
        storage, self._storage = self._storage, None
        if storage is not None:
            await storage.release(self.linger)

    async def _ask(self, text: str) -> str:
        """Put a question of a built-in tool to the model."""
        from toolwire.sdk.turns.model_call import complete  # noqa: PLC0415 -- built-in tools alone ask on the side

        if self.provider is None:
            raise LookupError("there is no model to ask")
        model = self._options.webfetch_model or self.model
        request = LLMRequest(model=model, messages=[Message("user", [TextBlock(text)])])
        answer = await complete(self.provider, request)
        return "".join(block.text for block in answer.content if isinstance(block, TextBlock))


async def _closed(close: Any) -> None:
    try:
        await close()
    except Exception:
        LOGGER.exception("something could not be closed")
