"""Signing in at a remote MCP server for the gateway: when it is added, and again (docs/how-to/remote-servers.md)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.test_sign_in import command
from tests.unit.providers.guarded import guarded
from tests.unit.providers.remote_rig import serving
from toolwire.client import ApiError, AsyncClient
from toolwire.config import Config
from toolwire.gateway.host import open_gateway

pytestmark = pytest.mark.anyio


@dataclass
class Site:
    """A gateway on a socket, and its owner's client."""

    folder: Path
    url: str
    key: str
    client: AsyncClient

    async def toolwire(self, *words: str, browse: bool = True) -> tuple[int, Any, str]:
        """What a command ends with, prints as JSON, and says on stderr; a person follows the link that it shows."""
        host = ("--url", self.url, "--key", self.key, "--json")
        code, printed, said = await command(self.folder, *words, *host, browse=browse)
        return code, json.loads(printed) if code == 0 else printed, said

    async def echoed(self) -> str:
        return (await self.client.calls.invoke("docs", "echo", {"text": "hi"})).text


@asynccontextmanager
async def site_on(folder: Path, key: str = "") -> AsyncGenerator[Site]:
    async with open_gateway(Config(data=str(folder / "gateway"))) as gateway, serving(gateway.app) as url:
        key = key or gateway.owner_key or ""
        async with AsyncClient(url, key) as client:
            yield Site(folder, url, key, client)


def holding(folder: Path, secret: str) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and secret.encode() in file.read_bytes()]


async def test_a_server_that_wants_a_sign_in_is_added_with_one_and_its_token_renewed(tmp_path: Path):
    async with guarded() as far, site_on(tmp_path) as site:
        code, made, said = await site.toolwire("remote", "add", "docs", f"{far.url}/mcp")
        assert code == 0, said
        assert "sign in here" in said
        assert (made["sign_in"], "secret-9" in str(made)) == ("done", False)
        assert await site.echoed() == "hi"
        assert far.grants == ["authorization_code"]

        far.token = "secret-10"
        assert await site.echoed() == "hi"
        assert far.grants == ["authorization_code", "refresh_token"]
    assert holding(tmp_path, "secret-9") == holding(tmp_path, "secret-10") == holding(tmp_path, "refresh-9") == []


async def test_tokens_outlive_a_restart_and_go_with_the_server(tmp_path: Path):
    async with guarded() as far:
        async with site_on(tmp_path) as site:
            assert (await site.toolwire("remote", "add", "docs", f"{far.url}/mcp"))[0] == 0
            key = site.key
        async with site_on(tmp_path, key) as site:
            assert await site.echoed() == "hi"
            assert far.grants == ["authorization_code"]
            await site.client.remotes.remove("docs")
            assert await site.client.remotes.list() == []


async def test_where_nobody_may_be_asked_it_is_said_how_to_sign_in(tmp_path: Path):
    async with guarded() as far, site_on(tmp_path) as site:
        place = f"{far.url}/mcp"
        code, _, said = await site.toolwire("remote", "add", "docs", place, "--no-auth", browse=False)
        assert (code, "wants somebody to sign in" in said) == (3, True)
        assert await site.client.remotes.list() == []
        code, _, said = await site.toolwire("remote", "login", "docs", browse=False)
        assert (code, "no remote server 'docs'" in said) == (3, True)


async def test_when_tokens_have_ended_for_good_the_owner_signs_in_again(tmp_path: Path):
    async with guarded() as far, site_on(tmp_path) as site:
        assert (await site.toolwire("remote", "add", "docs", f"{far.url}/mcp"))[0] == 0
        far.token, far.renews = "secret-11", False  # no token is good any more, and none is renewed
        with pytest.raises(ApiError, match="toolwire remote login"):
            await site.echoed()
        assert [one.sign_in for one in await site.client.remotes.list()] == ["wanted"]

        far.renews = True
        code, made, said = await site.toolwire("remote", "login", "docs")
        assert (code, made["sign_in"]) == (0, "done"), said
        assert await site.echoed() == "hi"
