"""The seed's form of `@tool`, and what is refused when it is written (sdk.md §1.1, 1-10)."""

import functools
import json
from typing import Any, cast

import pytest

from toolwire.core.tool import Tool
from toolwire.sdk import DecoratedTool, ToolContext, ToolRef, ToolResult, tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "City name"},
        "units": {"type": "string", "enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}


def report(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
    """Reported, but not described by this docstring: the description defaults to nothing."""
    return ToolResult(success=True, output=f"22°C in {arguments['city']}")


def weather(**changes: Any) -> DecoratedTool:
    options: dict[str, Any] = {"name": "fetch_weather", "version": "1", "input_schema": SCHEMA, **changes}
    return tool(report, **options)


def test_the_decorator_of_the_seed_makes_a_tool_with_the_seeds_fields():
    @tool(
        name="fetch_weather",
        version="1",
        risk_level="low",
        description="Fetch the current weather for a city.",
        input_schema=SCHEMA,
    )
    def fetch_weather(arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        return ToolResult(success=True, output=f"22°C in {arguments['city']}")

    assert isinstance(fetch_weather, DecoratedTool)
    assert fetch_weather.name == "fetch_weather"
    assert fetch_weather.version == "1"
    assert fetch_weather.risk_level == "low"
    assert fetch_weather.description == "Fetch the current weather for a city."
    assert fetch_weather.input_schema == SCHEMA
    assert fetch_weather.ref == ToolRef(name="fetch_weather", version="1", risk_level="low")
    assert fetch_weather.invoke({"city": "Tokyo"}, ToolContext()) == ToolResult(success=True, output="22°C in Tokyo")


def test_the_direct_form_makes_the_same_tool():
    made = tool(report, name="fetch_weather", version="1", input_schema=SCHEMA)

    assert made.ref == ToolRef("fetch_weather", "1", "low")
    assert made.invoke({"city": "Oslo"}).output == "22°C in Oslo"


def test_a_tool_shows_name_description_and_schema_and_nothing_unset():
    assert weather().tool.definition() == {"name": "fetch_weather", "description": "", "inputSchema": SCHEMA}


def test_a_missing_version_is_a_type_error_when_tool_is_called():
    with pytest.raises(TypeError, match="needs version=…, because it is part of the tool's identity"):
        tool(name="t", input_schema={"type": "object"})  # not applied to any function


def test_a_missing_name_is_a_type_error_when_tool_is_called():
    with pytest.raises(TypeError, match="needs name=…"):
        tool(version="1", input_schema={"type": "object"})


def test_a_raw_function_without_a_schema_is_told_what_it_needs():
    with pytest.raises(
        TypeError, match=r"report\(\) takes \(arguments, ctx\), so it needs input_schema=…, name=… and version=…"
    ):
        tool(report, name="t", version="1")


def test_a_function_that_tells_no_parameters_needs_a_schema():
    with pytest.raises(TypeError, match=r"needs input_schema=…"):
        tool(max, name="t")

    assert tool(max, name="t", version="1", input_schema={}).name == "t"


def test_one_dict_and_the_context_is_a_typed_function_when_it_is_named_otherwise():
    @tool
    def keep(settings: dict[str, int], ctx: ToolContext) -> str:
        return f"{settings}"

    assert keep.input_schema["properties"] == {
        "settings": {"type": "object", "additionalProperties": {"type": "integer"}}
    }
    assert keep.invoke({"settings": {"a": 1}}).output == "{'a': 1}"


def test_a_positional_name_is_a_type_error():
    with pytest.raises(TypeError, match="needs a function, got 'fetch_weather'"):
        tool(cast("Any", "fetch_weather"), version="1")


def test_an_unknown_option_is_named_with_the_known_ones():
    with pytest.raises(TypeError, match=r"no option 'risk'; it has annotations, concurrency_safe, .*risk_level"):
        weather(risk="low")


@pytest.mark.parametrize("level", ["LOW", "extreme", "", None])
def test_an_unknown_risk_level_is_refused(level: Any):
    with pytest.raises(ValueError, match="must be 'low', 'medium' or 'high', got"):
        weather(risk_level=level)


@pytest.mark.parametrize("level", ["low", "medium", "high"])
def test_the_three_risk_levels_are_kept(level: Any):
    assert weather(risk_level=level).ref.risk_level == level


@pytest.mark.parametrize("name", ["", "has space", "a" * 65, "wetter.de", "größe", "x\n"])
def test_a_name_that_no_models_api_takes_is_refused(name: str):
    """gateway.md D28."""
    with pytest.raises(ValueError, match="must be 1 to 64 of A-Z, a-z, 0-9, '_' and '-', got"):
        weather(name=name)


def test_an_empty_version_is_refused():
    with pytest.raises(ValueError, match="version"):
        weather(version="")


@pytest.mark.parametrize("option", ["name", "version", "description", "title"])
def test_a_text_option_that_is_no_text_is_a_type_error(option: str):
    with pytest.raises(TypeError, match=rf"tool\({option}\) must be a text, got 1"):
        weather(**{option: 1})


@pytest.mark.parametrize("option", ["validate", "idempotent", "concurrency_safe", "strict", "structured", "inline"])
def test_a_switch_that_is_no_boolean_is_a_type_error(option: str):
    with pytest.raises(TypeError, match=rf"tool\({option}\) must be True or False, got 'yes'"):
        weather(**{option: "yes"})


def test_a_description_with_a_lone_surrogate_is_refused():
    with pytest.raises(ValueError, match="not valid Unicode"):
        weather(description="\ud800")


@pytest.mark.parametrize("timeout", [0, -1, float("inf"), float("nan")])
def test_a_time_out_that_never_or_always_ends_is_refused(timeout: float):
    with pytest.raises(ValueError, match="positive number of seconds"):
        weather(timeout=timeout)


@pytest.mark.parametrize("timeout", ["30", True])
def test_a_time_out_that_is_no_number_is_a_type_error(timeout: Any):
    with pytest.raises(TypeError, match="must be seconds as a number"):
        weather(timeout=timeout)


@pytest.mark.parametrize("mode", ["", "always", True, None])
def test_a_call_is_a_task_in_one_of_four_ways(mode: Any):
    with pytest.raises(ValueError, match=r"tool\(task\) must be 'never', 'optional', 'required' or 'later', got"):
        weather(task=mode)


@pytest.mark.parametrize("timeout", [0, -1, float("inf")])
def test_a_task_has_a_time_out_that_is_a_time(timeout: float):
    with pytest.raises(ValueError, match=r"tool\(task_timeout\) must be a positive number of seconds"):
        weather(task="optional", task_timeout=timeout)


def test_what_is_said_of_tasks_is_for_us_and_not_for_the_model():
    plain, made = weather(), weather(task="required", task_timeout=7200)
    assert (plain.tool.task, plain.tool.task_timeout_s) == ("never", None)
    assert (made.tool.task, made.tool.task_timeout_s) == ("required", 7200.0)
    assert made.tool.definition() == plain.tool.definition()
    assert made.tool.digest() == plain.tool.digest()


async def test_nothing_becomes_a_task_where_nobody_makes_one():
    ctx = ToolContext(deadline=5.0)
    await ctx.become_task()
    assert ctx.deadline == 5.0


def test_every_option_reaches_the_definition():
    made = weather(
        timeout=30,
        idempotent=True,
        concurrency_safe=True,
        title="Weather",
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True, "title": "W"},
        validate=True,
        risk_level="high",
        description="d",
    )

    assert made.tool == Tool(
        name="fetch_weather",
        description="d",
        input_schema=SCHEMA,
        title="Weather",
        output_schema={"type": "object"},
        annotations={"readOnlyHint": True, "title": "W"},
        risk_level="high",
        version="1",
        timeout_s=30.0,
        idempotent=True,
    )
    assert made.concurrency_safe
    assert made.validate


def test_a_hint_that_is_no_boolean_is_a_type_error():
    with pytest.raises(TypeError, match="readOnlyHint must be True or False, got 'no'"):
        weather(annotations={"readOnlyHint": "no"})


@pytest.mark.parametrize("schema", [None, "object", [], 3])
def test_a_schema_that_is_no_dict_is_a_type_error(schema: Any):
    with pytest.raises(TypeError, match=r"tool\(input_schema\) must be a dict"):
        weather(input_schema=schema)


def test_a_schema_that_json_cannot_carry_is_a_type_error():
    with pytest.raises(TypeError, match="must hold JSON values only"):
        weather(input_schema={"type": "object", "properties": {"x": {"default": object()}}})


@pytest.mark.parametrize(
    "schema, problem",
    [
        ({"type": "string"}, r"input_schema\) must have the type 'object' at its root, got 'string'"),
        ({"type": "object", "properties": []}, r"input_schema.properties\) must be an object of schemas"),
        ({"type": "object", "properties": {"a": "str"}}, r"input_schema.properties.a\) must be a schema, got 'str'"),
        ({"type": "object", "required": "a"}, r"input_schema.required\) must be a list of names, got 'a'"),
        (
            {"type": "object", "properties": {"a": {"type": "str"}}},
            r"properties.a.type\) must be a JSON type, got 'str'",
        ),
        ({"type": "object", "properties": {"a": {"enum": "x"}}}, r"properties.a.enum\) must be a list"),
    ],
)
def test_a_schema_that_a_models_api_would_refuse_is_refused_at_once(schema: Any, problem: str):
    """sdk.md §3.8."""
    with pytest.raises(ValueError, match=problem):
        weather(input_schema=schema)


def test_a_schema_without_a_type_gets_the_one_it_must_have():
    assert weather(input_schema={}).input_schema == {"type": "object"}


def test_the_schema_is_copied_on_the_way_in_and_out():
    given = json.loads(json.dumps(SCHEMA))
    made = weather(input_schema=given)

    given["properties"]["city"]["type"] = "integer"
    made.input_schema["properties"].clear()

    assert made.input_schema == SCHEMA


@pytest.mark.parametrize("attribute", ["name", "version", "tool", "ref", "anything"])
def test_a_tool_does_not_change(attribute: str):
    with pytest.raises(AttributeError):
        setattr(weather(), attribute, "other")


def test_a_tool_looks_like_its_function_and_calls_it():
    made = weather()

    assert made({"city": "Rome"}, ToolContext()) == ToolResult(success=True, output="22°C in Rome")
    assert cast("Any", made).__name__ == "report"
    assert made.__wrapped__ is report
    assert made.__doc__ == report.__doc__
    assert repr(made) == f"<tool 'fetch_weather' version='1' risk_level='low' of {__name__}.report>"


def test_a_generator_function_is_refused():
    def parts(arguments: dict[str, Any], ctx: ToolContext) -> Any:
        yield "a"

    async def later(arguments: dict[str, Any], ctx: ToolContext) -> Any:
        yield "a"

    for body in (parts, later):
        with pytest.raises(TypeError, match=r"is a generator; return the whole answer and send parts with ctx.say"):
            tool(body, name="t", version="1", input_schema={})


@pytest.mark.parametrize("thing", [1, None, object(), dict, ToolResult])
def test_what_is_no_function_is_refused(thing: Any):
    with pytest.raises(TypeError, match="needs a function, got"):
        tool(name="t", version="1", input_schema={})(thing)


def test_a_tool_is_not_decorated_twice():
    with pytest.raises(TypeError, match="'fetch_weather' is a tool already"):
        tool(weather())


def test_a_function_that_takes_no_arguments_dict_is_read_by_its_hints_and_keeps_the_written_schema():
    """gateway.md §3, `@agent.tool(input_schema=…)` over a typed function."""

    @tool(name="pages", version="1", input_schema={"type": "object", "properties": {"pages": {"minimum": 1}}})
    def pages(ctx: ToolContext, pages: int | None = None) -> str:
        return f"{pages} pages"

    assert pages.input_schema == {"type": "object", "properties": {"pages": {"minimum": 1}}}
    assert pages.invoke({"pages": 3}).output == "3 pages"
    assert pages.invoke({"pages": 0}).summary == "invalid arguments: pages: must be at least 1, got 0"


def test_a_raw_body_may_be_any_callable_of_two():
    class Sized:
        def __call__(self, arguments: dict[str, Any], ctx: ToolContext) -> int:
            return len(arguments)

    made = tool(Sized(), name="size", version="1", input_schema={})

    def of_a(arguments: dict[str, Any], _: ToolContext) -> Any:
        return arguments["a"]

    short = tool(functools.partial(of_a), name="short", version="1", input_schema={})

    assert made.invoke({"a": 1}).output == 1
    assert short.invoke({"a": "b"}).output == "b"


def test_invoke_gives_the_body_a_deep_copy_of_the_arguments():
    """sdk.md 18."""

    def greedy(arguments: dict[str, Any], ctx: ToolContext) -> str:
        arguments["list"].append(1)
        arguments.clear()
        return "done"

    given: dict[str, Any] = {"list": []}
    tool(greedy, name="greedy", version="1", input_schema={}).invoke(given)

    assert given == {"list": []}


async def test_invoke_of_an_asynchronous_body_is_awaited():
    async def add(a: int, b: int) -> int:
        return a + b

    assert await tool(add).invoke({"a": 1, "b": 2}) == ToolResult(success=True, output=3)
