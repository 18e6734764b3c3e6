"""REST: webhooks of agents and of tasks, and what became of their deliveries; it keeps and sends nothing itself.

Spec: gateway.md 34, 38, D24, §6 (Webhooks). The same routes stand below an agent, for all of its calls, and below one
task.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import InvalidParam
from toolwire.gateway.auth import Identity
from toolwire.gateway.rest import Reader
from toolwire.gateway.webhook_record import Webhook
from toolwire.gateway.webhooks import REPLAYABLE, Wanted, Webhooks
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer, done, query_number
from toolwire.wire.answers.webhooks import RegisteredWebhook, Replayed, SentEvent

BODY_LIMIT_BYTES = 64 * 1024
MAX_LISTED, LISTED = 200, 50


class Replay(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `replay`: which of the deliveries that were given up; times are RFC 3339."""

    status: list[Literal["failed", "dead_letter"]] | None = None
    since: datetime | None = None
    until: datetime | None = None


class WebhookRoutes:
    """The routes of webhooks, for `oag_` and `bak_` keys.

    Args:
        reader: reads requests.
        webhooks: all webhooks.
    """

    def __init__(self, reader: Reader, webhooks: Webhooks) -> None:
        self._reader = reader
        self._webhooks = webhooks

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        agent = "/api/v1/agents/{agent}"
        return [route for base in (agent, f"{agent}/tasks/{{task}}") for route in self._below(f"{base}/webhooks")]

    def _below(self, base: str) -> Sequence[Route]:
        deliveries = f"{base}/{{webhook}}/deliveries"
        return (
            Route(base, self.register, methods=["POST"]),
            Route(base, self.list, methods=["GET"]),
            Route(f"{base}/{{webhook}}", self.show, methods=["GET"]),
            Route(f"{base}/{{webhook}}", self.remove, methods=["DELETE"]),
            Route(f"{base}/{{webhook}}/replay", self.replay, methods=["POST"]),
            Route(deliveries, self.deliveries, methods=["GET"]),
            Route(f"{deliveries}/{{delivery}}/redeliver", self.redeliver, methods=["POST"]),
        )

    @described("oag bak", RegisteredWebhook, 201, body=Wanted, errors="conflict")
    async def register(self, request: Request) -> Response:
        """Register a webhook; to the same URL again it changes what is there."""
        identity, agent_id, task_id = self._asking(request)
        wanted = await self._reader.body(request, Wanted, BODY_LIMIT_BYTES)
        if task_id is None:
            webhook = await self._webhooks.stand(identity, agent_id, wanted)
        else:
            webhook = await self._webhooks.attach(identity, agent_id, task_id, wanted)
        return answer(webhook.shown(), 201)

    @described("oag bak", list[RegisteredWebhook])
    async def list(self, request: Request) -> Response:
        """The webhooks there."""
        return answer([one.shown() for one in await self._webhooks.list(*self._asking(request))])

    @described("oag bak", RegisteredWebhook)
    async def show(self, request: Request) -> Response:
        """One webhook."""
        return answer((await self._found(request)).shown())

    @described("oag bak")
    async def remove(self, request: Request) -> Response:
        """Delete a webhook; nothing more is sent."""
        await self._webhooks.remove(await self._found(request))
        return done()

    @described(
        "oag bak",
        Sequence[SentEvent],
        parameters=(query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_LISTED)]),),
    )
    async def deliveries(self, request: Request) -> Response:
        """The newest deliveries of a webhook."""
        webhook = await self._found(request)
        limit = query_number(request, "limit", LISTED, 1, MAX_LISTED)
        return answer([one.shown() for one in await self._webhooks.deliveries(webhook, limit)])

    @described("oag bak", SentEvent, 202, errors="conflict")
    async def redeliver(self, request: Request) -> Response:
        """Send a delivery that was given up once more."""
        webhook = await self._found(request)
        again = await self._webhooks.redeliver(webhook, str(request.path_params["delivery"]))
        return answer(again.shown(), 202)

    @described("oag bak", Replayed, 202, body=Replay)
    async def replay(self, request: Request) -> Response:
        """Send all deliveries that were given up once more."""
        webhook = await self._found(request)
        body = await self._reader.body(request, Replay, BODY_LIMIT_BYTES)
        since = -math.inf if body.since is None else _seconds(body.since, "since")
        until = math.inf if body.until is None else _seconds(body.until, "until")
        states = REPLAYABLE if body.status is None else body.status
        return answer({"replayed": await self._webhooks.replay(webhook, states, since, until)}, 202)

    async def _found(self, request: Request) -> Webhook:
        return await self._webhooks.find(*self._asking(request), str(request.path_params["webhook"]))

    def _asking(self, request: Request) -> tuple[Identity, str, str | None]:
        identity = self._reader.identify(request, "oag", "bak")
        task = request.path_params.get("task")
        return identity, self._reader.agent(request, identity).agent_id, None if task is None else str(task)


def _seconds(at: datetime, param: str) -> float:
    if at.tzinfo is None:
        raise InvalidParam(f"{param} needs a time zone, such as 2026-01-31T12:00:00Z", param=param)
    return at.timestamp()
