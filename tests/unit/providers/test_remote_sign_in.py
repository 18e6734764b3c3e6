"""A person signs in at an MCP server, and stays signed in (RFC 9728, RFC 8414, RFC 9207, RFC 8707)."""

import stat
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest

from tests.unit.providers.authority import AUTH, MCP, Authority
from toolwire.providers.remote_auth import SignIn, SignInFailed
from toolwire.providers.remote_oauth_store import FileTokens, Kept, MemoryTokens, TokenStore
from toolwire.providers.remote_redirect import Loopback
from toolwire.providers.remote_sign_in import auth_of

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def client_of(
    authority: Authority, store: TokenStore | None = None, **options: Any
) -> AsyncGenerator[httpx2.AsyncClient]:
    """What sends requests to the MCP server, signed."""
    said: dict[str, Any] = {"show": authority.browse, "wait_s": 5.0, **options}
    auth = auth_of(MCP, SignIn(**said), store or MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=authority.transport(), auth=auth) as client:
        yield client


async def test_a_person_signs_in_once_and_every_request_has_the_token():
    authority = Authority()
    async with client_of(authority) as client:
        first, second = await client.post(MCP), await client.post(MCP)
    assert (first.text, second.text) == ("access-1", "access-1")
    assert len(authority.links) == 1
    link = {name: values[0] for name, values in parse_qs(urlsplit(authority.links[0]).query).items()}
    assert link["code_challenge_method"] == "S256"
    assert link["resource"] == MCP
    assert authority.forms[0]["resource"] == MCP


async def test_what_was_got_is_kept_for_its_user_alone(tmp_path: Path):
    authority, store = Authority(), FileTokens(tmp_path / "oauth", MCP)
    async with client_of(authority, store) as client:
        await client.post(MCP)
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600
    assert [path.name for path in store.path.parent.iterdir()] == [store.path.name]

    async with client_of(authority, FileTokens(tmp_path / "oauth", f"{MCP}/")) as client:
        assert (await client.post(MCP)).text == "access-1"
    assert len(authority.links) == authority.times("POST", f"{AUTH}/register") == 1


async def test_tokens_of_one_principal_are_not_anothers(tmp_path: Path):
    authority = Authority()
    for principal in ("anna", "ben"):
        async with client_of(authority, FileTokens(tmp_path, MCP, principal=principal)) as client:
            await client.post(MCP)
    assert len(authority.links) == 2


async def test_a_file_that_cannot_be_read_is_no_token(tmp_path: Path):
    authority, store = Authority(), FileTokens(tmp_path, MCP)
    store.path.write_text('{"url": ')
    async with client_of(authority, store) as client:
        assert (await client.post(MCP)).text == "access-1"


async def test_a_token_that_has_ended_is_renewed_where_it_came_from_by_the_next_process(tmp_path: Path):
    authority = Authority()
    authority.expires_in = -1
    async with client_of(authority, FileTokens(tmp_path, MCP)) as client:
        await client.post(MCP)
    authority.expires_in = 3600
    async with client_of(authority, FileTokens(tmp_path, MCP), show=None) as client:
        assert (await client.post(MCP)).text == "access-2"
    assert authority.forms[-1]["refresh_token"] == "refresh-1"
    assert authority.times("POST", "https://mcp.test/token") == 0


async def test_a_token_that_is_refused_is_renewed_before_anybody_is_asked():
    authority = Authority()
    async with client_of(authority) as client:
        await client.post(MCP)
        authority.issued.clear()
        assert (await client.post(MCP)).text == "access-2"
    assert len(authority.links) == 1


async def test_a_token_that_another_process_has_renewed_is_taken_up(tmp_path: Path):
    authority = Authority()
    async with (
        client_of(authority, FileTokens(tmp_path, MCP)) as one,
        client_of(authority, FileTokens(tmp_path, MCP)) as other,
    ):
        await one.post(MCP)
        await other.post(MCP)
        authority.issued.clear()
        assert (await one.post(MCP)).text == "access-2"
        assert (await other.post(MCP)).text == "access-2"
    assert len(authority.links) == 1
    assert [form["grant_type"] for form in authority.forms] == ["authorization_code", "refresh_token"]


async def test_a_process_that_waits_for_a_sign_in_goes_on_once_there_was_one_elsewhere(tmp_path: Path):
    authority = Authority()
    async with (
        client_of(authority, FileTokens(tmp_path, MCP), show=None) as agent,
        client_of(authority, FileTokens(tmp_path, MCP)) as person,
    ):
        assert (await agent.get(f"{MCP}/none")).status_code == 404
        await person.post(MCP)
        assert (await agent.post(MCP)).text == "access-1"


async def test_a_refresh_token_that_has_ended_means_a_new_sign_in():
    authority = Authority()
    async with client_of(authority) as client:
        await client.post(MCP)
        authority.issued.clear()
        authority.refresh.clear()
        assert (await client.post(MCP)).text == "access-3"
    assert len(authority.links) == 2
    assert authority.times("POST", f"{AUTH}/register") == 1


