from toolwire.sdk import LLMRequest, LLMResponse, ProviderError, TextBlock, TextDelta, Usage
from toolwire.sdk.messages import OnDelta


class Parrot:
    """A model that says back what it hears, a word at a time."""

    inline = True  # it never waits for anything, so it needs no thread

    def complete(self, request: LLMRequest) -> LLMResponse:
        said = request.messages[-1].text
        if not said:
            raise ProviderError("there is nothing to say back", retryable=False)
        return LLMResponse("end_turn", [TextBlock(said)], Usage(uncached=len(said), output=len(said)))

    def stream(self, request: LLMRequest, on_delta: OnDelta) -> LLMResponse:
        answer = self.complete(request)
        for word in request.messages[-1].text.split(" "):
            on_delta(TextDelta(f"{word} "))
        return answer

    def cost_usd(self, model: str, usage: Usage) -> float:
        return usage.output * 0.000_001
