"""Pages of other origins at the gateway: its MCP endpoints, its REST surface, and what is refused (mcp.md S30)."""

from pathlib import Path

import httpx2
import pytest

from toolwire.config import Config
from toolwire.gateway.host import open_gateway

PAGE = "https://app.example.com"
WANTED = "authorization,content-type,mcp-method,mcp-name,mcp-param-region,mcp-protocol-version,mcp-session-id"


@pytest.mark.parametrize("path", ["/agent_1/mcp", "/agents/agent_1/mcp", "/api/v1/agents", "/channels"])
async def test_a_page_of_the_allowed_origins_may_ask_everywhere_and_read_what_is_refused(path: str, tmp_path: Path):
    config = Config(data=str(tmp_path), allowed_origins=(PAGE,))
    async with open_gateway(config) as gateway:
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8094") as client:
            asked = {"origin": PAGE, "access-control-request-method": "POST", "access-control-request-headers": WANTED}
            preflight = await client.options(path, headers=asked)
            assert preflight.status_code == 204
            assert preflight.headers["access-control-allow-origin"] == PAGE
            assert set(WANTED.split(",")) <= set(preflight.headers["access-control-allow-headers"].split(", "))

            refused = await client.post(path, json={}, headers={"origin": PAGE})
            assert refused.status_code in (401, 405)
            assert refused.headers["access-control-allow-origin"] == PAGE
            assert "WWW-Authenticate" in refused.headers["access-control-expose-headers"]

            other = await client.options(path, headers={**asked, "origin": "https://evil.example.com"})
            assert other.status_code == 403
            assert "access-control-allow-origin" not in other.headers


async def test_by_default_no_page_of_another_origin_may_ask(tmp_path: Path):
    async with open_gateway(Config(data=str(tmp_path))) as gateway:
        transport = httpx2.ASGITransport(gateway.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost:8094") as client:
            asked = {"origin": PAGE, "access-control-request-method": "POST"}
            answer = await client.options("/agent_1/mcp", headers=asked)
            assert answer.status_code == 403
            assert not [name for name in answer.headers if name.startswith("access-control")]
