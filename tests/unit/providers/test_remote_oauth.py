"""A remote server that wants a token, as a provider and as an agent's server (sdk.md 51, RFC 9728)."""

import math
from pathlib import Path

import pytest

from tests.unit.providers.guarded import Guarded, come_back, guarded
from tests.unit.providers.remote_rig import call_of, ignore
from toolwire.core.errors import ServiceUnavailable
from toolwire.core.result import Text
from toolwire.providers.remote import open_remote
from toolwire.providers.remote_auth import Auth, Credentials, SignIn
from toolwire.providers.remote_oauth_store import FileTokens, MemoryTokens
from toolwire.providers.remote_server import HttpServer, Patience
from toolwire.providers.remote_sign_in import auth_of
from toolwire.sdk.options import ToolPlace
from toolwire.sdk.remote.servers import McpConfigError, McpHttpServerSpec, open_remote_servers

pytestmark = pytest.mark.anyio


def server_of(guard: Guarded, auth: Auth) -> HttpServer:
    url = f"{guard.url}/mcp"
    return HttpServer(url, auth=auth_of(url, auth, MemoryTokens(url)))


async def test_a_provider_signs_in_and_calls():
    async with guarded() as guard, open_remote(server_of(guard, SignIn(show=come_back)), "guard") as provider:
        result = await provider.call(call_of("echo", text="hi"), ignore)
    assert result.content == (Text("hi"),)
    assert guard.grants == ["authorization_code"]


async def test_the_server_s_time_stands_still_while_a_person_signs_in():
    stopped: list[bool] = []

    async with guarded() as guard:

        async def show(link: str) -> None:
            running = auth.clocks._running  # pyright: ignore[reportPrivateUsage] -- what stands still shows nowhere else
            stopped.extend(scope.deadline == math.inf for scope in running)
            await come_back(link)

        url = f"{guard.url}/mcp"
        auth = auth_of(url, SignIn(show=show), MemoryTokens(url))
        async with open_remote(HttpServer(url, auth=auth), "guard", Patience(connect_s=20)):
            pass
    assert stopped == [True]


async def test_a_sign_in_that_fails_is_a_server_that_is_not_available_and_says_why():
    async def show(link: str) -> None:
        raise RuntimeError("no screen")

    async with guarded() as guard:
        with pytest.raises(ServiceUnavailable, match="the link to sign in could not be shown: no screen"):
            async with open_remote(server_of(guard, SignIn(show=show)), "guard"):
                pass
    assert guard.grants == []


async def test_an_agent_s_server_signs_in_with_the_tokens_of_the_command_line(tmp_path: Path):
    async with guarded() as guard:
        url = f"{guard.url}/mcp"
        spec = McpHttpServerSpec("guard", url, auth=SignIn(), token_folder=str(tmp_path))
        async with open_remote_servers({"guard": spec}.get) as servers:
            before = await servers.turn(ToolPlace("task-1", tmp_path, ("guard",)))
        signed = auth_of(url, SignIn(show=come_back), FileTokens(tmp_path, url))
        async with open_remote(HttpServer(url, auth=signed), "guard"):
            pass
        async with open_remote_servers({"guard": spec}.get) as servers:
            after = await servers.turn(ToolPlace("task-1", tmp_path, ("guard",)))

    assert "toolwire tools list URL" in before.skipped[0].reason
    assert "mcp__guard__echo" in [entry.tool.name for entry in after.tools]
    assert guard.grants == ["authorization_code"]


async def test_an_agent_s_server_may_have_credentials_of_its_own(tmp_path: Path):
    async with guarded() as guard:
        auth = Credentials(client_id="me", client_secret="secret-8")
        spec = McpHttpServerSpec("guard", f"{guard.url}/mcp", auth=auth, token_folder=str(tmp_path))
        async with open_remote_servers({"guard": spec}.get) as servers:
            offered = await servers.turn(ToolPlace("task-1", tmp_path, ("guard",)))
    assert offered.skipped == []
    assert "secret" not in repr(spec)
    assert guard.grants == ["client_credentials"]


@pytest.mark.parametrize(
    "options,words",
    [
        ({"auth": "me"}, "auth must be SignIn, Credentials, Assertion or Enterprise, got 'me'"),
        ({"auth": SignIn(), "headers": {"authorization": "Bearer x"}}, "give auth or a header Authorization"),
    ],
)
def test_an_auth_that_cannot_be_is_refused(options: dict[str, object], words: str):
    with pytest.raises(McpConfigError, match=words):
        McpHttpServerSpec("guard", "https://mcp.test", **options)  # pyright: ignore[reportArgumentType] -- wrong on purpose
