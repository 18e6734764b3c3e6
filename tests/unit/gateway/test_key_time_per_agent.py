"""gateway.md 27, D7, D15: an owner says how long the keys of an agent's calls are remembered."""

from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.unit.gateway.polled_site import PolledSite, open_polled_site
from toolwire.core.jsontypes import JsonObject

DAY_S = 24 * 3600.0


async def asked(site: PolledSite, key: str) -> JsonObject:
    """The `_meta` of the result of a call under a key."""
    answer = await site.answered("summarize_pdf", {"idempotency_key": key}, lambda _: {"text": "ok"})
    return answer["result"]["_meta"]


async def test_the_owners_time_is_shown_and_given_back_to_the_gateways_setting(tmp_path: Path):
    async with open_polled_site(tmp_path) as site:
        path = f"/agents/{site.agent_id}"
        assert (await site.ask("GET", path))["idempotency_ttl_s"] is None
        assert (await site.ask("PATCH", path, {"idempotency_ttl_s": 60}))["idempotency_ttl_s"] == 60
        assert (await site.ask("PATCH", path, {"description": "Ours."}))["idempotency_ttl_s"] == 60
        assert (await site.ask("PATCH", path, {"idempotency_ttl_s": None}))["idempotency_ttl_s"] is None


@pytest.mark.parametrize("wrong", [0, -1, "1d", True, 1e12])
async def test_what_is_no_time_is_refused(tmp_path: Path, wrong: Any):
    async with open_polled_site(tmp_path) as site:
        error = await site.ask("PATCH", f"/agents/{site.agent_id}", {"idempotency_ttl_s": wrong}, status=400)
        assert error["code"] == "invalid_param"


async def test_a_replay_says_until_when_its_key_counts_by_the_owners_time(tmp_path: Path):
    """D7, D9: from the first acceptance."""
    async with open_polled_site(tmp_path) as site:
        await site.ask("PATCH", f"/agents/{site.agent_id}", {"idempotency_ttl_s": 7 * DAY_S})
        await asked(site, "k1")
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
        params = {"name": "summarize_pdf", "arguments": {"idempotency_key": "k1"}}
        headers = {"authorization": f"Bearer {site.keys['bak']}"}
        response = await site.client.post(f"/{site.agent_id}/mcp", json={**call, "params": params}, headers=headers)
        told = response.json()["result"]["_meta"]["toolwire/idempotency"]
        assert told["replayed"] is True
        first, last = (datetime.fromisoformat(told[name]) for name in ("first_seen", "expires_at"))
        assert (last - first).days == 7


async def test_links_in_a_result_hold_as_long_as_its_key(tmp_path: Path):
    """D15: whoever repeats the call can still read its files."""
    async with open_polled_site(tmp_path) as site:
        report = await site.put(b"a,b", "report.csv", "text/csv", "agk")
        link = {"type": "resource_link", "uri": f"toolwire://files/{report}", "name": "report"}

        async def until() -> int:
            answer = await site.answered(
                "summarize_pdf",
                {},
                lambda _: {"text": "", "content": [link]},
                headers={"mcp-protocol-version": "2025-11-25"},
            )
            uri: str = answer["result"]["content"][0]["uri"]
            return int(parse_qs(urlsplit(uri).query)["expires"][0])

        before = await until()
        await site.ask("PATCH", f"/agents/{site.agent_id}", {"idempotency_ttl_s": 7 * DAY_S})
        assert await until() - before >= 6 * DAY_S
