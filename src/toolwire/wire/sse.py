"""Server-sent events as bytes; it does not send them. Spec: HTML Living Standard, section 9.2."""

KEEPALIVE = b": ping\n\n"
"""A comment: readers skip it, proxies see traffic."""


def event(data: bytes, id_: str | None = None) -> bytes:
    """One `message` event of single-line data, such as encoded JSON."""
    if id_ is None:
        return b"event: message\ndata: %b\n\n" % data
    return b"event: message\nid: %b\ndata: %b\n\n" % (id_.encode(), data)


def priming(id_: str, retry_ms: int) -> bytes:
    """What a stream begins with that can be resumed: an event without data, and when to come back."""
    return b"id: %b\nretry: %d\ndata:\n\n" % (id_.encode(), retry_ms)


def retry(retry_ms: int) -> bytes:
    """When to come back, without an event."""
    return b"retry: %d\n\n" % retry_ms


def comment(text: str) -> bytes:
    """A line for people who look at the wire; readers skip it."""
    return b": %b\n\n" % text.replace("\n", " ").encode()
