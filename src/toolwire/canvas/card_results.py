"""What a card answers, as a result: checked against the limits before an agent sees it (cards.md 40-52).

Cards map what their handlers return by themselves; whatever comes over the wire is a stranger's all the same. Contract:
cards.md decisions 29-32.
"""

from msgspec import UNSET

from toolwire.card.results import what_is_wrong
from toolwire.card.texts import cut
from toolwire.core.result import Content, Image, Result, Text, failed
from toolwire.wire.card_messages import MAX_ERROR_CHARS, ImagePart, RespondParams


def result_of(respond: RespondParams) -> Result:
    """The end of a call, from what its card has sent; what breaks the rules becomes an error the agent can read."""
    if respond.error is not UNSET:
        return failed(cut(respond.error.strip(), MAX_ERROR_CHARS) or "the card failed without a word")
    if respond.result is UNSET:
        return failed("the card sent an invalid result: neither a result nor an error")
    wrong = what_is_wrong(respond.result)
    if wrong is not None:
        return failed(f"the card sent an invalid result: {wrong}")
    content = tuple(_block(part) for part in respond.result.content)
    if respond.result.is_error:
        words = "\n".join(block.text for block in content if isinstance(block, Text))
        told = failed(words or "the card reports a failure")
        return Result(content, error=told.error)
    return Result(content)


def _block(part: object) -> Content:
    if isinstance(part, ImagePart):
        return Image(data=part.data, mime_type=part.mime_type)
    return Text(text=getattr(part, "text", ""))
