"""What a client can do, in a byte."""

from typing import Any

import pytest

from toolwire.wire.mcp.client_features import pack_capabilities, unpack_capabilities


@pytest.mark.parametrize(
    "declared",
    [
        {},
        {"sampling": {}},
        {"sampling": {"tools": {}, "context": {}}},
        {"elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": {}}},
    ],
)
def test_what_is_packed_comes_back(declared: dict[str, Any]):
    assert unpack_capabilities(pack_capabilities(declared)) == declared


def test_what_is_true_or_an_object_is_declared_and_the_rest_is_left_out():
    declared: dict[str, Any] = {
        "roots": {"listChanged": True},
        "sampling": False,
        "elicitation": None,
        "experimental": {"x": {}},
    }
    assert unpack_capabilities(pack_capabilities(declared)) == {"roots": {"listChanged": {}}}


@pytest.mark.parametrize("declared", [None, [], "sampling", {"sampling": {"tools": False}, "roots": []}])
def test_it_always_fits_a_byte(declared: Any):
    assert 0 <= pack_capabilities(declared) < 256
