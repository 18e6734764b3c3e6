"""Where the tokens of a remote server and its registration are kept, for one principal; it asks nobody for a token.

A file holds what belongs to one server and one principal. Its user alone may read it (mode 0600).
"""

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.jsontypes import JsonObject

DIGEST_CHARS = 32
FOLDER = "oauth"
"""The folder's name in the data folder."""


class Kept(Struct, omit_defaults=True, rename="camel"):
    """What is kept of one server for one principal.

    Attributes:
        url: the server's.
        principal: whose tokens these are; "" for the user of this machine.
        tokens: the last answer of the token endpoint.
        expires_at: when its access token ends, Unix seconds.
        client: the registration at the authorization server.
        server: the authorization server's metadata.
        resource: the resource's metadata.
        proof_key: the private key, in PEM, that the tokens are bound to.
    """

    url: str
    principal: str = ""
    tokens: JsonObject | None = None
    expires_at: float | None = None
    client: JsonObject | None = None
    server: JsonObject | None = None
    resource: JsonObject | None = None
    proof_key: str | None = None

    def __repr__(self) -> str:
        return f"Kept({self.url!r}, {self.principal!r})"


class TokenStore(Protocol):
    """Keeps what belongs to one server and one principal."""

    async def load(self) -> Kept:
        """What was saved last, or nothing yet. What cannot be read any more is nothing."""
        ...

    async def save(self, kept: Kept) -> None:
        """Keep it, all of it or none of it.

        Raises:
            OSError: it cannot be written.
        """
        ...


class MemoryTokens:
    """Keeps tokens as long as the process lives."""

    def __init__(self, url: str, principal: str = "") -> None:
        self._saved = msgspec.json.encode(Kept(url, principal))

    async def load(self) -> Kept:
        """See `TokenStore.load`."""
        return msgspec.json.decode(self._saved, type=Kept)

    async def save(self, kept: Kept) -> None:
        """See `TokenStore.save`."""
        self._saved = msgspec.json.encode(kept)


class FileTokens:
    """Keeps tokens in a file of their own.

    Args:
        folder: of all such files; made when the first is written.
        url: the server's.
        prepare: called before something is written.
        principal: whose tokens these are.
    """

    def __init__(
        self, folder: Path, url: str, prepare: Callable[[], object] = lambda: None, principal: str = ""
    ) -> None:
        url = self._url = url.rstrip("/")
        self._prepare = prepare
        self._principal = principal
        name = hashlib.sha256(f"{principal}\n{url}".encode()).hexdigest()[:DIGEST_CHARS]
        self.path = folder / f"{name}.json"

    async def load(self) -> Kept:
        """See `TokenStore.load`."""
        return await anyio.to_thread.run_sync(self._read)

    async def save(self, kept: Kept) -> None:
        """See `TokenStore.save`."""
        await anyio.to_thread.run_sync(self._write, kept)

    def _read(self) -> Kept:
        try:
            kept = msgspec.json.decode(self.path.read_bytes(), type=Kept)
        except (OSError, msgspec.DecodeError):
            return Kept(self._url, self._principal)
        mine = kept.url == self._url and kept.principal == self._principal
        return kept if mine else Kept(self._url, self._principal)

    def _write(self, kept: Kept) -> None:
        self._prepare()
        content = msgspec.json.format(msgspec.json.encode(kept)) + b"\n"
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}.")  # which makes it 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def ends_at(tokens: JsonObject) -> float | None:
    """When an access token that was given now ends; `None` if nobody has said."""
    lasts: Any = tokens.get("expires_in")
    return None if lasts is None else time.time() + float(lasts)
