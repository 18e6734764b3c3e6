"""docs/how-to/agent-in-bash.md: the limits that it names are those of the routes."""

from tests.docs.pages import read
from toolwire.config import Config
from toolwire.gateway.deliveries import MAX_BLOCK_S, MAX_READ

PAGE = read("docs/how-to/agent-in-bash.md")


def test_the_limits_are_those_of_the_gateway():
    assert f"`max` up to {MAX_READ}; `block_ms` up to {MAX_BLOCK_S * 1000:.0f} " in PAGE
    assert f"after {Config().offline_after_s:.0f} s without one the agent counts as offline" in PAGE
    assert f"a delivery is yours for {Config().delivery_lease_s:.0f} s" in PAGE
