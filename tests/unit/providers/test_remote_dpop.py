"""Tokens that are bound to a key, where the server wants that (RFC 9449)."""

import hashlib
from base64 import urlsafe_b64encode
from typing import Any

import httpx2
import jwt
import pytest
from jwt.algorithms import ECAlgorithm

from tests.unit.providers.authority import AUTH, MCP, Authority
from toolwire.providers.remote_auth import SignIn
from toolwire.providers.remote_oauth_store import MemoryTokens, TokenStore
from toolwire.providers.remote_sign_in import auth_of

pytestmark = pytest.mark.anyio


class Binding(Authority):
    """One that gives tokens for a proof alone, and wants one with each; `nonce` must be in it."""

    def __init__(self, nonce: str | None = None, token_type: str = "DPoP") -> None:
        super().__init__()
        self.nonce = nonce
        self.token_type = token_type
        self.proofs: list[dict[str, Any]] = []
        self.schemes: list[str] = []

    async def _mcp(self, request: httpx2.Request) -> httpx2.Response:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if not token:
            return httpx2.Response(401, headers={"www-authenticate": 'DPoP algs="ES256"'})
        self.schemes.append(scheme)
        if "dpop" in request.headers:
            proof = self._proof(request)
            assert proof["ath"] == urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).rstrip(b"=").decode()
            if self.nonce and proof.get("nonce") != self.nonce:
                challenge = {"www-authenticate": 'DPoP error="use_dpop_nonce"', "dpop-nonce": self.nonce}
                return httpx2.Response(401, headers=challenge)
        return httpx2.Response(200 if token in self.issued else 401, text=token)

    def _token(self, request: httpx2.Request) -> httpx2.Response:
        proof = self._proof(request)
        assert "ath" not in proof
        if self.nonce and proof.get("nonce") != self.nonce:
            return httpx2.Response(400, headers={"dpop-nonce": self.nonce}, json={"error": "use_dpop_nonce"})
        given = super()._token(request)
        return httpx2.Response(given.status_code, json={**given.json(), "token_type": self.token_type})

    def _proof(self, request: httpx2.Request) -> dict[str, Any]:
        """What a proof says, with its key, once it is one for this request."""
        sent = request.headers["dpop"]
        header = jwt.get_unverified_header(sent)
        assert header["typ"] == "dpop+jwt"
        assert "d" not in header["jwk"]
        key: Any = ECAlgorithm.from_jwk(header["jwk"])
        claims = jwt.decode(sent, key, algorithms=["ES256"])
        assert (claims["htm"], claims["htu"]) == (request.method, str(request.url.copy_with(query=None)))
        assert claims["jti"] not in {proof["jti"] for proof in self.proofs}
        self.proofs.append({**claims, "key": header["jwk"]["x"]})
        return claims


async def texts_of(authority: Authority, store: TokenStore, count: int = 1) -> list[str]:
    auth = auth_of(MCP, SignIn(show=authority.browse, wait_s=5), store)
    async with httpx2.AsyncClient(transport=authority.transport(), auth=auth) as client:
        return [(await client.post(f"{MCP}?number={number}")).text for number in range(count)]


async def test_each_request_has_a_proof_of_its_own_by_one_key():
    authority = Binding()
    assert await texts_of(authority, MemoryTokens(MCP), 3) == ["access-1"] * 3
    assert authority.schemes == ["DPoP"] * 3
    assert len({proof["key"] for proof in authority.proofs}) == 1


async def test_a_nonce_is_taken_up_from_both_servers_and_kept():
    authority = Binding(nonce="nonce-1")
    assert await texts_of(authority, MemoryTokens(MCP), 2) == ["access-1"] * 2
    assert [proof.get("nonce") for proof in authority.proofs] == [None, "nonce-1", None, "nonce-1", "nonce-1"]
    assert authority.times("POST", f"{AUTH}/token") == 2


async def test_the_key_is_kept_with_the_tokens_that_it_is_for():
    authority, store = Binding(), MemoryTokens(MCP)
    await texts_of(authority, store)
    assert await texts_of(authority, store) == ["access-1"]
    assert len(authority.links) == 1
    assert len({proof["key"] for proof in authority.proofs}) == 1


async def test_a_renewed_token_is_bound_too():
    authority, store = Binding(), MemoryTokens(MCP)
    await texts_of(authority, store)
    authority.issued.clear()
    assert await texts_of(authority, store) == ["access-2"]
    assert len(authority.links) == 1
    assert len({proof["key"] for proof in authority.proofs}) == 1


async def test_a_token_that_is_not_bound_is_sent_as_the_bearer_token_that_it_is():
    authority = Binding(token_type="Bearer")
    store = MemoryTokens(MCP)
    assert await texts_of(authority, store) == ["access-1"]
    assert authority.schemes == ["Bearer"]
    assert (await store.load()).proof_key is None


async def test_where_nobody_wants_proofs_there_are_none():
    authority = Authority()
    seen: list[httpx2.Headers] = []

    async def watch(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers)
        return await authority.transport().handle_async_request(request)

    auth = auth_of(MCP, SignIn(show=authority.browse), MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(watch), auth=auth) as client:
        await client.post(MCP)
    assert all("dpop" not in headers for headers in seen)


async def test_a_kept_key_that_cannot_be_read_means_a_new_sign_in():
    authority, store = Binding(), MemoryTokens(MCP)
    await texts_of(authority, store)
    kept = await store.load()
    kept.proof_key = "nothing"
    await store.save(kept)
    assert await texts_of(authority, store) == ["access-2"]
