"""Hints in other modules, in functions and in classes, as strings and not (sdk.md §3.9, §4.1)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Optional

import pytest

from tests.unit.sdk.calls import called, text_of
from toolwire.sdk import ToolContext, tool

if TYPE_CHECKING:
    from decimal import Decimal

    from toolwire.sdk.context import ToolContext as Ctx


@dataclass
class Size:
    width: int


def test_postponed_annotations_of_a_module_resolve():
    @tool
    def f(size: Size, name: Annotated[str, "Who"], n: Optional[int] = None) -> str:  # noqa: UP045 -- the older spelling works, too
        return f"{size.width} {name} {n}"

    assert f.input_schema["properties"]["size"]["properties"] == {"width": {"type": "integer"}}
    assert f.invoke({"size": {"width": 3}, "name": "a"}).output == "3 a None"


def test_postponed_annotations_of_enclosing_functions_resolve():
    @dataclass
    class Outer:
        a: int

    def make() -> Any:
        @dataclass
        class Inner:
            b: int

        @tool
        def f(outer: Outer, inner: Inner) -> int:
            return outer.a + inner.b

        return f

    assert make().invoke({"outer": {"a": 1}, "inner": {"b": 2}}).output == 3


def test_postponed_annotations_that_the_body_uses_resolve_after_their_function_has_ended():
    def make() -> Any:
        @dataclass
        class Local:
            a: int

        def f(x: Local) -> str:
            return f"{type(x) is Local} {x.a}"

        return f

    assert tool(make()).invoke({"x": {"a": 1}}).output == "True 1"


def test_a_name_that_exists_for_type_checkers_only_names_the_parameter():
    def f(amount: Decimal) -> None: ...

    with pytest.raises(
        TypeError, match=r"f\(\): the hint 'Decimal' of parameter 'amount' does not resolve .*TYPE_CHECKING"
    ):
        tool(f)


def test_a_context_that_exists_for_type_checkers_only_is_known_by_its_name():
    @tool
    def f(ctx: Ctx, a: int) -> str:
        return f"{type(ctx).__name__} {a}"

    assert f.input_schema["required"] == ["a"]
    assert f.invoke({"a": 1}).output == "ToolContext 1"


def test_an_unknown_return_hint_only_means_that_there_is_no_output_schema():
    @tool
    def f(a: int) -> Decimal: ...

    assert f.tool.output_schema is None


def test_a_parameter_without_a_hint_is_named():
    def f(a: int, b=2): ...  # pyright: ignore[reportMissingParameterType]

    with pytest.raises(TypeError, match=r"f\(\): parameter 'b' has no type hint; add one, or give input_schema="):
        tool(f)


def test_parameters_that_no_caller_can_name_are_refused():
    def stars(*args: int) -> None: ...
    def keywords(**kwargs: int) -> None: ...
    def positional(a: int, /) -> None: ...

    with pytest.raises(TypeError, match=r"stars\(\): parameter '\*args' cannot be named by a caller"):
        tool(stars)
    with pytest.raises(TypeError, match=r"keywords\(\): parameter '\*\*kwargs' cannot be named by a caller"):
        tool(keywords)
    with pytest.raises(TypeError, match=r"positional\(\): parameter 'a' is positional-only"):
        tool(positional)


def test_a_private_name_is_refused():
    def f(__a: int) -> None: ...

    with pytest.raises(TypeError, match="must not begin with two underscores"):
        tool(f)


def test_two_contexts_are_refused():
    def f(a: ToolContext, b: ToolContext) -> None: ...

    with pytest.raises(TypeError, match="parameters 'a' and 'b' both take the context"):
        tool(f)


def test_keyword_only_parameters_and_parameters_of_any_name_work():
    @tool
    def f(copy: int, *, _y: int = 2, class_: str = "c", self_: bool = False) -> str:
        return f"{copy} {_y} {class_} {self_}"

    assert f.invoke({"copy": 1, "_y": 3, "class_": "d"}).output == "1 3 d False"


class Counter:
    def __init__(self, start: int) -> None:
        self.start = start

    @tool
    def up(self, by: int = 1) -> str:
        """Count up."""
        return f"{self.start + by}"

    @tool
    async def later(self, ctx: ToolContext, by: int = 1) -> str:
        return f"{self.start + by} {ctx.call_id}"

    @tool(name="raw_up", version="1", input_schema={})
    def raw(self, arguments: dict[str, Any], ctx: ToolContext) -> str:
        return f"{self.start + arguments['by']}"

    @tool
    @classmethod
    def make(cls, start: int) -> str:
        return f"{cls.__name__} {start}"

    @tool
    @staticmethod
    def plain(a: int) -> str:
        return f"{a}"


async def test_a_method_is_a_tool_of_each_instance():
    one, ten = Counter(1), Counter(10)

    assert one.up.input_schema == {"type": "object", "properties": {"by": {"type": "integer", "default": 1}}}
    assert text_of(await called(one.up, by=2)) == "3"
    assert text_of(await called(ten.up)) == "11"
    assert text_of(await called(ten.later, by=5)) == "15 call_1"
    assert text_of(await called(ten.raw, by=7)) == "17"
    assert text_of(await called(one.make, start=4)) == "Counter 4"
    assert text_of(await called(Counter.make, start=4)) == "Counter 4"
    assert text_of(await called(Counter.plain, a=5)) == "5"
    assert one.up(3) == "4"


def test_a_method_without_its_instance_cannot_be_served():
    with pytest.raises(TypeError, match=r"Counter\.up is a method; take the tool from an instance"):
        _ = Counter.up.handler


def test_a_bound_method_is_a_tool():
    class Greeter:
        def greet(self, name: str) -> str:
            return f"hello {name}"

    assert tool(Greeter().greet).invoke({"name": "you"}).output == "hello you"


def test_partials_callable_objects_and_wrapped_functions_are_tools():
    def power(base: int, exponent: int) -> int:
        return base**exponent

    class Twice:
        async def __call__(self, x: int) -> int:
            return 2 * x

    @functools.wraps(power)
    def wrapped(*args: Any, **kwargs: Any) -> int:
        return power(*args, **kwargs) + 1

    squared = tool(functools.partial(power, exponent=2), name="squared")
    assert squared.invoke({"base": 3}).output == 9
    assert squared.input_schema["required"] == ["base"]
    assert tool(wrapped).invoke({"base": 2, "exponent": 3}).output == 9
    assert list(tool(Twice(), name="twice").input_schema["properties"]) == ["x"]


def test_a_builtin_without_hints_is_refused():
    with pytest.raises(TypeError, match=r"parameter 'obj' is positional-only"):
        tool(len)
