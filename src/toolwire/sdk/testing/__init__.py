"""Testing an agent without a model: a provider that says what the test tells it to; it reaches no network."""

from toolwire.sdk.testing.provider import FakeLLMProvider as FakeLLMProvider
