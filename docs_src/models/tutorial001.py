from toolwire.sdk import AnthropicProvider, OpenAIProvider
from toolwire.sdk.models.pricing import Price
from toolwire.sdk.models.retry import Retries


def claude() -> AnthropicProvider:
    """The key is in ANTHROPIC_API_KEY."""
    return AnthropicProvider(retries=Retries(limit=4))


def gpt() -> OpenAIProvider:
    """The key is in OPENAI_API_KEY; OpenAI's own models answer through the Responses API."""
    return OpenAIProvider()


def local() -> OpenAIProvider:
    """Any server with OpenAI's Chat Completions API, here one on this machine."""
    return OpenAIProvider(
        base_url="http://127.0.0.1:11434/v1",
        prices={"qwen3": Price(input=0, output=0)},
        extra_body={"top_k": 20},
    )
