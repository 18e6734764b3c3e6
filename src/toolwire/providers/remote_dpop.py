"""Binds tokens to a key, and proves with each request that it is held, where a server wants that; it asks for none.

Spec: RFC 9449, and the MCP extension `io.modelcontextprotocol/auth/dpop` (SEP-1932).
"""

import hashlib
import re
import time
import uuid
from base64 import urlsafe_b64encode
from typing import Any, cast

import httpx2
import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

ALGORITHM = "ES256"
COORDINATE_BYTES = 32
SCHEME = re.compile(r"(?:^|,)\s*dpop(?:\s|$)", re.IGNORECASE)
WANTS_NONCE = "use_dpop_nonce"


class Proofs:
    """What proves, with each request, that its token is ours. It does nothing until a server asks for that.

    Attributes:
        bound: the token at hand is bound to the key.
    """

    def __init__(self) -> None:
        self.bound = False
        self._key: ec.EllipticCurvePrivateKey | None = None
        self._nonces: dict[str, str] = {}

    def load(self, pem: str | None) -> None:
        """Take up the key that kept tokens are bound to; `None` if they are not."""
        if pem is None:
            return
        try:
            key = load_pem_private_key(pem.encode(), None)
        except ValueError:
            return
        if isinstance(key, ec.EllipticCurvePrivateKey):
            self._key, self.bound = key, True

    @property
    def pem(self) -> str | None:
        """The key that the token at hand is bound to."""
        if self._key is None or not self.bound:
            return None
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def sign(self, request: httpx2.Request, for_token: bool) -> None:
        """Add a proof to a request for a token, or to one that has a token.

        Args:
            request: not sent yet, or to be sent once more.
            for_token: it asks for a token.
        """
        if self._key is None:
            return
        token = request.headers.get("authorization", "").partition(" ")[2]
        if for_token:
            request.headers["dpop"] = self._proof(request)
        elif self.bound and token:
            request.headers["authorization"] = f"DPoP {token}"
            request.headers["dpop"] = self._proof(request, token)

    async def wants_nonce(self, request: httpx2.Request, response: httpx2.Response) -> bool:
        """Whether the request is to be signed and sent once more, with the nonce that the answer gives."""
        nonce = response.headers.get("dpop-nonce")
        if nonce is None or "dpop" not in request.headers:
            return False
        self._nonces[_origin(request)] = nonce
        if response.status_code == 401 and WANTS_NONCE in response.headers.get("www-authenticate", ""):
            return True
        return response.status_code in (400, 401) and (await _decoded(response)).get("error") == WANTS_NONCE

    async def read(self, response: httpx2.Response, for_token: bool) -> httpx2.Response:
        """Learn from an answer; the answer as the official provider takes it, which knows bearer tokens alone."""
        if not for_token:
            if response.status_code == 401 and SCHEME.search(response.headers.get("www-authenticate", "")):
                self._key = self._key or ec.generate_private_key(ec.SECP256R1())
            return response
        if self._key is None or response.status_code not in (200, 201):
            return response
        tokens = await _decoded(response)
        self.bound = str(tokens.get("token_type")).lower() == "dpop"
        if not self.bound:
            return response
        content = msgspec.json.encode({**tokens, "token_type": "Bearer"})
        headers = {"content-type": "application/json"}
        return httpx2.Response(response.status_code, headers=headers, content=content, request=response.request)

    def _proof(self, request: httpx2.Request, token: str | None = None) -> str:
        key = self._key
        assert key is not None
        numbers = key.public_key().public_numbers()
        jwk = {"kty": "EC", "crv": "P-256", "x": _coordinate(numbers.x), "y": _coordinate(numbers.y)}
        claims: dict[str, Any] = {
            "jti": str(uuid.uuid4()),
            "htm": request.method,
            "htu": str(request.url.copy_with(query=None, fragment=None)),
            "iat": int(time.time()),
        }
        if token is not None:
            claims["ath"] = _base64(hashlib.sha256(token.encode()).digest())
        if nonce := self._nonces.get(_origin(request)):
            claims["nonce"] = nonce
        return jwt.encode(claims, key, algorithm=ALGORITHM, headers={"typ": "dpop+jwt", "jwk": jwk})


def _origin(request: httpx2.Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc.decode()}"


def _coordinate(number: int) -> str:
    return _base64(number.to_bytes(COORDINATE_BYTES, "big"))


def _base64(value: bytes) -> str:
    return urlsafe_b64encode(value).rstrip(b"=").decode()


async def _decoded(response: httpx2.Response) -> dict[str, Any]:
    """The JSON object that an answer is; empty if it is none."""
    try:
        decoded: Any = msgspec.json.decode(await response.aread())
    except msgspec.DecodeError:
        return {}
    return cast("dict[str, Any]", decoded) if isinstance(decoded, dict) else {}
