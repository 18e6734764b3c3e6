"""The official clients, unmodified, sign in at a real host with a browser and call a tool (gateway.md 45-48)."""

import itertools
import json
import signal
import socket
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_types import TextContent
from pydantic import AnyUrl

from tests.e2e.inspectors import installed
from tests.e2e.people import Person, PlainBrowser, person_here
from tests.e2e.running import STOP_LIMIT_S, TOOLWIRE, Host, environment
from tests.interaction import node_clients

pytestmark = [pytest.mark.e2e, pytest.mark.anyio]

CALLBACK = "http://127.0.0.1:6299/callback"
CHALLENGE = {"code_challenge": "c" * 43, "code_challenge_method": "S256"}
QUERY = {"query": "how do tides work", "max_results": 1}


@pytest.fixture(scope="module")
def person() -> Person:
    return person_here()


class Kept:
    """What a client keeps between two runs."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class PythonClient:
    """The official Python client with its own OAuth; a person answers what it opens."""

    def __init__(self, host: Host, person: Person, url: str) -> None:
        self.kept = Kept()
        self.opened: list[str] = []
        self.url = url
        self._host = host
        self._person = person
        self._sent = ""

    async def call(self) -> str:
        """Call the demo's search; the text of its answer."""
        metadata = OAuthClientMetadata(client_name="Python client", redirect_uris=[AnyUrl(CALLBACK)])
        auth = OAuthClientProvider(self.url, metadata, self.kept, self._open, self._come_back)
        async with (
            httpx2.AsyncClient(auth=auth, timeout=30, trust_env=False) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            result = await client.call_tool("web_search", QUERY)
        assert isinstance(result.content[0], TextContent)
        return result.content[0].text

    async def _open(self, url: str) -> None:
        self.opened.append(url)
        key = self._host.ready.owner_key
        self._sent = (await anyio.to_thread.run_sync(self._person.answer, url, key)).sent

    async def _come_back(self) -> AuthorizationCodeResult:
        answer = {name: values[0] for name, values in parse_qs(urlsplit(self._sent).query).items()}
        return AuthorizationCodeResult(**answer)


async def test_the_python_client_signs_in_calls_refreshes_and_is_revoked(host: Host, person: Person):
    client = PythonClient(host, person, f"{host.ready.url}/{host.ready.agent_id}/mcp")
    with anyio.fail_after(120):
        first = await client.call()
        again = await client.call()
        assert client.kept.tokens is not None
        client.kept.tokens.access_token = "oat_" + "0" * 64
        renewed = await client.call()
    assert "tide" in first.lower()
    assert again == renewed == first
    assert parse_qs(urlsplit(client.opened[0]).query)["resource"] == [client.url]


async def test_grants_are_seen_and_ended_from_the_command_line(host: Host):
    client = PythonClient(host, PlainBrowser(), f"{host.ready.url}/{host.ready.agent_id}/mcp")
    with anyio.fail_after(60):
        await client.call()
        assert client.kept.tokens is not None
        headers = {"authorization": f"Bearer {client.kept.tokens.access_token}"}
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        before = host.client.post(f"/{host.ready.agent_id}/mcp", json=ask, headers=headers).status_code
        listed = host.toolwire("grant", "list", "--json").json()["grants"][-1]
        ended = host.toolwire("grant", "revoke", listed["grant_id"], "--json").json()
        after = host.client.post(f"/{host.ready.agent_id}/mcp", json=ask, headers=headers).status_code
    assert (listed["client_name"], listed["agents"]) == ("Python client", [host.ready.agent_id])
    assert ended == {"grant_id": listed["grant_id"], "revoked": True}
    assert (before, after) == (200, 401)
    shown = host.toolwire("grant", "list")
    assert (shown.code, listed["grant_id"] in shown.out) == (0, False)


@pytest.mark.parametrize("line", ["v1", "v2"])
def test_the_typescript_clients_sign_in_and_call(host: Host, person: Person, line: str):
    url = f"{host.ready.url}/{host.ready.agent_id}/mcp"
    command = node_clients.installed().oauth(line, url, "web_search", json.dumps(QUERY))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        opened = process.stdout.readline()
        assert opened, process.stderr.read()
        answered = person.answer(json.loads(opened)["open"], host.ready.owner_key)
        said = process.stdout.readline()
        assert said, process.stderr.read()
    assert f"TypeScript client {line}" in answered.question
    assert answered.complaints == []
    assert "tide" in json.loads(said)["text"].lower()


def test_the_inspector_s_command_line_signs_in_and_calls(host: Host, person: Person, tmp_path: Path):
    url = f"{host.ready.url}/{host.ready.agent_id}/mcp"
    with socket.create_server(("127.0.0.1", 0)) as free:
        callback = f"http://127.0.0.1:{free.getsockname()[1]}/oauth/callback"
    arguments = [f"{name}={value}" for name, value in QUERY.items()]
    options = ["--method", "tools/call", "--tool-name", "web_search", "--tool-arg", *arguments]
    with installed(tmp_path).signing_in(url, callback, *options) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        opened = next((line for line in process.stderr if "/oauth/authorize?" in line), "")
        assert opened, process.returncode
        person.answer(opened[opened.index("http") :].strip(), host.ready.owner_key)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "tide" in out.lower()


def test_our_own_command_line_signs_in_and_calls(host: Host, tmp_path: Path):
    url = f"{host.ready.url}/{host.ready.agent_id}/mcp"
    command = [TOOLWIRE, "call", url, "web_search", "--args", json.dumps(QUERY)]
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        opened = next((line for line in process.stderr if "/oauth/authorize?" in line), "")
        PlainBrowser().answer(opened.strip(), host.ready.owner_key)
        out, errors = process.communicate(timeout=60)
    again = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert process.returncode == 0, errors
    assert "tide" in out.lower()
    assert (again.returncode, again.stdout) == (0, out)


def test_a_sign_in_link_of_the_command_line_opens_the_page(host: Host):
    link = host.toolwire("sign-in", "--json").json()["url"]
    assert link.startswith(f"{host.ready.url}/sign-in?link=")
    with httpx2.Client(timeout=30, trust_env=False) as browser:
        shown = browser.get(link)
        signed_in = browser.post(link, headers={"origin": host.ready.url})
    assert "Sign in on this browser" in shown.text
    assert (signed_in.status_code, signed_in.headers["location"]) == (303, "/")
    assert {"toolwire-owner", "toolwire-browser"} <= {name[:16] for name in signed_in.cookies}


def test_the_link_that_a_start_prints_signs_in_and_the_page_then_asks_at_once(tmp_path: Path):
    with subprocess.Popen(
        [TOOLWIRE, "up", "--demo", "--port", "0"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = list(itertools.takewhile(lambda line: "Ctrl-C stops it" not in line, process.stdout))
            (line,) = [line for line in told if line.startswith("  sign in")]
            link = line.split()[2]
            place = link[: link.index("/sign-in")]
            with httpx2.Client(timeout=30, trust_env=False, headers={"origin": place}, base_url=place) as browser:
                assert browser.post(link).status_code == 303
                metadata = {"client_name": "App", "redirect_uris": [CALLBACK]}
                client_id = browser.post("/oauth/register", json=metadata).json()["client_id"]
                query = {"response_type": "code", "client_id": client_id, "redirect_uri": CALLBACK, **CHALLENGE}
                page = browser.get("/oauth/authorize", params=query)
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(STOP_LIMIT_S) == 0
    assert "“App” asks to call your agents" in page.text
    assert 'value="agent_demo" checked' in page.text
