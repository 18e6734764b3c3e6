"""Signed addresses of files, good for one file, one method and a time; it does not know which files there are.

Who holds such an address needs no key. Spec: gateway.md D15.
"""

import hmac
from base64 import urlsafe_b64encode

from toolwire.core.errors import Forbidden
from toolwire.core.ports import Clock

_PURPOSE = b"file-link-1"
_MAX_DIGITS = 12


class FileLinks:
    """Makes and checks the addresses.

    Args:
        secret: the server's secret; replicas with one secret take each other's addresses.
        clock: wall time.
        public_url: where the gateway is reached from outside, without a slash at the end; with "" addresses are paths.
    """

    def __init__(self, secret: bytes, clock: Clock, public_url: str = "") -> None:
        self._key = hmac.digest(secret, _PURPOSE, "sha256")
        self._clock = clock
        self._public_url = public_url.rstrip("/")

    def url(self, method: str, file_id: str, expires_at: float) -> str:
        """The address for `method` ("GET" or "PUT") until `expires_at` (Unix seconds, UTC)."""
        expires = int(expires_at)
        signature = self._signature(method, file_id, expires)
        return f"{self._public_url}/api/v1/files/{file_id}/content?expires={expires}&signature={signature}"

    def check(self, method: str, file_id: str, expires: str, signature: str) -> None:
        """Hold the parts of an address against its signature; HEAD is a GET.

        Raises:
            Forbidden: it was not made here for this file and method, or its time is over; all in the same words.
        """
        method = "GET" if method == "HEAD" else method
        good = expires.isascii() and expires.isdigit() and len(expires) <= _MAX_DIGITS
        until = int(expires) if good else 0
        expected = self._signature(method, file_id, until)
        if not hmac.compare_digest(expected.encode(), signature.encode()) or not good or until < self._clock.now():
            raise Forbidden("this link is not valid, or its time is over; ask for another one with the file's id")

    def _signature(self, method: str, file_id: str, expires: int) -> str:
        digest = hmac.digest(self._key, f"{method}\n{file_id}\n{expires}".encode(), "sha256")
        return urlsafe_b64encode(digest).rstrip(b"=").decode()
