"""To whom a thought belongs: a model takes back its own and no other's; it does not read thoughts.

What a provider signed or encrypted is bound to its API and mostly to the model, so the block says both: its `signature`
is `API|MODEL|what the provider gave`. Blocks of somebody else are left out of what is sent.
"""

from toolwire.sdk.messages import ThinkingBlock

_SEPARATOR = "|"


def own(api: str, model: str, signature: str, text: str = "", data: str | None = None) -> ThinkingBlock:
    """A thought of `model`, behind `api`, with what the provider gave to recognise it by."""
    return ThinkingBlock(text, _SEPARATOR.join((api, model, signature)), data)


def signature_for(block: ThinkingBlock, api: str, model: str) -> str | None:
    """What the provider gave with this thought, if `model` behind `api` had it; else `None`."""
    parts = (block.signature or "").split(_SEPARATOR, 2)
    return parts[2] if len(parts) == 3 and parts[:2] == [api, model] else None
