"""cards.md §2 and 6-9, 17, 21-24: what a manifest may say, and how it is told what it may not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.card.manifests import GOOD, PUBLIC, encoded, manifest, public, with_schema, with_tool
from toolwire.card.manifest import MAX_MANIFEST_BYTES, check_manifest, read_manifest
from toolwire.core.errors import InvalidParam


def test_the_seeds_card_can_be_installed() -> None:
    """cards.md 6, 13, 18, 54."""
    read = read_manifest(encoded(GOOD))
    (tool,) = read.tools
    assert (read.name, read.display_name, read.author, read.entry) == (
        "test-radar",
        "Test radar",
        "Ada",
        "dist/index.html",
    )
    assert (tool.name, tool.title, tool.timeout_ms, tool.read_only) == ("run_tests", "Run the tests", 120_000, False)
    assert read.shown_description(tool).startswith('[Custom card "Test radar" by Ada, community code] Runs the')
    assert read.permitted() == {"agents.read", "terminals.write"}


@pytest.mark.parametrize("name", PUBLIC)
def test_the_public_cards_can_be_installed_as_they_are(name: str) -> None:
    report = check_manifest(encoded(public(name)))
    assert report.errors == ()
    assert report.manifest is not None
    assert [tool.name for tool in report.manifest.tools] == [tool["name"] for tool in PUBLIC[name]]


def test_a_card_without_tools_or_anything_that_is_optional_can_be_installed() -> None:
    plain = {key: GOOD[key] for key in ("manifestVersion", "name", "displayName", "version", "protocol")}
    read = read_manifest(encoded(plain))
    assert (read.tools, read.entry, read.size, read.author) == ((), "index.html", (420, 320), None)


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


WIDE = {f"p{number}": {"type": "string"} for number in range(600)}
SCHEMA = "/tools/0/inputSchema"
PROPERTY = "/tools/0/inputSchema/properties/a"
SECRET = {"key": "k", "type": "secret", "label": "K", "default": "x"}
COLOR = {"key": "k", "type": "color", "label": "K", "default": "red"}
TOOL = GOOD["tools"][0]
SELECT = {"key": "k", "type": "select", "label": "K"}
UNFIT = "schema_not_supported"
FULLWIDTH = "".join(chr(ord(c) + 0xFEE0) for c in "NeuroSquad")


@pytest.mark.parametrize(
    ("changed", "path", "code"),
    [
        (manifest(manifestVersion=2), "/manifestVersion", "wrong_shape"),
        (manifest(name="Test"), "/name", "wrong_shape"),
        (manifest(name="x" * 49), "/name", "wrong_shape"),
        (manifest(version="1.0"), "/version", "wrong_shape"),
        (manifest(version=None), "/version", "wrong_shape"),
        (manifest(tolls=[]), "/tolls", "unknown_key"),
        (manifest(protocol="1"), "/protocol", "wrong_shape"),
        (manifest(protocol=2), "/protocol", "protocol_too_new"),
        (manifest(name="telegram"), "/name", "reserved_name"),
        (manifest(name="mcp"), "/name", "reserved_name"),
        (manifest(displayName={"ru": "x"}), "/displayName/en", "wrong_shape"),
        (manifest(displayName="Radar\u202e"), "/displayName", "hidden_characters"),
        (manifest(displayName="Ra\u200bdar"), "/displayName", "hidden_characters"),
        (manifest(displayName="Ra\U000e0041dar"), "/displayName", "hidden_characters"),
        (manifest(displayName="Radar\n"), "/displayName", "hidden_characters"),
        (manifest(displayName=FULLWIDTH), "/displayName", "impersonation"),
        (manifest(author={"name": "O f f i c i a l"}), "/author/name", "impersonation"),
        (manifest(author={"name": "A", "url": "http://a.example"}), "/author/url", "wrong_shape"),
        (manifest(entry="../index.html"), "/entry", "wrong_path"),
        (manifest(entry="/index.html"), "/entry", "wrong_path"),
        (manifest(entry="a\\index.html"), "/entry", "wrong_path"),
        (manifest(entry="index.js"), "/entry", "wrong_shape"),
        (manifest(card={"minSize": {"w": 500, "h": 120}}), "/card/minSize/w", "wrong_size"),
        (manifest(permissions=["root"]), "/permissions/0", "wrong_shape"),
        (manifest(permissions=["network"]), "/permissions/0", "hosts_missing"),
        (manifest(permissions=[{"id": "network", "hosts": ["10.0.0.1"]}]), "/permissions/0", "wrong_shape"),
        (manifest(permissions=[{"id": "network", "hosts": ["localhost"]}]), "/permissions/0", "wrong_shape"),
        (manifest(settings=[SECRET]), "/settings/0/default", "wrong_setting"),
        (manifest(settings=[SELECT]), "/settings/0", "wrong_setting"),
        (manifest(settings=[COLOR]), "/settings/0/default", "wrong_setting"),
        (with_tool(name="Run"), "/tools/0/name", "wrong_shape"),
        (with_tool(name="a__b"), "/tools/0/name", "reserved_name"),
        (with_tool(name="_b"), "/tools/0/name", "wrong_shape"),
        (manifest(name="radar-", tools=GOOD["tools"]), "/tools/0/name", "reserved_name"),
        (manifest(name="a--b", tools=GOOD["tools"]), "/tools/0/name", "reserved_name"),
        (manifest(name="terminal-send", tools=[TOOL | {"name": "keys"}]), "/tools/0/name", "reserved_name"),
        (manifest(tools=GOOD["tools"] * 2), "/tools/1/name", "double_name"),
        (with_tool(description=""), "/tools/0/description", "wrong_shape"),
        (with_tool(description="x" * 2001), "/tools/0/description", "wrong_shape"),
        (with_tool(description="Run\u2066"), "/tools/0/description", "hidden_characters"),
        (with_tool(timeoutMs=999), "/tools/0/timeoutMs", "wrong_shape"),
        (with_tool(timeoutMs=120_001), "/tools/0/timeoutMs", "wrong_shape"),
        (with_tool(inputSchema={"type": "array"}), SCHEMA + "/type", "wrong_shape"),
        (with_schema(properties={"card": {"type": "string"}}), SCHEMA + "/properties/card", UNFIT),
        (with_schema(properties={"a": {"pattern": "(a+)+"}}), PROPERTY + "/pattern", UNFIT),
        (with_schema(properties={"a": {"$ref": "https://x.example/s"}}), PROPERTY + "/$ref", UNFIT),
        (with_schema(properties={"a": {"$ref": "#/$defs/gone"}}), PROPERTY + "/$ref", UNFIT),
        (with_schema(allOf=[{}]), SCHEMA + "/allOf", UNFIT),
        (with_schema(anyOf=[{}]), SCHEMA + "/anyOf", UNFIT),
        (with_schema(properties={"a": {"type": "text"}}), PROPERTY + "/type", UNFIT),
        (with_schema(properties={"a": {"format": "regex"}}), PROPERTY + "/format", UNFIT),
        (with_schema(properties={"a/b": {"nope": 1}}), SCHEMA + "/properties/a~1b/nope", UNFIT),
        (with_schema(properties={"a": {"enum": [str(n) for n in range(257)]}}), PROPERTY + "/enum", UNFIT),
        (with_schema(properties={"a": {"title": "x\u200b"}}), PROPERTY + "/title", "hidden_characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_place_and_a_code(changed: dict[str, Any], path: str, code: str) -> None:
    """cards.md 17, 21-24, 54."""
    report = check_manifest(encoded(changed))
    assert not report.ok
    assert (path, code) in {(finding.path, finding.code) for finding in report.errors}, report.errors
    assert all(finding.message for finding in report.errors)
    with pytest.raises(InvalidParam, match="manifest"):
        read_manifest(encoded(changed))


@pytest.mark.parametrize("schema", [{"properties": {"a": nested(20)}}, {"properties": WIDE}])
def test_a_schema_that_is_too_large_is_told_once(schema: dict[str, Any]) -> None:
    (finding,) = check_manifest(encoded(with_schema(**schema))).errors
    assert finding.code == UNFIT


def test_all_that_is_wrong_is_told_in_one_go() -> None:
    wrong = {**with_schema(properties={"card": {}, "a": {"not": {}}}), "version": "one"}
    assert len(check_manifest(encoded(wrong)).errors) == 3


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b"{", b"[" * 5000, b'"' + b"x" * MAX_MANIFEST_BYTES + b'"'])
def test_what_is_no_manifest_at_all_is_told(data: bytes) -> None:
    (finding,) = check_manifest(data).errors
    assert (finding.path, finding.code) == ("", "manifest_unreadable")


def test_what_an_author_should_know_is_a_warning() -> None:
    """Decisions 7 and 13."""
    long = manifest(name="x" * 48, author=None, tools=[{**GOOD["tools"][0], "description": "[Custom card] hi"}])
    report = check_manifest(encoded(long))
    assert {(finding.path, finding.code) for finding in report.warnings} == {
        ("/tools/0/name", "name_long"),
        ("/tools/0/description", "looks_like_prefix"),
        ("/author", "author_missing"),
    }
    longer = manifest(name="x" * 48, tools=[{**GOOD["tools"][0], "name": "y" * 40}])
    assert [finding.code for finding in check_manifest(encoded(longer)).warnings] == ["name_shortened"]


def test_a_permission_that_stands_twice_is_merged() -> None:
    asked = [
        {"id": "network", "hosts": ["a.example"], "optional": True},
        {"id": "network", "hosts": ["b.example", "a.example"], "reason": "news"},
    ]
    (permission,) = read_manifest(encoded(manifest(permissions=asked))).permissions
    assert (permission.hosts, permission.reason, permission.optional) == (("a.example", "b.example"), "news", False)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from([*GOOD, "settings", "ports", "card", "icon"]), _json))
def test_nothing_that_can_be_written_breaks_the_check(changes: dict[str, Any]) -> None:
    report = check_manifest(encoded({**GOOD, **changes}))
    assert report.ok is (report.manifest is not None)


@given(_json)
def test_no_schema_breaks_the_check(schema: Any) -> None:
    check_manifest(encoded(with_tool(inputSchema=schema)))
    check_manifest(encoded(with_schema(properties=schema)))
