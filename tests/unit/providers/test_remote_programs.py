"""A program signs in at an MCP server for itself: nobody is asked, and its secret goes to one authorization server."""

from typing import Any
from urllib.parse import parse_qs

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.unit.providers.authority import AUTH, MCP, Authority
from tests.unit.providers.remote_rig import serving
from toolwire.providers.remote_auth import Assertion, Auth, Credentials, Enterprise, SignIn, SignInFailed
from toolwire.providers.remote_oauth_store import Kept, MemoryTokens
from toolwire.providers.remote_sign_in import auth_of

pytestmark = pytest.mark.anyio


async def text_of(authority: Authority, auth: Auth, store: MemoryTokens | None = None) -> str:
    """What the MCP server answers to one signed request."""
    signed = auth_of(MCP, auth, store or MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=authority.transport(), auth=signed) as client:
        return (await client.post(MCP)).text


def pem(key: Any) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@pytest.mark.parametrize(
    "method,sent", [("client_secret_basic", ("Basic bWU6cyUzQXQ=", None)), ("client_secret_post", ("", "s:t"))]
)
async def test_a_secret_is_sent_as_was_said(method: Any, sent: tuple[str, str | None]):
    authority = Authority()
    auth = Credentials(client_id="me", client_secret="s:t", client_secret_method=method, scope="files")
    assert await text_of(authority, auth) == "access-1"
    (form,) = authority.forms
    assert (form["authorization"], form.get("client_secret")) == sent
    assert (form["grant_type"], form["scope"], form["resource"]) == ("client_credentials", "files", MCP)
    assert authority.links == []
    assert authority.times("POST", f"{AUTH}/register") == 0


@pytest.mark.parametrize(
    "key,algorithm",
    [
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
        (ec.generate_private_key(ec.SECP384R1()), "ES384"),
        (rsa.generate_private_key(65537, 2048), "RS256"),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA"),
    ],
    ids=["P-256", "P-384", "RSA", "Ed25519"],
)
async def test_a_private_key_signs_who_we_are_for_one_authorization_server(key: Any, algorithm: str):
    authority = Authority()
    assert await text_of(authority, Credentials(client_id="me", private_key=pem(key), issuer=AUTH)) == "access-1"
    (form,) = authority.forms
    claims = jwt.decode(form["client_assertion"], key.public_key(), algorithms=[algorithm], audience=AUTH)
    assert (claims["iss"], claims["sub"]) == ("me", "me")
    assert claims["exp"] - claims["iat"] <= 300
    assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


async def test_a_key_that_cannot_sign_is_told_without_the_key():
    with pytest.raises(SignInFailed, match="private key cannot sign") as raised:
        await text_of(Authority(), Credentials(client_id="me", private_key="secret-9"))
    assert "secret-9" not in raised.value.message


async def test_credentials_need_a_secret_or_a_key():
    for auth in (Credentials(client_id="me"), Credentials(client_id="me", client_secret="a", private_key="b")):
        with pytest.raises(SignInFailed, match="one of them"):
            await text_of(Authority(), auth)


@pytest.mark.parametrize("servers", [["https://evil.test"], ["https://evil.test", AUTH]])
async def test_a_secret_goes_to_its_issuer_alone(servers: list[str]):
    authority = Authority()
    authority.resource["authorization_servers"] = servers
    auth = Credentials(client_id="me", client_secret="secret-9", issuer=AUTH)
    if AUTH in servers:
        assert await text_of(authority, auth) == "access-1"
    else:
        with pytest.raises(SignInFailed, match="registered with"):
            await text_of(authority, auth)
    assert all("evil" not in asked for asked in authority.asked)


async def test_a_secret_is_sent_to_no_endpoint_that_is_guessed():
    transport = httpx2.MockTransport(lambda request: httpx2.Response(401 if request.url.path == "/mcp" else 404))
    auth = auth_of(MCP, Credentials(client_id="me", client_secret="secret-9"), MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=transport, auth=auth) as client:
        with pytest.raises(SignInFailed, match="sent to none that is guessed"):
            await client.post(MCP)


