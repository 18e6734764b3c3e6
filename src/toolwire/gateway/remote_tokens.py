"""Where the tokens are kept with which the gateway is signed in at a remote MCP server, sealed; it asks for none.

See `providers.remote_oauth_store.TokenStore`. They are the owner's, whoever calls.
"""

from typing import Final

import msgspec

from toolwire.core.ports import Put, Store
from toolwire.providers.remote_oauth_store import Kept
from toolwire.surfaces.sealed_box import SealedBox

TOKENS_KIND: Final = "remote_tokens"
_PURPOSE: Final = b"remote-tokens-1"

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Kept).decode


class SealedTokens:
    """The tokens of one server.

    Args:
        store: keeps them.
        secret: of the gateway.
        owner: whose server it is.
        agent_id: the agent that it is.
        url: the server's.
    """

    def __init__(self, store: Store, secret: bytes, owner: str, agent_id: str, url: str) -> None:
        self._store = store
        self._box = SealedBox(secret, _PURPOSE)
        self._owner = owner
        self._agent_id = agent_id
        self._url = url.rstrip("/")

    async def load(self) -> Kept:
        """See `TokenStore.load`.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        row = await self._store.get(TOKENS_KIND, self._owner, self._agent_id)
        raw = None if row is None else self._box.open(row.value.decode(), self._whose)
        kept = None if raw is None else _decode(raw)
        return kept if kept is not None and kept.url == self._url else Kept(self._url)

    async def save(self, kept: Kept) -> None:
        """See `TokenStore.save`.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        kept.url = self._url
        sealed = self._box.seal(_encode(kept), self._whose).encode()
        await self._store.tx([Put(TOKENS_KIND, self._owner, self._agent_id, sealed)])

    @property
    def _whose(self) -> str:
        return f"{self._owner}/{self._agent_id}"
