"""The models that answer over the network, and what they cost; no client is loaded before a provider is constructed."""

from toolwire.sdk.models.anthropic import AnthropicProvider as AnthropicProvider
from toolwire.sdk.models.openai import OpenAIProvider as OpenAIProvider
from toolwire.sdk.models.price_list import KNOWN_PRICES as KNOWN_PRICES
from toolwire.sdk.models.pricing import Price as Price
from toolwire.sdk.models.pricing import Prices as Prices
from toolwire.sdk.models.retry import Retries as Retries
