"""The tools of an endpoint: what a reader of the list sees, and what is checked before a call; mcp.md S27."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from tests.unit.engine.fakes import Agent, AnyArguments, Tools, catalog_of
from toolwire.core.errors import InvalidArguments, InvalidParam, ToolNotFound
from toolwire.core.schema import Validator, Violation
from toolwire.core.tool import Tool
from toolwire.engine.catalog import MAX_SHOWN_VIOLATIONS, Catalog


class Strict:
    """Refuses everything but what it is told to repair into."""

    def __init__(self, violations: Sequence[Violation], repaired: dict[str, Any] | None = None) -> None:
        self._violations = violations
        self._repaired = repaired

    def check(self, value: Any) -> Sequence[Violation]:
        return self._violations

    def repaired(self, value: dict[str, Any]) -> dict[str, Any] | None:
        return self._repaired


def names(catalog: Catalog) -> list[str]:
    return [tool["name"] for tool in msgspec.json.decode(catalog.listing())]


def test_tools_are_listed_in_the_order_in_which_they_were_offered():
    catalog = catalog_of(Tools(), Tool("b", "first"), Tool("a"))
    assert names(catalog) == ["b", "a"]
    assert [entry.tool.name for entry in catalog] == ["b", "a"]
    assert len(catalog) == 2


def test_the_list_is_encoded_once_until_the_tools_change():
    provider = Tools()
    catalog = catalog_of(provider, Tool("a"))
    listing = catalog.listing()
    assert catalog.listing() is listing
    catalog.replace([Tool("b")], provider)
    assert names(catalog) == ["b"]


def test_a_tool_is_found_by_its_name_and_an_unknown_one_is_not():
    catalog = catalog_of(Tools(), Tool("a"))
    assert catalog.find("a").tool == Tool("a")
    assert catalog.get("a") is catalog.find("a")
    assert catalog.get("b") is None
    with pytest.raises(ToolNotFound) as refused:
        catalog.find("b")
    assert refused.value.data == {"param": "name"}


def test_the_version_rises_only_when_a_reader_would_notice():
    provider = Tools()
    catalog = catalog_of(provider, Tool("a"), Tool("b"))
    assert catalog.version == 1
    assert not catalog.replace([Tool("a"), Tool("b")], provider)
    assert not catalog.replace([Tool("a"), Tool("b", timeout_s=9.0)], provider)
    assert catalog.version == 1
    assert catalog.find("b").tool.timeout_s == 9.0
    assert catalog.replace([Tool("b"), Tool("a")], provider)
    assert catalog.version == 2


def test_an_unchanged_tool_keeps_its_entry_and_a_changed_one_is_built_anew():
    compiled: list[object] = []

    def compile_schema(schema: dict[str, Any]) -> Validator:
        compiled.append(schema)
        return AnyArguments()

    provider, agent, other = Tools(), Agent(), Agent()
    catalog = Catalog(compile_schema)
    catalog.replace([Tool("a"), Tool("b")], provider)
    kept = catalog.find("a")
    catalog.replace([Tool("a"), Tool("b", "new words")], provider)
    assert catalog.find("a") is kept
    assert len(compiled) == 3
    catalog.replace([Tool("a")], agent, agent)
    catalog.replace([Tool("a")], agent, other)
    assert catalog.find("a").delegate is other
    assert catalog.find("a").provider is agent


def test_two_tools_of_one_name_change_nothing():
    catalog = catalog_of(Tools(), Tool("a"))
    with pytest.raises(InvalidParam) as refused:
        catalog.replace([Tool("b"), Tool("b", "again")], Tools())
    assert refused.value.data == {"param": "b"}
    assert names(catalog) == ["a"]


def test_a_schema_that_cannot_be_used_changes_nothing():
    def compile_schema(schema: dict[str, Any]) -> Validator:
        if "broken" in schema:
            raise InvalidParam("this schema is broken", param="b")
        return AnyArguments()

    catalog = Catalog(compile_schema)
    catalog.replace([Tool("a")], Tools())
    with pytest.raises(InvalidParam):
        catalog.replace([Tool("c"), Tool("b", input_schema={"broken": True})], Tools())
    assert names(catalog) == ["a"]
    assert catalog.version == 1


def test_good_arguments_reach_the_provider_as_they_came():
    arguments = {"n": 1}
    assert catalog_of(Tools()).find("work").check(arguments) is arguments


def test_repaired_arguments_take_the_place_of_what_was_refused():
    catalog = Catalog(lambda schema: Strict([Violation("/n", "is not a number")], {"n": 3}))
    catalog.replace([Tool("work")], Tools())
    assert catalog.find("work").check({"n": "3"}) == {"n": 3}


def test_wrong_arguments_are_refused_with_the_path_of_the_first_fault_and_words_for_a_reader():
    catalog = Catalog(lambda schema: Strict([Violation("/n", "is not a number"), Violation("", "lacks 'q'")]))
    catalog.replace([Tool("work")], Tools())
    with pytest.raises(InvalidArguments) as refused:
        catalog.find("work").check({"n": "x"})
    assert refused.value.message == (
        "arguments of 'work' do not fit its inputSchema: /n: is not a number; (arguments): lacks 'q'"
    )
    assert refused.value.data["param"] == "arguments/n"
    assert refused.value.data["violations"] == [
        {"path": "/n", "message": "is not a number"},
        {"path": "", "message": "lacks 'q'"},
    ]


def test_of_very_many_faults_only_some_are_told():
    faults = [Violation(f"/{n}", "is wrong") for n in range(1000)]
    catalog = Catalog(lambda schema: Strict(faults))
    catalog.replace([Tool("work")], Tools())
    with pytest.raises(InvalidArguments) as refused:
        catalog.find("work").check({})
    assert len(refused.value.data["violations"]) == MAX_SHOWN_VIOLATIONS
    assert "/999" not in refused.value.message


def test_arguments_of_a_strict_tool_are_refused_as_they_came():
    """mcp.md S27: its author wants no guessing."""
    catalog = Catalog(lambda schema: Strict([Violation("/n", "is not a number")], {"n": 3}))
    catalog.replace([Tool("work", strict=True)], Tools())
    with pytest.raises(InvalidArguments):
        catalog.find("work").check({"n": "3"})
