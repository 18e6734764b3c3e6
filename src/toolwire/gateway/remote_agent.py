"""A remote MCP server as an agent of the gateway: its calls go to it, its tools are registered; it keeps no pins.

Arguments are checked by the catalogue before they come here, and the definitions are pinned by the `Upstream`. What it
has beside tools is not registered but shown as it was listed last.
"""

import logging
from collections.abc import Callable, Sequence

import anyio

from toolwire.core.call import Call
from toolwire.core.change import Change, ListChanged
from toolwire.core.errors import (
    AgentOffline,
    ConsentRequired,
    InvalidParam,
    OutcomeUnknown,
    ToolNotFound,
    ToolwireError,
)
from toolwire.core.handler import Emit
from toolwire.core.ports import Op
from toolwire.core.result import Result
from toolwire.core.taking import say_taken
from toolwire.core.tool import Tool
from toolwire.gateway.agents import Agents
from toolwire.gateway.registration import check_skills
from toolwire.providers.agent import Settler
from toolwire.providers.remote_offer import LOOK_S, RemoteOffer
from toolwire.providers.remote_pool import RemotePool
from toolwire.providers.remote_upstream import About, Upstream
from toolwire.providers.schema import compile_validator
from toolwire.wire.link import Registration, Skill

logger = logging.getLogger("toolwire.gateway")

CLOSE_S = 5.0


class RemoteAgent:
    """One remote server while the gateway runs.

    Args:
        agent_id: the agent that it is.
        pool: the sessions with it.
        upstream: its tools, pinned.
        agents: where they are registered.

    Attributes:
        offer: its resources, prompts and completions.
    """

    def __init__(self, agent_id: str, pool: RemotePool, upstream: Upstream, agents: Agents) -> None:
        self.agent_id = agent_id
        self.upstream = upstream
        self.offer = RemoteOffer(upstream)
        self._pool = pool
        self._agents = agents
        self._about = About("", "", "")
        self._settled = False
        self._settling = anyio.Lock()
        self._news = anyio.Event()
        self._scope = anyio.CancelScope()

    @property
    def connected(self) -> bool:
        """Whether there is a connection now."""
        return self._pool.connected

    async def settle(self) -> None:
        """Have the server's lists once, held against what was accepted; before that nothing of it is called.

        Raises:
            ServiceUnavailable: the server cannot be reached, or does not list its tools.
        """
        async with self._settling:
            if not self._settled:
                await self.upstream.renew()
                self._about = await self.upstream.about()
                await self.publish()
                self._settled = True

    async def call(self, call: Call, emit: Emit) -> Result:
        """Run a call on the server.

        Raises:
            ConsentRequired: the tool is another than was accepted.
            ToolwireError: as `Upstream.call`.
        """
        if not self._settled:
            await self.settle()
        say_taken(emit)
        try:
            return await self.upstream.call(call, emit)
        except (ConsentRequired, ToolNotFound):  # the server lists others by now
            self._news.set()
            raise

    async def look(self) -> None:
        """Notice what has changed unheard, for one who lists; see `surfaces.endpoint.Library.look`."""
        try:
            with anyio.move_on_after(LOOK_S):
                if not self._settled:
                    await self.settle()
                elif "tools" in await self.upstream.look():
                    await self.publish()
        except ToolwireError as error:
            logger.debug("remote server %s: %s", self.agent_id, error.message)

    async def watch(self, uri: str) -> None:
        """Tell of changes of a resource from now on, too, if the server does.

        Raises:
            ServiceUnavailable: it cannot be reached.
        """
        await self.upstream.watch(uri)

    async def publish(self) -> None:
        """Register the tools that may be shown now.

        Raises:
            ToolwireError: as `Agents.sync`.
        """
        about = self._about
        skills = tuple(skill for tool in self.upstream.tools() if (skill := self._skill(tool)) is not None)
        completes = "completions" in about.offers
        registration = Registration(about.title or about.name, about.version, skills=skills, completions=completes)
        await self._agents.sync(self.agent_id, registration, by_gateway=True)

    async def keep(self) -> None:
        """Follow what the server says to have changed, until `aclose`."""
        with self._scope:
            try:
                await self.settle()
            except ToolwireError as error:
                logger.warning("remote server %s: %s", self.agent_id, error.message)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self.upstream.follow, self._tell)
                tasks.start_soon(self._publish_news)

    async def aclose(self) -> None:
        """Close all connections; calls under way fail."""
        self._scope.cancel()
        with anyio.CancelScope(shield=True), anyio.move_on_after(CLOSE_S):
            await self._pool.aclose()

    def _tell(self, change: Change) -> None:
        if change == ListChanged("tools"):
            self._news.set()
        else:
            self._agents.tell(self.agent_id, change)

    async def _publish_news(self) -> None:
        while True:
            await self._news.wait()
            self._news = anyio.Event()
            try:
                await self.publish()
            except ToolwireError as error:
                logger.warning("remote server %s: its tools stay as they were: %s", self.agent_id, error.message)

    def _skill(self, tool: Tool) -> Skill | None:
        """The tool as an agent registers one; `None` for one that cannot be offered here, the others can."""
        skill = Skill(
            tool.name,
            tool.description,
            tool.input_schema,
            tool.output_schema,
            tool.title,
            tool.annotations,
            tool.icons,
            may_ask=True,
            task=None if tool.task == "never" else tool.task,
            meta=tool.meta,
        )
        try:
            check_skills([skill], compile_validator)
        except InvalidParam as error:
            logger.warning("remote server %s: a tool is left out: %s", self.agent_id, error.message)
            return None
        return skill


