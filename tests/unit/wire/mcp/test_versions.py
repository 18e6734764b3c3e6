"""Which wire a request takes, and which version `initialize` is answered with (mcp.md 1.1)."""

import pytest

from toolwire.wire.mcp.versions import LEGACY, MODERN, has_resource_links, is_legacy, legacy_version, negotiate


@pytest.mark.parametrize("version", LEGACY)
def test_each_older_version_takes_the_initialize_wire(version: str):
    assert legacy_version(version.encode()) == version
    assert legacy_version(f" {version}\t".encode()) == version
    assert is_legacy(version.encode())


def test_a_request_that_names_no_version_speaks_the_one_before_the_header_was_made():
    assert legacy_version(None) == "2025-03-26"
    assert is_legacy(None)


@pytest.mark.parametrize("header", [b"2026-07-28", b"2099-01-01", b"v999.0.0", b"", b"2025-11-25, 2025-11-25", b"\xff"])
def test_every_other_version_takes_the_other_wire_which_answers_for_it(header: bytes):
    assert legacy_version(header) is None
    assert not is_legacy(header)


@pytest.mark.parametrize("version", LEGACY)
def test_initialize_agrees_to_any_older_version(version: str):
    assert negotiate(version) == version


@pytest.mark.parametrize("version", ["2026-07-28", "1.0", "", None, 7])
def test_initialize_answers_what_it_does_not_speak_with_its_latest(version: object):
    assert negotiate(version) == "2025-11-25"


def test_links_are_known_since_the_summer_of_2025():
    known = [version for version in (*LEGACY, *MODERN) if has_resource_links(version)]
    assert known == ["2025-06-18", "2025-11-25", "2026-07-28"]
