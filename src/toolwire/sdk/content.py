"""Content that a tool hands over by value or by reference, and where referenced content is kept; it sends nothing."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from typing import Protocol, cast

from toolwire.core import result as core

OCTETS = "application/octet-stream"


@dataclass(frozen=True)
class ContentRef:
    """A reference to stored content: SHA-256 of the body in hex, its size in bytes, and what it is."""

    hash: str
    size: int
    media_type: str = OCTETS


class ContentStore(Protocol):
    """Where a tool puts large or binary content (sdk.md 14)."""

    def put(self, body: bytes, media_type: str = OCTETS) -> ContentRef:
        """Keep `body` and say how to find it again; the same bytes are kept once."""
        ...

    def get(self, ref: ContentRef) -> bytes:
        """The bytes behind `ref`.

        Raises:
            KeyError: nothing is stored under that hash.
        """
        ...


class MemoryContentStore:
    """A content store that lives as long as its object."""

    def __init__(self) -> None:
        self._bodies: dict[str, bytes] = {}

    def put(self, body: bytes, media_type: str = OCTETS) -> ContentRef:
        """Keep `body`; the hash alone identifies it, so `media_type` belongs to the reference only.

        Raises:
            TypeError: `body` is not bytes.
        """
        data = _octets(body, "artifact_store.put(body)")
        digest = hashlib.sha256(data).hexdigest()
        self._bodies.setdefault(digest, data)
        return ContentRef(digest, len(data), media_type)

    def get(self, ref: ContentRef) -> bytes:
        """The bytes behind `ref`.

        Raises:
            KeyError: nothing is stored under that hash.
        """
        try:
            return self._bodies[ref.hash]
        except KeyError:
            raise KeyError(f"no content is stored under {ref.hash!r}; put it into this store first") from None


@dataclass(frozen=True)
class Image:
    """A picture as a tool returns it: raw bytes and their type, such as "image/png"."""

    data: bytes
    mime_type: str = "image/png"

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _octets(self.data, "Image(data)"))
        if "/" not in self.mime_type:
            raise ValueError(f"Image(mime_type) must look like 'image/png', got {self.mime_type!r}")

    def block(self) -> core.Image:
        """The same as a content block."""
        return core.Image(data=b64encode(self.data).decode(), mime_type=self.mime_type)


@dataclass(frozen=True)
class Resource:
    """A resource as a tool returns it: its body as `text` or as `data`, or neither when the URI says it all."""

    uri: str
    text: str | None = None
    data: bytes | None = None
    mime_type: str | None = None

    def __post_init__(self) -> None:
        if not self.uri:
            raise ValueError("Resource(uri) must not be empty")
        if self.text is not None and self.data is not None:
            raise ValueError(f"Resource({self.uri!r}) has both text and data; give one of them")
        if self.data is not None:
            object.__setattr__(self, "data", _octets(self.data, "Resource(data)"))

    def block(self) -> core.Embedded | core.Link:
        """The same as a content block: embedded with its body, a link without one (gateway.md D17)."""
        if self.text is None and self.data is None:
            name = self.uri.rstrip("/").rsplit("/", 1)[-1] or self.uri
            return core.Link(uri=self.uri, name=name, mime_type=self.mime_type)
        blob = None if self.data is None else b64encode(self.data).decode()
        return core.Embedded(core.ResourceContents(self.uri, self.mime_type, self.text, blob))


def _octets(value: object, what: str) -> bytes:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(cast("bytes", value))
    raise TypeError(f"{what} must be bytes, got {type(value).__name__}; encode text first")
