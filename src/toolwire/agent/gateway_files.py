"""Files at the gateway that an agent is attached to, over HTTP; it does not know what tools do with them.

Signed addresses are asked for at the address by which the agent itself reaches its gateway: the one for everybody else
may not be reachable from here. The agent's key goes to that gateway and nowhere else.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import httpx2
import msgspec

from toolwire.agent.files import AttachedFile, NewFile
from toolwire.agent.websocket import PATH, is_loopback, link_url
from toolwire.sdk.result import ToolError

FILES_PATH: Final = "/api/v1/files"
CONNECT_S: Final = 10.0
SILENCE_S: Final = 60.0
"""How long a gateway may say nothing, or take nothing, while a file is on its way."""
_SCHEMES: Final = {"ws": "http", "wss": "https"}


class GatewayFiles:
    """The `FilePlace` of an attached agent.

    Args:
        url: the gateway, as the agent was told.
        key: the agent's key.
        transport: carries the requests; for tests.
    """

    def __init__(self, url: str, key: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        self._transport = transport
        address = link_url(url)
        path = address.path.removesuffix(PATH)
        self._base = urlunsplit((_SCHEMES[address.scheme], address.netloc, path, "", ""))
        self._direct = is_loopback(address.hostname or "")
        self._authorization = {"authorization": f"Bearer {key}"}

    async def stream(self, file: AttachedFile) -> AsyncGenerator[bytes]:
        """The content of a file; see `FilePlace.stream`."""
        async with self._client() as client:
            url = file.download_url
            if url is not None:
                async with client.stream("GET", self._reached(url)) as response:
                    if response.status_code == 200:
                        async with aclosing(response.aiter_bytes()) as pieces:
                            async for piece in pieces:
                                yield piece
                        return
                    if response.status_code not in (403, 404):
                        raise ToolError(_refused(file, response.status_code))
            async with client.stream("GET", self._reached(await self._renewed(client, file))) as response:
                if response.status_code != 200:
                    raise ToolError(_refused(file, response.status_code))
                async with aclosing(response.aiter_bytes()) as pieces:
                    async for piece in pieces:
                        yield piece

    async def add(self, new: NewFile, pieces: AsyncIterable[bytes]) -> str:
        """Keep a file; see `FilePlace.add`."""
        body = {"filename": new.filename, "content_type": new.content_type}
        async with self._client() as client:
            response = await client.post(
                f"{self._base}{FILES_PATH}/presign-upload", json=body, headers=self._authorization
            )
            announced = _data(response, f"the file {new.filename!r} cannot be kept")
            headers = {"content-type": new.content_type, "content-length": str(new.size)}
            sent = await client.put(self._reached(announced["upload_url"]), content=pieces, headers=headers)
            _data(sent, f"the file {new.filename!r} cannot be kept")
        return str(announced["file_id"])

    async def _renewed(self, client: httpx2.AsyncClient, file: AttachedFile) -> str:
        response = await client.get(f"{self._base}{FILES_PATH}/{file.file_id}", headers=self._authorization)
        return str(_data(response, f"the file {file.filename or file.file_id!r} cannot be had")["download_url"])

    def _reached(self, url: str) -> str:
        """A signed address, by the way on which the agent reaches its gateway."""
        parts = urlsplit(url)
        own = urlsplit(self._base)
        if not parts.path.startswith(f"{FILES_PATH}/"):
            return url
        return urlunsplit((own.scheme, own.netloc, own.path + parts.path, parts.query, ""))

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[httpx2.AsyncClient]:
        timeout = httpx2.Timeout(SILENCE_S, connect=CONNECT_S)
        try:
            async with httpx2.AsyncClient(
                timeout=timeout, trust_env=not self._direct, transport=self._transport
            ) as client:
                yield client
        except httpx2.HTTPError as error:
            raise ToolError(f"the gateway's files cannot be reached: {type(error).__name__}; try again") from error


def _data(response: httpx2.Response, failed: str) -> dict[str, Any]:
    """`data` of a good answer.

    Raises:
        ToolError: it is a bad one; with the gateway's words.
    """
    try:
        told = msgspec.json.decode(response.content, type=dict[str, Any])
        if response.status_code == 200:
            return told["data"]
        words = str(told["error"]["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        words = f"the gateway answered with HTTP {response.status_code}"
    raise ToolError(f"{failed}: {words}")


def _refused(file: AttachedFile, status: int) -> str:
    return f"the file {file.filename or file.file_id!r} cannot be had: the gateway answered with HTTP {status}"