async def test_a_renewal_that_the_server_is_not_up_to_is_told_and_loses_nothing():
    authority, store = Authority(), MemoryTokens(MCP)
    async with client_of(authority, store) as client:
        await client.post(MCP)
    authority.issued.clear()
    authority.token_answer = lambda _: httpx2.Response(500, text="access-9 is in here")
    async with client_of(authority, store) as client:
        with pytest.raises(SignInFailed, match="cannot be renewed now: HTTP 500") as raised:
            await client.post(MCP)
    assert "access-9" not in str(raised.value)
    assert len(authority.links) == 1
    authority.token_answer = lambda _: None
    async with client_of(authority, store) as client:
        assert (await client.post(MCP)).text == "access-3"


async def test_an_answer_that_is_no_token_is_told_without_what_is_in_it():
    authority = Authority()
    authority.token_answer = lambda _: httpx2.Response(200, json={"refresh_token": "secret-9", "token_type": "mac"})
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match="answer is no token") as raised:
            await client.post(MCP)
    assert "secret-9" not in str(raised.value)


async def test_the_token_endpoints_error_is_told_in_the_standards_words():
    authority = Authority()
    error = {"error": "invalid_client", "error_description": "unknown", "trace": "secret-9"}
    authority.token_answer = lambda _: httpx2.Response(400, json=error)
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed) as raised:
            await client.post(MCP)
    assert raised.value.message == (
        "the authorization server gives no token: HTTP 400 of https://auth.test/token, invalid_client: unknown"
    )


async def test_an_answer_to_somebody_elses_sign_in_is_turned_away_and_the_right_one_counts():
    authority = Authority()
    seen: list[int] = []

    async def show(link: str) -> None:
        redirect = parse_qs(urlsplit(link).query)["redirect_uri"][0]
        async with httpx2.AsyncClient() as stranger:
            queries = ("?code=evil&state=guess", "?code=evil", "x")
            seen.extend([(await stranger.get(f"{redirect}{query}")).status_code for query in queries])
        await authority.browse(link)

    async with client_of(authority, show=show) as client:
        assert (await client.post(MCP)).text == "access-1"
    assert seen == [400, 400, 404]
    assert authority.forms[0]["code"] == "code-1"


async def test_nobody_who_comes_in_time_is_told_with_what_came_instead():
    authority = Authority()
    authority.comes_back = lambda query: {**query, "state": "another"}
    async with client_of(authority, wait_s=0.2) as client:
        with pytest.raises(SignInFailed, match=r"nobody signed in within 0 s; 1 answers came whose state"):
            await client.post(MCP)
    assert authority.forms == []


async def test_a_no_is_told_and_nobody_is_asked_a_second_time_at_once():
    authority = Authority()
    authority.comes_back = lambda query: {
        "error": "access_denied",
        "error_description": "<no>",
        "state": query["state"],
    }
    async with client_of(authority) as client:
        for _ in range(2):
            with pytest.raises(SignInFailed, match="refused the sign-in: access_denied: <no>"):
                await client.post(MCP)
    assert len(authority.links) == 1


@pytest.mark.parametrize("iss", ["https://evil.test", f"{AUTH}/"])
async def test_a_code_from_another_issuer_is_not_redeemed(iss: str):
    authority = Authority()
    authority.comes_back = lambda query: {**query, "iss": iss}
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match="iss mismatch"):
            await client.post(MCP)
    assert authority.forms == []


async def test_metadata_of_another_issuer_is_not_believed():
    authority = Authority()
    authority.metadata["issuer"] = "https://evil.test"
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match="issuer"):
            await client.post(MCP)
    assert authority.links == []


async def test_a_client_of_one_authorization_server_is_not_shown_to_another():
    authority = Authority()
    authority.resource["authorization_servers"] = ["https://evil.test"]
    async with client_of(authority, client_id="mine", client_secret="secret-9", issuer=AUTH) as client:
        with pytest.raises(SignInFailed, match=r"names the authorization server 'https://evil.test/?'"):
            await client.post(MCP)
    assert all("evil" not in asked for asked in authority.asked)


async def test_a_client_that_was_registered_beforehand_is_not_registered_again():
    authority = Authority()
    async with client_of(authority, client_id="mine", client_secret="secret-9", issuer=AUTH) as client:
        assert (await client.post(MCP)).text == "access-1"
    assert authority.times("POST", f"{AUTH}/register") == 0
    assert authority.forms[0]["authorization"].startswith("Basic ")


async def test_without_pkce_nobody_signs_in():
    authority = Authority()
    del authority.metadata["code_challenge_methods_supported"]
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match="PKCE"):
            await client.post(MCP)
    assert authority.links == []


