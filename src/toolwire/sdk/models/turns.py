"""A conversation as every wire wants it: turns that alternate and calls that have their results; it encodes nothing."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from toolwire.sdk.messages import Block, Message, TextBlock, ToolResultBlock, ToolUseBlock
from toolwire.sdk.models.parts import result_text

Speaker: TypeAlias = Literal["system", "user", "assistant"]

NO_RESULT = "no result of this call was recorded; what it did is unknown"


class Turn(NamedTuple):
    """What one side said at a time. Results of calls are the user's, and come first."""

    speaker: Speaker
    blocks: list[Block]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """The conversation in turns: messages of one side joined, each call answered in the next turn.

    Every provider refuses a conversation in which a call has no result, or a result no call, and would refuse it for
    ever. So a missing result is said to be missing, and a result without its call becomes plain text.
    """
    found: list[Turn] = []
    for message in messages:
        speaker: Speaker = "user" if message.role == "tool" else message.role
        if found and found[-1].speaker == speaker:
            found[-1].blocks.extend(message.content)
        elif message.content:
            found.append(Turn(speaker, list(message.content)))
    return _paired(found)


def split_system(turns: list[Turn], system: str | None) -> tuple[str, list[Turn]]:
    """The system prompt with what system messages say before anybody else speaks, and the turns after these."""
    said = [system] if system else []
    for index, turn in enumerate(turns):
        if turn.speaker != "system":
            return "\n\n".join(said), turns[index:]
        said.append(text_of(turn.blocks))
    return "\n\n".join(said), []


def text_of(blocks: Iterable[Block]) -> str:
    """The texts among `blocks`, a paragraph each."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, TextBlock) and block.text.strip())


def _paired(turns: list[Turn]) -> list[Turn]:
    found: list[Turn] = []
    open_calls: list[str] = []
    for turn in turns:
        if turn.speaker == "user":
            found.append(Turn("user", _answered(turn.blocks, open_calls)))
        else:
            if open_calls:
                found.append(Turn("user", _answered([], open_calls)))
            found.append(turn)
        open_calls = [block.call_id for block in turn.blocks if isinstance(block, ToolUseBlock)]
    if open_calls:
        found.append(Turn("user", _answered([], open_calls)))
    return found


def _answered(blocks: list[Block], open_calls: list[str]) -> list[Block]:
    """`blocks` with the results of `open_calls` first, in the order of the calls."""
    results: dict[str, ToolResultBlock] = {}
    others: list[Block] = []
    for block in blocks:
        if not isinstance(block, ToolResultBlock):
            others.append(block)
        elif block.call_id in open_calls and block.call_id not in results:
            results[block.call_id] = block
        else:
            others.append(TextBlock(f"Result of the call {block.call_id}:\n{result_text(block)}"))
            others.extend(block.images or ())
    missing = {call: ToolResultBlock(call, None, success=False, error=NO_RESULT) for call in open_calls}
    return [*({**missing, **results}.values()), *others]
