"""What the providers share: one way to ask, to listen, to ask again and to reckon; it knows no wire.

A `Wire` says how a request is built and sent and who puts its answer together; everything else is the same for all.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Protocol

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.messages import Delta, ImageBlock, LLMRequest, LLMResponse, OnDelta, ToolResultBlock, Usage
from toolwire.sdk.models.connections import Connections
from toolwire.sdk.models.failure import Place, client_failure
from toolwire.sdk.models.pricing import Prices
from toolwire.sdk.models.retry import Retries

CONNECT_TIMEOUT_S = 10.0
"""How long the opening of a connection may take; a server that is there answers this in milliseconds."""

_REST_S = 2.0
"""How long what follows a complete answer is waited for: a count of tokens, the end of the stream."""


class Answer(Protocol):
    """Puts an answer together from its parts."""

    @property
    def complete(self) -> bool:
        """Whether it has come to its end; something may still follow, such as a count of tokens."""
        ...

    def take(self, event: JsonObject) -> Sequence[Delta]:
        """Add one part; what of it a reader may see at once."""
        ...

    def response(self) -> LLMResponse:
        """The whole answer."""
        ...


class Wire(Protocol):
    """How one API is asked."""

    def body(self, request: LLMRequest) -> JsonObject:
        """What to send; may load pictures, and so block."""
        ...

    def answer(self, request: LLMRequest) -> Answer:
        """Who puts the answer together."""
        ...

    async def send(self, client: Any, body: JsonObject, *, streaming: bool) -> Any:
        """Send it: a stream of events, or the whole answer, as the client has them."""
        ...


class Settings(Struct, frozen=True, kw_only=True):
    """What every provider is told.

    Attributes:
        sdk: the module of the official client.
        wire: how the API is asked.
        place: who is asked.
        timeout_s: how long nothing may come from the server before it counts as gone.
        retries: when it is asked again.
        prices: what answers cost.
        extra_body: fields that go into every request as they are, and win.
        streams_only: streams are used even when nobody listens to them.
    """

    sdk: ModuleType
    wire: Wire
    place: Place
    timeout_s: float
    retries: Retries
    prices: Prices
    extra_body: Mapping[str, Any]
    streams_only: bool = False


class HostedModel:
    """A model behind a server: the base of the providers, which satisfy `messages.Provider` through it."""

    def __init__(self, settings: Settings, connections: Connections) -> None:
        if settings.timeout_s <= 0:
            raise ValueError(f"timeout_s must be more than 0, got {settings.timeout_s!r}")
        self._settings = settings
        self._connections = connections
        self._expected = _expected_errors(settings.sdk)

    async def complete(self, request: LLMRequest) -> LLMResponse:
        """Answer `request` (sdk.md 74-77).

        Raises:
            ProviderError: no answer; `retryable` says whether asking later may help.
        """
        return await self._ask(request, None)

    async def stream(self, request: LLMRequest, on_delta: OnDelta) -> LLMResponse:
        """Answer `request`, and tell the parts of the answer as they come.

        Raises:
            ProviderError: no answer. Once a part was told, nothing is asked again here, whatever `retryable` says.
        """
        return await self._ask(request, on_delta)

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """What one response of `model` cost, in US dollars; `None` where no price is known."""
        return self._settings.prices.cost_usd(model, usage)

    async def aclose(self) -> None:
        """Let go of the connections of this event loop; the provider can be used again."""
        await self._connections.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._settings.place.who})"

    async def _ask(self, request: LLMRequest, on_delta: OnDelta | None) -> LLMResponse:
        body = await self._body_of(request)
        told = 0

        def tell(delta: Delta) -> None:
            nonlocal told
            told += 1
            if on_delta is not None:
                on_delta(delta)

        async def once() -> LLMResponse:
            return await self._try(request, body, None if on_delta is None else tell)

        who = f"{self._settings.place.who} ({request.model})"
        response = await self._settings.retries.keep_asking(once, lambda: told > 0, who)
        usage = msgspec.structs.replace(response.usage, cost_usd=self.cost_usd(request.model, response.usage))
        return msgspec.structs.replace(response, usage=usage)

    async def _body_of(self, request: LLMRequest) -> JsonObject:
        def build() -> JsonObject:
            return {**self._settings.wire.body(request), **self._settings.extra_body}

        if not _has_images(request):
            return build()
        # Loading may read a disk, and Base64 of megabytes holds up everybody else on the loop.
        from anyio import to_thread  # noqa: PLC0415 - heavy, and most conversations have no picture

        return await to_thread.run_sync(build)

    async def _try(self, request: LLMRequest, body: JsonObject, tell: OnDelta | None) -> LLMResponse:
        settings = self._settings
        answer = settings.wire.answer(request)
        async with self._connections.client() as client:
            if tell is not None or settings.streams_only:
                await self._listen(client, body, answer, tell)
            else:
                with self._failures(), anyio.fail_after(settings.timeout_s):
                    answer.take(_json_of(await settings.wire.send(client, body, streaming=False)))
        if not answer.complete:
            raise settings.place.failure(
                "the stream ended before the answer did; if this goes on, check the base_url", retryable=True
            )
        with self._failures():
            return answer.response()

    async def _listen(self, client: Any, body: JsonObject, answer: Answer, tell: OnDelta | None) -> None:
        with self._failures(), anyio.fail_after(self._settings.timeout_s):
            stream = await self._settings.wire.send(client, body, streaming=True)
        async with stream:
            while True:
                with self._failures():
                    event = await self._next(stream, answer.complete)
                    if event is None:
                        return
                    deltas = answer.take(_json_of(event))
                if tell is not None:
                    for delta in deltas:
                        tell(delta)

    async def _next(self, stream: Any, complete: bool) -> Any:
        """The next event, or `None` at the end, which is not waited for long when the answer is complete."""
        timeout_s = self._settings.timeout_s
        try:
            with anyio.fail_after(min(_REST_S, timeout_s) if complete else timeout_s):
                return await stream.__anext__()
        except StopAsyncIteration:
            return None
        except self._expected:
            if complete:
                return None  # nothing that follows is worth losing an answer for
            raise

    @contextmanager
    def _failures(self) -> Generator[None]:
        """What goes wrong inside becomes a `ProviderError`."""
        try:
            yield
        except self._expected as error:
            # Not chained: the client's exception holds the request, and the request the key.
            raise client_failure(error, self._settings.sdk, self._settings.place) from None


def split_body(body: JsonObject, *names: str) -> tuple[JsonObject, JsonObject]:
    """The fields of `body` called `names`, and the others; the body itself stays, since it may be sent again."""
    named = {name: value for name, value in body.items() if name in names}
    return named, {name: value for name, value in body.items() if name not in names}


def _expected_errors(sdk: ModuleType) -> tuple[type[Exception], ...]:
    """What an official client, the HTTP below it and a peer that does not keep to its format may raise."""
    import httpx2  # noqa: PLC0415 - heavy; the clients have loaded it by now

    own: Any = sdk
    base = own.AnthropicError if sdk.__name__ == "anthropic" else own.OpenAIError
    return (base, httpx2.HTTPError, httpx2.StreamError, TimeoutError, OSError, ValueError, LookupError, TypeError)


def _json_of(part: Any) -> JsonObject:
    """An event or answer of a client as JSON; servers that are not what we think answer with other things."""
    if isinstance(part, (str, bytes)) or not hasattr(part, "to_dict"):
        raise ValueError("it is not the JSON of this API; check the base_url")
    return part.to_dict(warnings=False)  # that a server sends other types than the client knows is nothing to warn of


def _has_images(request: LLMRequest) -> bool:
    return any(
        isinstance(block, ImageBlock) or (isinstance(block, ToolResultBlock) and block.images)
        for message in request.messages
        for block in message.content
    )
