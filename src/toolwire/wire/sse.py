"""Server-sent events as bytes; it does not send them. Spec: HTML Living Standard, section 9.2."""

KEEPALIVE = b": ping\n\n"
"""A comment: readers skip it, proxies see traffic."""


def event(data: bytes, id_: str | None = None) -> bytes:
    """One `message` event of single-line data, such as encoded JSON."""
    if id_ is None:
        return b"event: message\ndata: %b\n\n" % data
    return b"event: message\nid: %b\ndata: %b\n\n" % (id_.encode(), data)
