"""The library of those who write cards in Python, and what a card's manifest may say."""

from toolwire.card.call import Cancelled, Signal, ToolCall
from toolwire.card.card import Card
from toolwire.card.errors import CardError
from toolwire.card.results import tool_error, tool_image, tool_result, tool_text
from toolwire.wire.card_messages import AgentRef, CardRef, CommandResult, Peer, ToolResult

__all__ = [
    "AgentRef",
    "Cancelled",
    "Card",
    "CardError",
    "CardRef",
    "CommandResult",
    "Peer",
    "Signal",
    "ToolCall",
    "ToolResult",
    "tool_error",
    "tool_image",
    "tool_result",
    "tool_text",
]
