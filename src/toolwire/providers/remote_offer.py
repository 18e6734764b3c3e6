"""What one MCP server offers beside tools, as an endpoint serves it: its prompts pinned; it lists nothing itself.

Resources, templates and what completes their arguments are data of the server's, and pass as they are.
"""

import logging
from collections.abc import Sequence
from typing import Final

import anyio

from toolwire.core.call import Call
from toolwire.core.errors import ToolwireError
from toolwire.core.handler import Emit
from toolwire.core.prompt import Completion, Prompt, PromptResult, Reference
from toolwire.core.resource import Resource, ResourceTemplate
from toolwire.core.result import ResourceContents
from toolwire.providers.remote_upstream import Upstream

LOGGER = logging.getLogger("toolwire.remote")

LOOK_S: Final = 5.0
"""How long whoever lists waits for a server that may have changed; then it is shown what was listed last."""


class RemoteOffer:
    """`Resources`, `Prompts` and `Completions` of one server in one.

    Args:
        upstream: the server.
    """

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._library = upstream.library

    async def look(self) -> None:
        """Have all lists as new as they must be for one who lists; see `surfaces.endpoint.Library.look`."""
        try:
            with anyio.move_on_after(LOOK_S):
                await self._upstream.look()
        except ToolwireError as error:
            LOGGER.debug("%s", error.message)

    def resources(self) -> Sequence[Resource]:
        """See `core.resource.Resources.resources`."""
        return self._library.resources()

    def templates(self) -> Sequence[ResourceTemplate]:
        """See `core.resource.Resources.templates`."""
        return self._library.templates()

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """See `core.resource.Resources.read`."""
        return await self._library.read(uri, call, emit)

    def prompts(self) -> Sequence[Prompt]:
        """The prompts as they may be shown: one whose definition has changed, as it was accepted."""
        return self._upstream.prompts()

    async def get(self, name: str, call: Call, emit: Emit) -> PromptResult:
        """See `core.prompt.Prompts.get`.

        Raises:
            ConsentRequired: the definition is another than the accepted one.
        """
        await self._upstream.check_prompt(name)
        return await self._library.get(name, call, emit)

    async def complete(self, ref: Reference, argument: str, value: str, call: Call, emit: Emit) -> Completion:
        """See `core.prompt.Completions.complete`.

        Raises:
            ConsentRequired: it is for a prompt whose definition is another than the accepted one.
        """
        if ref.kind == "prompt":
            await self._upstream.check_prompt(ref.name)
        return await self._library.complete(ref, argument, value, call, emit)