async def test_a_token_that_has_ended_is_asked_for_anew():
    authority, store = Authority(), MemoryTokens(MCP)
    auth = Credentials(client_id="me", client_secret="s")
    await text_of(authority, auth, store)
    authority.issued.clear()
    assert await text_of(authority, auth, store) == "access-2"


async def test_tokens_of_another_client_are_not_used():
    authority, store = Authority(), MemoryTokens(MCP)
    await text_of(authority, Credentials(client_id="me", client_secret="s"), store)
    assert await text_of(authority, Credentials(client_id="you", client_secret="s"), store) == "access-2"


async def test_a_workload_gives_the_jwt_that_it_has_or_gets():
    asked: list[tuple[str, str]] = []

    async def get(issuer: str, resource: str) -> str:
        asked.append((issuer, resource))
        return "jwt-2"

    authority = Authority()
    await text_of(authority, Assertion(client_id="me", assertion="jwt-1"))
    await text_of(authority, Assertion(client_id="me", assertion=get))
    assert [form["assertion"] for form in authority.forms] == ["jwt-1", "jwt-2"]
    assert {form["grant_type"] for form in authority.forms} == {"urn:ietf:params:oauth:grant-type:jwt-bearer"}
    assert [(issuer.rstrip("/"), resource) for issuer, resource in asked] == [(AUTH, MCP)]


async def test_a_jwt_that_is_refused_is_not_tried_again():
    authority = Authority()
    authority.token_answer = lambda _: httpx2.Response(400, json={"error": "invalid_grant"})
    with pytest.raises(SignInFailed, match="invalid_grant"):
        await text_of(authority, Assertion(client_id="me", assertion="jwt-1"))
    assert len(authority.forms) == 1


async def test_an_identity_provider_exchanges_an_id_token_for_an_assertion():
    authority = Authority()
    forms: list[dict[str, list[str]]] = []
    answers = [Response(status_code=403), Response("no JSON"), JSONResponse({"access_token": "jag-1"})]

    async def exchange(request: Request) -> Response:
        forms.append(parse_qs((await request.body()).decode()))
        return answers.pop(0)

    async with serving(Starlette(routes=[Route("/token", exchange, methods=["POST"])])) as url:
        auth = Enterprise(
            client_id="me",
            client_secret="s",
            id_token="id-1",
            idp_client_id="idp",
            idp_token_endpoint=f"{url}/token",
        )
        with pytest.raises(SignInFailed, match="the identity provider gives no assertion: HTTP 403"):
            await text_of(authority, auth)
        with pytest.raises(SignInFailed, match="is no token"):
            await text_of(authority, auth)
        assert await text_of(authority, auth) == "access-1"
    assert forms[-1]["subject_token"] == ["id-1"]
    assert (forms[-1]["audience"], forms[-1]["resource"]) == ([AUTH], [MCP])
    assert authority.forms[0]["assertion"] == "jag-1"


async def test_an_identity_provider_that_cannot_be_reached_is_named():
    auth = Enterprise(
        client_id="me",
        client_secret="s",
        id_token="secret-9",
        idp_client_id="idp",
        idp_token_endpoint="http://127.0.0.1:1/token?key=secret-9",
    )
    with pytest.raises(
        SignInFailed, match=r"identity provider cannot be reached at http://127\.0\.0\.1:1/token"
    ) as raised:
        await text_of(Authority(), auth)
    assert "secret-9" not in raised.value.message


def test_nothing_that_is_secret_is_shown():
    written = [
        SignIn(client_id="me", client_secret="secret-9"),
        Credentials(client_id="me", client_secret="secret-9"),
        Assertion(client_id="me", assertion="secret-9"),
        Enterprise(client_id="me", client_secret="secret-9", id_token="", idp_client_id="", idp_token_endpoint=""),
        Kept(MCP, tokens={"access_token": "secret-9"}),
    ]
    assert all("secret-9" not in repr(each) for each in written)
