"""The version of a typed tool: a digest that is equal in every process (sdk.md §4.1)."""

import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

from toolwire.sdk import tool
from toolwire.sdk.authoring.checks import version_of

SOURCE = """
def f(x: int, y: str = "a") -> str:
    kinds = {"one", "two", "three", "four"}
    return y if x in {1, 2, 3} and y in {"one", "two", "three"} else str(kinds)
"""
PRINT_VERSION = f"""
from toolwire.sdk import tool
exec({SOURCE!r})
print(tool(f).version)
"""


def compiled(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {}
    exec(source, names)
    return names["f"]


def test_a_typed_tool_has_a_digest_as_its_version():
    @tool
    def f(x: int) -> int:
        return x

    assert len(f.version) == 16
    assert int(f.version, 16) >= 0
    assert f.ref.version == f.version


def test_a_given_version_is_kept():
    def f(x: int) -> int:
        return x

    assert tool(f, version="2").version == "2"


def test_the_same_source_has_the_same_version_and_another_body_another():
    def one() -> Callable[..., Any]:
        def f(x: int) -> int:
            return x

        return f

    def other() -> Callable[..., Any]:
        def f(x: int) -> int:
            return x + 1

        return f

    assert tool(one()).version == tool(one()).version
    assert tool(one()).version != tool(other()).version


def test_another_schema_has_another_version():
    def f(x: Any) -> Any:
        return x

    assert version_of(None, {"type": "object"}, f) != version_of(None, {"type": "object", "properties": {}}, f)
    assert version_of(None, {"a": 1, "b": 2}, f) == version_of(None, {"b": 2, "a": 1}, f)


def test_without_a_source_the_bytecode_counts():
    other = SOURCE.replace("in {1, 2, 3}", "in {1, 2, 4}")

    assert tool(compiled(SOURCE)).version == tool(compiled(SOURCE)).version
    assert tool(compiled(SOURCE)).version != tool(compiled(other)).version


def test_the_version_is_equal_in_every_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT_VERSION],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        ).stdout.strip()
        for seed in ("0", "1")
    }

    assert printed == {tool(compiled(SOURCE)).version}


def test_a_description_in_annotated_is_part_of_the_version():
    def one(x: Annotated[int, "a"]) -> int:
        return x

    def other(x: Annotated[int, "b"]) -> int:
        return x

    assert tool(one, name="f").version != tool(other, name="f").version
