"""OpenAI's models and those of compatible servers, through the official client; it knows no wire, `*_wire` do."""

import os
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from toolwire.core.jsontypes import JsonObject
from toolwire.sdk.messages import LLMRequest
from toolwire.sdk.models.chat_answer import ChatAnswer
from toolwire.sdk.models.chat_wire import request_body as chat_body
from toolwire.sdk.models.connections import Connections
from toolwire.sdk.models.extras import from_environment, key_for, load, needs_key, place_of
from toolwire.sdk.models.failure import Place, host_of
from toolwire.sdk.models.hosted import CONNECT_TIMEOUT_S, HostedModel, Settings, Wire, split_body
from toolwire.sdk.models.price_list import prices_of
from toolwire.sdk.models.pricing import Price
from toolwire.sdk.models.responses_answer import ResponsesAnswer
from toolwire.sdk.models.responses_wire import request_body as responses_body
from toolwire.sdk.models.retry import Retries

OpenAIApi: TypeAlias = Literal["chat_completions", "responses"]

_KEY = "OPENAI_API_KEY"
_BASE_URL = "OPENAI_BASE_URL"
_HOST = "api.openai.com"
_OWN_DOMAINS = ("openai.com", "openai.azure.com")


class OpenAIProvider(HostedModel):
    """OpenAI's models, or any server that speaks one of its two APIs: vLLM, Ollama, LM Studio, OpenRouter and others.

        provider = OpenAIProvider()  # the key in OPENAI_API_KEY
        provider = OpenAIProvider(base_url="http://127.0.0.1:11434/v1")

    Args:
        api_key: the key; `None` for the one in the environment, unless `base_url` is given: a server that you name is
            sent no key that you do not.
        base_url: another server, as a rule with `/v1` at the end.
        api: "responses" or "chat_completions"; `None` takes "responses" at OpenAI, whose reasoning models keep their
            thoughts and call tools only there, and "chat_completions", which everybody has, elsewhere.
        timeout_s: seconds in which nothing comes, after which the server counts as gone.
        retries: when to ask again; `Retries(limit=0)` for never.
        prices: prices beside `KNOWN_PRICES`, which they win over; a `Prices` stands alone.
        extra_body: fields that go into every request as they are, such as `{"service_tier": "flex"}`.
        client: an `openai.AsyncOpenAI`, or one for Azure, instead of one made here. It stays yours to close, belongs
            to one event loop, and its own retries are left aside.

    Raises:
        ModuleNotFoundError: the extra `openai` is not installed.
        ValueError: there is no API key, or `api` is none.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        api: OpenAIApi | None = None,
        timeout_s: float = 600.0,
        retries: Retries | None = None,
        prices: Mapping[str, Price] | None = None,
        extra_body: Mapping[str, Any] | None = None,
        client: Any = None,
    ) -> None:
        sdk: Any = load("openai", "OpenAIProvider")
        used = base_url or str(getattr(client, "base_url", "") or os.environ.get(_BASE_URL) or f"https://{_HOST}/v1")
        key = key_for(api_key, base_url, _KEY)
        if client is None and key is None and not os.environ.get(_KEY):
            raise needs_key("OpenAIProvider", _KEY)
        place = place_of("openai", _HOST, used, client, (key, *from_environment(_KEY)))

        def make() -> Any:
            if client is not None:
                return client.with_options(max_retries=0)
            timeout = sdk.Timeout(timeout_s, connect=min(timeout_s, CONNECT_TIMEOUT_S))
            return sdk.AsyncOpenAI(api_key=key, base_url=used, max_retries=0, timeout=timeout)

        settings = Settings(
            sdk=sdk,
            wire=_wire(api, _is_own(used), place),
            place=place,
            timeout_s=timeout_s,
            retries=retries or Retries(),
            prices=prices_of(prices),
            extra_body=extra_body or {},
        )
        super().__init__(settings, Connections(make, owned=client is None))


def _wire(api: OpenAIApi | None, own_host: bool, place: Place) -> Wire:
    match api or ("responses" if own_host else "chat_completions"):
        case "responses":
            return _Responses(own_host, place)
        case "chat_completions":
            return _ChatCompletions(own_host, place)
        case unknown:  # pyright: ignore[reportUnnecessaryComparison] - not all callers check types
            raise ValueError(f"OpenAIProvider(api) must be 'responses' or 'chat_completions', got {unknown!r}")


def _is_own(base_url: str) -> bool:
    host = host_of(base_url)
    return any(host == domain or host.endswith(f".{domain}") for domain in _OWN_DOMAINS)


class _ChatCompletions:
    """The Chat Completions API as a `Wire`."""

    def __init__(self, own_host: bool, place: Place) -> None:
        self._own_host = own_host
        self._place = place

    def body(self, request: LLMRequest) -> JsonObject:
        return chat_body(request, own_host=self._own_host)

    def answer(self, request: LLMRequest) -> ChatAnswer:
        return ChatAnswer(request.model, self._place)

    async def send(self, client: Any, body: JsonObject, *, streaming: bool) -> Any:
        # The rest goes past the client's own parameters, of which every version has others.
        named, rest = split_body(body, "model", "messages")
        if streaming:
            rest = {"stream_options": {"include_usage": True}, **rest}
        return await client.chat.completions.create(**named, stream=streaming, extra_body=rest)


class _Responses:
    """The Responses API as a `Wire`."""

    def __init__(self, own_host: bool, place: Place) -> None:
        self._own_host = own_host
        self._place = place

    def body(self, request: LLMRequest) -> JsonObject:
        return responses_body(request, own_host=self._own_host)

    def answer(self, request: LLMRequest) -> ResponsesAnswer:
        return ResponsesAnswer(request.model, self._place)

    async def send(self, client: Any, body: JsonObject, *, streaming: bool) -> Any:
        named, rest = split_body(body, "model", "input")
        return await client.responses.create(**named, stream=streaming, extra_body=rest)
