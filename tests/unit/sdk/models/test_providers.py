"""How providers are constructed, shared and let go of."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.sdk.models.requests import ONCE, ask
from tests.unit.sdk.models.server import Reply, serving, whole
from toolwire.sdk.errors import ProviderError
from toolwire.sdk.messages import TextBlock, Usage
from toolwire.sdk.models import KNOWN_PRICES, AnthropicProvider, OpenAIProvider, Price, Prices
from toolwire.sdk.models.connections import Connections


def ok() -> Reply:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ok"}}
    return whole({"id": "1", "object": "chat.completion", "model": "m", "choices": [choice]})


def test_importing_the_models_loads_no_client():
    script = (
        "import sys, toolwire.sdk.models as m; print([n for n in ('anthropic','openai','httpx2') if n in sys.modules])"
    )

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30)

    assert printed.stdout.strip() == "[]"


@pytest.mark.parametrize(("name", "provider"), [("anthropic", AnthropicProvider), ("openai", OpenAIProvider)])
def test_a_missing_extra_is_told_in_one_line_with_the_command(
    name: str, provider: Any, monkeypatch: pytest.MonkeyPatch
):
    for module in [found for found in sys.modules if found == name or found.startswith(f"{name}.")]:
        monkeypatch.delitem(sys.modules, module)
    site = next(path for path in sys.path if (Path(path) / name).is_dir())
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path != site])

    with pytest.raises(ModuleNotFoundError) as caught:
        provider("key")

    assert str(caught.value) == f"{provider.__name__} needs the official client: pip install 'toolwire[{name}]'"


@pytest.mark.parametrize("provider", [AnthropicProvider, OpenAIProvider])
def test_no_key_at_all_is_told_when_the_provider_is_made(
    provider: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))

    with pytest.raises(ValueError, match=r"set (ANTHROPIC|OPENAI)_API_KEY or pass api_key"):
        provider()


async def test_the_key_of_the_environment_is_not_sent_to_a_server_that_the_code_names(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")

    with serving(ok()) as named:
        model = OpenAIProvider(base_url=named.url, retries=ONCE)
        await model.complete(ask("hi"))
        await model.aclose()
    with serving(ok()) as configured:
        monkeypatch.setenv("OPENAI_BASE_URL", configured.url)
        model = OpenAIProvider(retries=ONCE)
        await model.complete(ask("hi"))
        await model.aclose()

    assert named.asked[0].headers["authorization"] == "Bearer no-openai-api-key"
    assert configured.asked[0].headers["authorization"] == "Bearer sk-from-the-environment"


def test_which_api_is_spoken_when_none_is_named():
    assert "Responses" in wire_of(OpenAIProvider("key"))
    assert "Responses" in wire_of(OpenAIProvider("key", base_url="https://eu.api.openai.com/v1"))
    assert "ChatCompletions" in wire_of(OpenAIProvider("key", base_url="https://notopenai.com/v1"))
    assert "ChatCompletions" in wire_of(OpenAIProvider("key", api="chat_completions"))
    with pytest.raises(ValueError, match="'completions'"):
        OpenAIProvider("key", api="completions")  # pyright: ignore[reportArgumentType] - the mistake that is tested
    with pytest.raises(ValueError, match="timeout_s"):
        OpenAIProvider("key", timeout_s=0)


def wire_of(model: OpenAIProvider) -> str:
    return type(model._settings.wire).__name__  # pyright: ignore[reportPrivateUsage] - no other way to see it offline


async def test_a_client_of_ones_own_is_used_and_stays_open():
    import openai  # noqa: PLC0415 - what a user would do; the import is slow

    with serving(whole({"error": {"message": "no"}}, 503), ok()) as server:
        client = openai.AsyncOpenAI(api_key="k", base_url=server.url, default_headers={"x-team": "blue"})
        model = OpenAIProvider(client=client, retries=ONCE)
        with pytest.raises(ProviderError, match="503"):
            await model.complete(ask("hi"))
        response = await model.complete(ask("hi"))
        await model.aclose()

        assert len(server.asked) == 2  # and not more: the client's own retries are off
        assert response.content == [TextBlock("ok")]
        assert server.asked[0].headers["x-team"] == "blue"
        assert not client.is_closed()
        await client.close()


async def test_an_anthropic_client_of_ones_own_is_used_too():
    import anthropic  # noqa: PLC0415 - what a user would do; the import is slow

    with serving(whole({"error": {"type": "overloaded_error", "message": "Overloaded"}}, 529)) as server:
        client = anthropic.AsyncAnthropic(api_key="secret-of-mine", base_url=server.url)
        model = AnthropicProvider(client=client, retries=ONCE)
        with pytest.raises(ProviderError, match="overloaded_error: Overloaded"):
            await model.complete(ask("hi"))
        await model.aclose()

        assert len(server.asked) == 1
        assert server.asked[0].headers["authorization"] == "Bearer secret-of-mine"
        assert repr(model) == "AnthropicProvider(anthropic at 127.0.0.1)"
        await client.close()


def test_one_provider_serves_several_event_loops_on_several_threads():
    with serving(ok()) as server:
        model = OpenAIProvider("key", base_url=server.url, retries=ONCE)
        found: list[Any] = []

        async def use() -> None:
            with anyio.fail_after(10):
                found.extend([(await model.complete(ask("hi"))).content for _ in range(3)])
            await model.aclose()

        threads = [threading.Thread(target=anyio.run, args=(use,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(15)

    assert found == [[TextBlock("ok")]] * 9


class FakeClient:
    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        self.closed += 1


@pytest.mark.both_backends
async def test_a_client_is_closed_when_the_last_one_who_uses_it_is_done():
    made: list[FakeClient] = []

    def make() -> FakeClient:
        made.append(FakeClient())
        return made[-1]

    connections = Connections(make)
    async with connections.client() as first:
        await connections.aclose()
        assert first.closed == 0
        async with connections.client() as second:
            assert second is not first
    assert (first.closed, second.closed) == (1, 0)
    await connections.aclose()
    await connections.aclose()
    assert second.closed == 1
    assert len(made) == 2


def test_prices():
    usage = Usage(uncached=1_000_000, cache_read=1_000_000, cache_write=1_000_000, output=1_000_000)

    assert Price(input=2, output=10).cost_usd(usage) == 16
    assert Price(input=2, output=10, cache_read=0.5, cache_write=3).cost_usd(usage) == 15.5
    assert KNOWN_PRICES.find("claude-haiku-4-5-20251001") == KNOWN_PRICES["claude-haiku-4-5"]
    assert KNOWN_PRICES.find("gpt-5-2025-08-07") == KNOWN_PRICES["gpt-5"]
    assert KNOWN_PRICES.find("gpt-5-unheard-of") is None
    assert KNOWN_PRICES.cost_usd("gpt-5", Usage()) is None
    extended = KNOWN_PRICES.extended({"mine": Price(input=1, output=1)})
    assert "mine" in extended
    assert len(extended) == len(KNOWN_PRICES) + 1
    assert list(Prices({"mine": Price(input=1, output=1)})) == ["mine"]
    assert repr(Prices()) == "Prices(0 models)"


def test_a_long_prompt_has_the_price_of_long_ones():
    short, long = Usage(uncached=100_000, output=1000), Usage(uncached=50_000, cache_read=50_001, output=1000)

    assert KNOWN_PRICES.cost_usd("claude-haiku-5-5", short) == pytest.approx(0.0105)
    assert KNOWN_PRICES.cost_usd("claude-haiku-5-5", long) == pytest.approx(0.025 + 50_001 * 0.05e-6 + 0.0025)
    assert KNOWN_PRICES.cost_usd("gpt-6-sol", Usage(uncached=300_000, output=1000)) == pytest.approx(1.2 + 0.015)


def test_a_table_of_prices_stands_alone_where_a_mapping_adds_to_the_known():
    usage = Usage(uncached=1_000_000)
    mine = {"mine": Price(input=1, output=1)}

    adding, alone = OpenAIProvider("key", prices=mine), OpenAIProvider("key", prices=Prices(mine))

    assert (adding.cost_usd("mine", usage), adding.cost_usd("o3", usage)) == (1, 2)
    assert (alone.cost_usd("mine", usage), alone.cost_usd("o3", usage)) == (1, None)