class RemoteDelegate:
    """What runs the calls of a remote agent; see `core.handler.Delegate`.

    Args:
        agent_id: the agent.
        find: the server behind it, if it runs here.
        settler: looks after files in answers, and after answers that are too large.
    """

    def __init__(self, agent_id: str, find: Callable[[str], RemoteAgent | None], settler: Settler) -> None:
        self.agent_id = agent_id
        self._find = find
        self._settler = settler

    def tools(self) -> Sequence[Tool]:
        """None: the gateway keeps the agent's catalogue itself."""
        return ()

    async def attach(self, call: Call) -> Call:
        """Refuse: an MCP server has no way to take files."""
        raise InvalidParam(
            "this agent is a remote MCP server, which takes no attachments; pass what its tool takes as arguments",
            param="arguments.attachments",
        )

    def ready(self, call: Call, tool: Tool) -> None:
        """Refuse where no server is behind the agent; see `core.handler.Delegate.ready`."""
        self._server()

    def claim_ops(self, call: Call, tool: Tool) -> Sequence[Op]:
        """Nothing goes along with the claim."""
        return ()

    def unclaim(self, call: Call) -> None:
        """Nothing was made for it."""

    def end_ops(self, call: Call) -> Sequence[Op]:
        """Nothing goes along with the end."""
        return ()

    def ended(self, call: Call, committed: bool) -> None:
        """Nothing is kept of it."""

    async def call(self, call: Call, emit: Emit) -> Result:
        """Run a call on the server; see `RemoteAgent.call`."""
        result = await self._server().call(call, emit)
        settler = self._settler
        return await settler.settle(call, result) if settler.concerns(result) else result

    async def resume(self, call: Call, emit: Emit) -> Result:
        """A server keeps no journal: how a call from before a restart ended is not known.

        Raises:
            OutcomeUnknown: always.
        """
        raise OutcomeUnknown(f"the gateway stopped while {call.tool!r} ran; check before you call it again")

    def _server(self) -> RemoteAgent:
        found = self._find(self.agent_id)
        if found is None:
            raise AgentOffline("the remote server behind this agent cannot be used; its owner can add it anew")
        return found
