"""`WS /api/v1/agents/link`, as a bare ASGI callable: lets agent processes in, and has their links closed.

What is said on a link is attached_link.py's business. Protocol: wire/link.py.
"""

import logging
from collections.abc import MutableMapping
from functools import partial
from typing import Any

from toolwire.core.errors import ToolwireError
from toolwire.core.ports import Clock
from toolwire.gateway.agent_record import AgentRecord
from toolwire.gateway.agents import Agents
from toolwire.gateway.attached_link import FAILED, REPLY_LIMIT_BYTES, AttachedLink, Ended
from toolwire.gateway.auth import Auth
from toolwire.gateway.channels import Channels
from toolwire.gateway.presence import Presence
from toolwire.surfaces.limits import credentials_in
from toolwire.surfaces.web_sockets import POLICY, Receive, Send, refuse_handshake

logger = logging.getLogger("toolwire.gateway")


class AgentLinks:
    """`WS /api/v1/agents/link`: one agent process a connection.

    Args:
        auth: finds out whose key it is.
        agents: takes registrations.
        presence: the desks.
        channels: the message service.
        clock: wall time.
        reply_limit_bytes: the largest payload of a message that an agent publishes.
    """

    def __init__(
        self,
        auth: Auth,
        agents: Agents,
        presence: Presence,
        channels: Channels,
        clock: Clock,
        reply_limit_bytes: int = REPLY_LIMIT_BYTES,
    ) -> None:
        self._clock = clock
        self._reply_limit_bytes = reply_limit_bytes
        self._auth = auth
        self._agents = agents
        self._presence = presence
        self._channels = channels
        self._links: set[AttachedLink] = set()
        agents.on_removed(self._close_removed)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one WebSocket from its handshake to its end."""
        if (await receive())["type"] != "websocket.connect":
            return
        try:
            identity = self._auth.identify_as(credentials_in(scope["headers"]), "agk")
        except ToolwireError as error:
            await refuse_handshake(scope, send, error)
            return
        limit = self._reply_limit_bytes
        link = AttachedLink(identity, self._agents, self._presence, self._channels, self._clock, send, limit)
        self._links.add(link)
        try:
            with self._auth.held_open.of(identity.key_id).opened(partial(link.end, POLICY, "its key was revoked")):
                await send({"type": "websocket.accept"})
                await link.serve(receive)
        except Exception:
            logger.exception("the link of agent %s failed inside the server", identity.agent_id)
            await link.close(Ended(FAILED, "internal_error"))
        finally:
            self._links.discard(link)

    def _close_removed(self, record: AgentRecord) -> None:
        for link in self._links:
            if link.agent_id == record.agent_id:
                link.end(POLICY, "the agent was removed")
        self._presence.forget(record.agent_id)
