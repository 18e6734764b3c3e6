"""The `Blobs` port on a bucket of an S3-compatible store; it makes no bucket and keeps no credentials.

Keys come from where every S3 client looks for them: the `AWS_…` variables, or the machine's role. Content on its way in
is kept in a file of this machine first, so that what a client breaks off never reaches the bucket.
"""

from collections.abc import AsyncIterable
from datetime import timedelta
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from toolwire.adapters.blob_key import check_blob_key
from toolwire.adapters.blobs import ObstoreBlobs, gathered
from toolwire.core.errors import InvalidParam

if TYPE_CHECKING:
    from obstore.store import S3Config  # there for type checkers alone

SCHEME = "s3"
IN_MEMORY_BYTES = 4 * 1024 * 1024
"""Content up to here waits in memory, larger content in a temporary file."""
CONNECT_TIMEOUT_S = 5
REQUEST_TIMEOUT_S = 60
MAX_RETRIES = 3
RETRY_FOR_S = 20


class S3Blobs(ObstoreBlobs):
    """The `Blobs` port on a bucket; make one with `open_bucket`."""

    async def put(self, key: str, data: bytes) -> None:
        """Store `data`; see `Blobs.put`.

        Raises:
            StoreUnavailable: the bucket does not take it.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        await self._in_thread(lambda: obstore.put(self._store, key, data))

    async def write(self, key: str, pieces: AsyncIterable[bytes]) -> None:
        """Store what `pieces` hold; see `Blobs.write`.

        Raises:
            StoreUnavailable: the bucket does not take it.
            ValueError: `key` is not one of ours (`check_blob_key`).
        """
        check_blob_key(key)
        with SpooledTemporaryFile(IN_MEMORY_BYTES) as spool:
            async for part in gathered(pieces):
                await self._in_thread(lambda data=part: spool.write(data))
            await self._in_thread(lambda: self._send(key, spool))

    def _send(self, key: str, spool: Any) -> None:
        spool.seek(0)
        obstore.put(self._store, key, spool)


def open_bucket(url: str, endpoint_url: str | None = None, region: str | None = None) -> S3Blobs:
    """Keep blobs in a bucket.

    Args:
        url: `s3://bucket`, or `s3://bucket/prefix`.
        endpoint_url: where a store other than Amazon's is; over http:// only where it says so.
        region: of the bucket; else what `AWS_REGION` says.

    Raises:
        InvalidParam: `url` is no such address, or a setting cannot be used.
    """
    parts = urlsplit(url)
    if parts.scheme != SCHEME or not parts.netloc or "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidParam(
            f"blob_url is {_without_user(parts)!r}; write s3://bucket or s3://bucket/prefix; the keys go "
            "into AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            param="blob_url",
        )
    settings: S3Config = {"virtual_hosted_style_request": False}
    if endpoint_url is not None:
        settings["endpoint"] = endpoint_url
    if region is not None:
        settings["region"] = region
    try:
        store = S3Store(
            parts.netloc,
            prefix=parts.path.strip("/") or None,
            config=settings,
            client_options={
                "allow_http": (endpoint_url or "").startswith("http://"),
                "connect_timeout": timedelta(seconds=CONNECT_TIMEOUT_S),
                "timeout": timedelta(seconds=REQUEST_TIMEOUT_S),
            },
            retry_config={"max_retries": MAX_RETRIES, "retry_timeout": timedelta(seconds=RETRY_FOR_S)},
        )
    except (BaseError, ValueError) as error:
        raise InvalidParam(f"the bucket {url!r} cannot be used: {error}", param="blob_url") from None
    return S3Blobs(store, url)


def _without_user(parts: SplitResult) -> str:
    """The address without what may be a secret in it."""
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
