"""REST: how agents of any language fetch their messages (gateway.md §3, §6); it keeps and delivers nothing itself."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.gateway.deliveries import MAX_BLOCK_S, MAX_READ, Deliveries, Fetched
from toolwire.gateway.rest import Reader
from toolwire.gateway.routes_channels import message_shown, unless_gone
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.channels import Delivery, DeliveryIds, Lease
from toolwire.wire.rest import rfc3339

Journal = Annotated[str, Meta(min_length=1, max_length=128)]
MAX_BLOCK_MS = int(MAX_BLOCK_S * 1000)


class Reading(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `deliveries/read`.

    `journal` names the memory in which the reader keeps what it has taken; a message that this memory has taken comes
    to no other. Without it the key stands for one.
    """

    max: Annotated[int, Meta(ge=1, le=MAX_READ)] = 10
    block_ms: Annotated[int, Meta(ge=0, le=MAX_BLOCK_MS)] = 0
    journal: Journal | None = None


class Named(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `deliveries/ack`, `nack` and `renew`; `journal` as in the read that gave them."""

    delivery_ids: Annotated[list[str], Meta(max_length=1000)]
    journal: Journal | None = None


class DeliveryRoutes:
    """The routes of deliveries, for an agent with its `agk_` key.

    Args:
        reader: reads requests.
        deliveries: what is fetched.
    """

    def __init__(self, reader: Reader, deliveries: Deliveries) -> None:
        self._reader = reader
        self._deliveries = deliveries

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        base = "/api/v1/agents/{agent}/deliveries"
        return (
            Route(f"{base}/read", self.read, methods=["POST"]),
            Route(f"{base}/ack", self.ack, methods=["POST"]),
            Route(f"{base}/nack", self.nack, methods=["POST"]),
            Route(f"{base}/renew", self.renew, methods=["POST"]),
        )

    @described("agk", list[Delivery], body=Reading, errors="conflict")
    async def read(self, request: Request) -> Response:
        """Fetch messages, and wait for them when there are none."""
        identity = self._reader.identify(request, "agk")
        agent_id = self._reader.own_agent(request, identity).agent_id
        body = await self._reader.body(request, Reading)

        async def reading() -> Sequence[Fetched]:
            journal, block_s = body.journal or identity.key_id, body.block_ms / 1000
            return await self._deliveries.read(agent_id, journal, body.max, block_s)

        fetched = await unless_gone(request, self._reader.hold(identity), reading)
        return answer(
            [
                {
                    "delivery_id": one.delivery_id,
                    "lease_until": rfc3339(one.lease_until),
                    "redelivered": one.redelivered,
                    "message": message_shown(one.message),
                }
                for one in fetched
            ]
        )

    @described("agk", DeliveryIds, body=Named)
    async def ack(self, request: Request) -> Response:
        """The replies to these are published."""
        agent_id, journal, named = await self._named(request)
        return answer({"delivery_ids": self._deliveries.ack(agent_id, journal, named)})

    @described("agk", DeliveryIds, body=Named)
    async def nack(self, request: Request) -> Response:
        """These were not begun; deliver them again."""
        agent_id, journal, named = await self._named(request)
        return answer({"delivery_ids": self._deliveries.nack(agent_id, journal, named)})

    @described("agk", list[Lease], body=Named)
    async def renew(self, request: Request) -> Response:
        """These are still being worked on."""
        agent_id, journal, named = await self._named(request)
        renewed = self._deliveries.renew(agent_id, journal, named)
        return answer([{"delivery_id": one, "lease_until": rfc3339(until)} for one, until in renewed])

    async def _named(self, request: Request) -> tuple[str, str, list[str]]:
        identity = self._reader.identify(request, "agk")
        agent_id = self._reader.own_agent(request, identity).agent_id
        body = await self._reader.body(request, Named)
        return agent_id, body.journal or identity.key_id, body.delivery_ids