@pytest.mark.parametrize("endpoint", ["authorization_endpoint", "token_endpoint"])
async def test_nothing_is_sent_to_where_others_can_read_it(endpoint: str):
    authority = Authority()
    authority.metadata[endpoint] = "http://auth.test/open"
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match=r"http://auth\.test/open is not https"):
            await client.post(MCP)
    assert authority.forms == []


async def test_metadata_that_cannot_be_read_is_told_without_its_values():
    authority = Authority()
    authority.registration = {"redirect_uris": ["secret-9"]}
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed) as raised:
            await client.post(MCP)
    assert "secret-9" not in raised.value.message


async def test_a_renewal_that_is_no_token_means_a_new_sign_in():
    authority = Authority()
    async with client_of(authority) as client:
        await client.post(MCP)
        authority.issued.clear()
        authority.token_answer = lambda form: (
            httpx2.Response(200, json={"token": "secret-9"}) if form["grant_type"] == "refresh_token" else None
        )
        assert (await client.post(MCP)).text == "access-3"
    assert len(authority.links) == 2


async def test_where_no_client_can_be_registered_one_is_asked_for():
    authority = Authority()
    authority.metadata["registration_endpoint"] = f"{AUTH}/none"
    async with client_of(authority) as client:
        with pytest.raises(SignInFailed, match="needs a client id"):
            await client.post(MCP)


async def test_a_client_with_an_issuer_is_not_used_where_none_is_named():
    authority = Authority()
    transport = httpx2.MockTransport(lambda request: httpx2.Response(401 if request.url.path == "/mcp" else 404))
    auth = auth_of(MCP, SignIn(show=authority.browse, client_id="mine", issuer=AUTH), MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=transport, auth=auth) as client:
        with pytest.raises(SignInFailed, match="names no authorization server"):
            await client.post(MCP)


async def test_where_nobody_can_sign_in_nothing_is_registered_and_the_message_says_what_to_do():
    authority = Authority()
    async with client_of(authority, show=None) as client:
        with pytest.raises(SignInFailed, match="toolwire tools list URL"):
            await client.post(MCP)
    assert authority.asked == [f"POST {MCP}"]


async def test_a_server_that_wants_a_key_and_no_oauth_says_so_in_its_own_words():
    authority = Authority()

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401, text="send a key") if request.url.path == "/mcp" else httpx2.Response(404)

    auth = auth_of(MCP, SignIn(show=authority.browse), MemoryTokens(MCP))
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answer), auth=auth) as client:
        response = await client.post(MCP)
    assert (response.status_code, response.text) == (401, "send a key")
    assert authority.links == []


async def test_a_slow_answer_holds_up_no_other_request():
    authority = Authority()
    async with client_of(authority) as client, anyio.create_task_group() as tasks:
        await client.post(MCP)
        tasks.start_soon(client.post, f"{MCP}?slow")
        with anyio.fail_after(5):
            await authority.waiting.wait()
            assert (await client.post(MCP)).text == "access-1"
        authority.slow.set()


async def test_two_that_are_refused_at_once_make_one_sign_in():
    authority = Authority()
    texts: list[str] = []

    async def send(client: httpx2.AsyncClient) -> None:
        texts.append((await client.post(MCP)).text)

    async with client_of(authority) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(send, client)
        tasks.start_soon(send, client)
    assert texts == ["access-1", "access-1"]
    assert len(authority.links) == 1


async def test_a_tool_that_needs_more_is_asked_for_with_what_was_granted_before():
    authority = Authority()
    async with client_of(authority, scope="profile") as client:
        await client.post(MCP)
        authority.needed_scope = "files"
        assert (await client.post(MCP)).status_code == 200
    scopes = [parse_qs(urlsplit(link).query)["scope"][0] for link in authority.links]
    assert [set(scope.split()) for scope in scopes] == [{"profile"}, {"profile", "files"}]


async def test_a_registration_whose_port_is_taken_is_made_anew():
    authority, store = Authority(), MemoryTokens(MCP)
    async with client_of(authority, store) as client:
        await client.post(MCP)
    taken = urlsplit(parse_qs(urlsplit(authority.links[0]).query)["redirect_uri"][0]).port
    await store.save(Kept(MCP, client=(await store.load()).client))
    holder = await Loopback.open(taken or 0)
    try:
        async with client_of(authority, store) as client:
            assert (await client.post(MCP)).text == "access-2"
    finally:
        await holder.aclose()
    assert authority.times("POST", f"{AUTH}/register") == 2


async def test_a_port_that_was_asked_for_and_is_taken_is_named():
    holder = await Loopback.open()
    port = urlsplit(holder.url).port
    try:
        async with client_of(Authority(), port=port) as client:
            with pytest.raises(SignInFailed, match=f"port {port} cannot be listened on"):
                await client.post(MCP)
    finally:
        await holder.aclose()
