"""A host with a demo agent outlives that agent (found by asking it everything that its document describes)."""

from pathlib import Path

import pytest

from tests.e2e.running import Host
from toolwire.client import ApiError, Client

pytestmark = pytest.mark.e2e


def test_a_host_goes_on_serving_when_the_demo_agents_key_is_revoked(tmp_path: Path):
    with Host(tmp_path) as host, Client(host.ready.url, host.ready.owner_key, tries=1) as client:
        host.attached("demo")
        (key,) = (key for key in client.keys.list("demo") if key.kind == "agk" and key.revoked_at is None)
        client.keys.revoke(key.key_id)
        host.errors_say("the demo agent has left")
        assert not client.agents.get("demo").attached
        with pytest.raises(ApiError) as raised:
            client.calls.invoke("demo", "web_search", {"query": "tides"})
        assert raised.value.code == "agent_offline"
        assert host.stop() == 0


def test_a_host_goes_on_serving_when_the_demo_agent_is_removed(tmp_path: Path):
    with Host(tmp_path) as host, Client(host.ready.url, host.ready.owner_key) as client:
        host.attached("demo")
        client.agents.remove("demo")
        host.errors_say("the demo agent has left")
        assert client.agents.list() == []
        assert host.stop() == 0
