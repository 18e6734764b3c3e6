"""Anthropic's models, through the official client; it knows no wire, `anthropic_wire` and `anthropic_answer` do."""

from collections.abc import Mapping
from typing import Any

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.messages import LLMRequest
from toolwire.sdk.models.anthropic_answer import AnthropicAnswer
from toolwire.sdk.models.anthropic_wire import ClosedSchema, request_body
from toolwire.sdk.models.connections import Connections
from toolwire.sdk.models.extras import from_environment, key_for, load, needs_key, place_of
from toolwire.sdk.models.hosted import CONNECT_TIMEOUT_S, HostedModel, Settings, split_body
from toolwire.sdk.models.price_list import prices_of
from toolwire.sdk.models.pricing import Price
from toolwire.sdk.models.retry import Retries

_KEY = "ANTHROPIC_API_KEY"
_TOKEN = "ANTHROPIC_AUTH_TOKEN"
_HOST = "api.anthropic.com"


class AnthropicProvider(HostedModel):
    """Claude behind the Messages API: Anthropic's own or any server that speaks it.

        provider = AnthropicProvider()  # the key in ANTHROPIC_API_KEY

    Answers are always streamed, as Anthropic asks for long ones, whether somebody listens or not.

    Args:
        api_key: the key; `None` for what the official client finds in the environment or its profile, unless
            `base_url` is given: a server that you name is sent no key that you do not.
        base_url: another server; without `/v1`.
        timeout_s: seconds in which nothing comes, after which the server counts as gone.
        retries: when to ask again; `Retries(limit=0)` for never.
        prices: prices beside `KNOWN_PRICES`, which they win over; a `Prices` stands alone.
        cache: whether the prompt is marked for Anthropic's cache, which makes a conversation's next request cheap.
        extra_body: fields that go into every request as they are, such as `{"service_tier": "standard_only"}`.
        client: an `anthropic.AsyncAnthropic`, or one for Bedrock or Vertex, instead of one made here. It stays yours
            to close, belongs to one event loop, and its own retries are left aside.

    Raises:
        ModuleNotFoundError: the extra `anthropic` is not installed.
        ValueError: there is no API key.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout_s: float = 600.0,
        retries: Retries | None = None,
        prices: Mapping[str, Price] | None = None,
        cache: bool = True,
        extra_body: Mapping[str, Any] | None = None,
        client: Any = None,
    ) -> None:
        sdk: Any = load("anthropic", "AnthropicProvider")
        key = key_for(api_key, base_url, _KEY)

        def make() -> Any:
            if client is not None:
                return client.with_options(max_retries=0)
            timeout = sdk.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S))
            return sdk.AsyncAnthropic(api_key=key, base_url=base_url, max_retries=0, timeout=timeout)

        if client is None and key is None:
            found = make()
            if not (found.api_key or found.auth_token or found.credentials):
                raise needs_key("AnthropicProvider", _KEY)
        settings = Settings(
            sdk=sdk,
            wire=_Messages(cache, sdk.transform_schema),
            place=place_of("anthropic", _HOST, base_url, client, (key, *from_environment(_KEY, _TOKEN))),
            timeout_s=timeout_s,
            retries=retries or Retries(),
            prices=prices_of(prices),
            extra_body=extra_body or {},
            streams_only=True,
        )
        super().__init__(settings, Connections(make, owned=client is None))


class _Messages:
    """The Messages API as a `Wire`."""

    def __init__(self, cache: bool, closed: ClosedSchema) -> None:
        self._cache = cache
        self._closed = closed

    def body(self, request: LLMRequest) -> JsonObject:
        return request_body(request, cache=self._cache, closed=self._closed)

    def answer(self, request: LLMRequest) -> AnthropicAnswer:
        return AnthropicAnswer(request.model)

    async def send(self, client: Any, body: JsonObject, *, streaming: bool) -> Any:
        # The rest goes past the client's own parameters, of which every version has others.
        named, rest = split_body(body, "model", "max_tokens", "messages")
        return await client.messages.create(**named, stream=streaming, extra_body=rest)
