"""REST: whether the process lives and whether it can do its work; open to all, and it says nothing else.

Spec: gateway.md 1 (`GET /healthz`).
"""

from collections.abc import Sequence

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import ServiceUnavailable
from toolwire.core.ports import Clock, Put, Store
from toolwire.surfaces.described import described
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.agents import Health, Readiness

PROBE_EVERY_S = 1.0
"""One look at the store answers everybody who asks within this time: asking costs a write, and needs no key."""

PROBE_TIMEOUT_S = 5.0


class HealthRoutes:
    """`/healthz` and `/readyz`."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._probing = anyio.Lock()
        self._probed_at = float("-inf")
        self._problem: str | None = None

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/healthz", self.healthz, methods=["GET"]),
            Route("/readyz", self.readyz, methods=["GET"]),
        )

    @described(answers=Health)
    async def healthz(self, request: Request) -> Response:
        """The process answers."""
        return answer({"status": "ok"})

    @described(answers=Readiness)
    async def readyz(self, request: Request) -> Response:
        """The store can be written: calls are taken."""
        async with self._probing:
            if anyio.current_time() - self._probed_at >= PROBE_EVERY_S:
                self._problem = await self._probe()
                self._probed_at = anyio.current_time()
        if self._problem is not None:
            raise ServiceUnavailable(self._problem, store="unavailable")
        return answer({"status": "ready", "store": "ok"})

    async def _probe(self) -> str | None:
        """What is wrong with the store, or `None`."""
        try:
            with anyio.fail_after(PROBE_TIMEOUT_S):
                await self._store.tx([Put("probe", "", "readyz", b"", expires_at=self._clock.now() + 60)])
        except TimeoutError:
            return f"the store has not answered within {PROBE_TIMEOUT_S:g} s"
        except ServiceUnavailable as error:
            return error.told
        return None
