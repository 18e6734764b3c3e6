"""Runs the page "build custom tools" on one SDK and prints what became of the calls; it compares nothing.

    python -m tests.differential.scenarios toolwire.sdk

The SDK is named by its module, since both have the same names; a process knows one of them.
"""

import importlib
import json
import logging
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": "City name"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL_EVENTS = ("ToolCall", "ToolResult")


class Bench:
    """One SDK with the page's tool in several risks, and a script of calls for its model."""

    def __init__(self, sdk: str, workspace: Path) -> None:
        self.sdk: Any = importlib.import_module(sdk)
        self.testing: Any = importlib.import_module(f"{sdk}.testing")
        self.workspace = workspace
        self.ran: list[str] = []

    def tool(self, name: str = "fetch_weather", risk: str = "low", body: Callable[..., Any] | None = None) -> Any:
        def weather(arguments: dict[str, Any], ctx: Any) -> Any:
            self.ran.append(name)
            return self.sdk.ToolResult(success=True, output=f"22°C in {arguments['city']}")

        make = self.sdk.tool(name=name, version="1", risk_level=risk, description="Weather.", input_schema=CITY)
        return make(body or weather)

    def options(self, *tools: Any, **more: Any) -> Any:
        given: dict[str, Any] = {"system_prompt": "You are a weather assistant.", "name": "weather-bot", **more}
        return self.sdk.Options(**{"allowed_tools": tools, **given})

    def model(self, *rounds: list[tuple[str, dict[str, Any]]]) -> Any:
        """A model that asks for the calls of each round, `t1`, `t2`, …, and then says "Done."."""
        sdk, numbers = self.sdk, iter(range(1, 100))
        usage = sdk.Usage(uncached=1, output=1)
        responses = [
            sdk.LLMResponse(
                stop_reason="tool_use",
                content=[
                    sdk.ToolUseBlock(call_id=f"t{next(numbers)}", tool_name=name, arguments=arguments)
                    for name, arguments in calls
                ],
                usage=usage,
            )
            for calls in rounds
        ]
        done = sdk.LLMResponse(stop_reason="end_turn", content=[sdk.TextBlock(text="Done.")], usage=usage)
        return self.testing.FakeLLMProvider(responses=[*responses, done])

    def query(self, options: Any, *rounds: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
        provider = self.model(*rounds)
        events = self.sdk.query(
            options, goal="What is the weather?", provider=provider, workspace_dir=self.workspace, model="stub-model"
        )
        return self.seen(events, provider)

    def seen(self, events: Any, provider: Any) -> dict[str, Any]:
        """What is compared: all tool events in order, those of each call, what ran, and what the model read."""
        calls: dict[str, list[str]] = {}
        for event in events:
            if event.type.startswith(TOOL_EVENTS):
                calls.setdefault(event.payload.call_id, []).append(event.type)
        blocks = [
            block
            for message in provider.received_requests[-1].messages
            for block in message.content
            if type(block).__name__ == "ToolResultBlock"
        ]
        return {
            "events": [event.type for event in events if event.type.startswith(TOOL_EVENTS)],
            "calls": calls,
            "ran": self.ran,
            "read": [[block.call_id, block.success, block.output or None, bool(block.error)] for block in blocks],
            "last": events[-1].type,
        }


TOKYO = ("fetch_weather", {"city": "Tokyo"})
PARIS = ("fetch_weather", {"city": "Paris"})


def the_page(b: Bench) -> dict[str, Any]:
    return b.query(b.options("Read", "Grep", b.tool()), [TOKYO])


def all_events_of_the_page(b: Bench) -> dict[str, Any]:
    provider = b.model([TOKYO])
    events = b.sdk.query(
        b.options("Read", "Grep", b.tool()), goal="?", provider=provider, workspace_dir=b.workspace, model="stub-model"
    )
    return {"events": [event.type for event in events], "calls": {"": [events[-1].type]}}


def a_failed_result(b: Bench) -> dict[str, Any]:
    def fail(arguments: dict[str, Any], ctx: Any) -> Any:
        return b.sdk.ToolResult(success=False, summary="city not found")

    return b.query(b.options(b.tool(body=fail)), [TOKYO])


def an_exception(b: Bench) -> dict[str, Any]:
    def fail(arguments: dict[str, Any], ctx: Any) -> Any:
        raise ValueError(arguments["city"])

    return b.query(b.options(b.tool(body=fail)), [TOKYO])


def an_artifact(b: Bench) -> dict[str, Any]:
    def draw(arguments: dict[str, Any], ctx: Any) -> Any:
        ref = ctx.artifact_store.put(b"chart", media_type="image/png")
        return b.sdk.ToolResult(success=True, output=ref.hash, artifacts=[ref])

    return b.query(b.options(b.tool(body=draw)), [TOKYO])


def arguments_that_do_not_fit(b: Bench) -> dict[str, Any]:
    def echo(arguments: dict[str, Any], ctx: Any) -> Any:
        return b.sdk.ToolResult(success=True, output=sorted(arguments))

    return b.query(b.options(b.tool(body=echo)), [("fetch_weather", {"town": 5})])


def an_unknown_tool(b: Bench) -> dict[str, Any]:
    return b.query(b.options(b.tool()), [("fetch_tides", {})])


def a_tool_taken_out_again(b: Bench) -> dict[str, Any]:
    return b.query(b.options(b.tool(), disallowed_tools=("fetch_weather",)), [TOKYO])


def one_call_after_the_other(b: Bench) -> dict[str, Any]:
    return b.query(b.options(b.tool()), [TOKYO], [PARIS])


def a_bundle(b: Bench) -> dict[str, Any]:
    bundle = b.sdk.create_sdk_mcp_server(name="weather-tools", version="1.0.0", tools=(b.tool(),))
    return b.query(b.options(mcp_servers=(bundle,)), [TOKYO])


def a_file_read(b: Bench) -> dict[str, Any]:
    (b.workspace / "notes.txt").write_text("mild\n")
    seen = b.query(b.options("Read"), [("Read", {"file_path": str(b.workspace / "notes.txt")})])
    return {**seen, "read": [block[:2] for block in seen["read"]]}  # how a file is shown is each SDK's own affair


def a_batch(b: Bench) -> dict[str, Any]:
    seen = b.query(b.options(b.tool()), [TOKYO, PARIS])
    return {**seen, "events": []}  # ours overlap, which is compared call by call


def _asked(risk: str, mode: str) -> Callable[[Bench], dict[str, Any]]:
    def scenario(b: Bench) -> dict[str, Any]:
        return b.query(b.options(b.tool(risk=risk), permission_mode=mode), [TOKYO])

    return scenario


def _decided(answer: bool) -> Callable[[Bench], dict[str, Any]]:
    def scenario(b: Bench) -> dict[str, Any]:
        def decide(tool_name: str, arguments: dict[str, Any]) -> bool:
            return answer

        return b.query(b.options(b.tool(risk="high"), can_use_tool=decide), [TOKYO])

    return scenario


def _resolved(verb: str) -> Callable[[Bench], dict[str, Any]]:
    def scenario(b: Bench) -> dict[str, Any]:
        provider = b.model([TOKYO])
        with b.sdk.Client(
            b.options(b.tool(risk="high")), provider=provider, workspace_dir=b.workspace, model="stub-model"
        ) as client:
            task_id = client.start(goal="What is the weather?").task_id
            getattr(client, verb)(task_id, call_id="t1")
            return b.seen(client.events(task_id), provider)

    return scenario


def a_guard_that_denies(b: Bench) -> dict[str, Any]:
    class Never:
        name, priority = "never", 50

        def check(self, action: Any, ctx: Any) -> Any:
            if type(action).__name__ == "ProposedToolCall":
                return b.sdk.VerdictResult.deny("not today")
            return b.sdk.VerdictResult.allow()

    return b.query(b.options(b.tool(), guards=(Never(),)), [TOKYO])


RISKS = ("low", "medium", "high")
MODES = ("default", "acceptEdits", "bypassPermissions")

_PLAIN = (
    the_page,
    all_events_of_the_page,
    a_failed_result,
    an_exception,
    an_artifact,
    arguments_that_do_not_fit,
    an_unknown_tool,
    a_tool_taken_out_again,
    one_call_after_the_other,
    a_bundle,
    a_file_read,
    a_batch,
    a_guard_that_denies,
)

SCENARIOS: dict[str, Callable[[Bench], dict[str, Any]]] = {
    **{scenario.__name__: scenario for scenario in _PLAIN},
    **{f"{risk}_in_{mode}": _asked(risk, mode) for risk in RISKS for mode in MODES},
    "can_use_tool_yes": _decided(True),
    "can_use_tool_no": _decided(False),
    "approve": _resolved("approve"),
    "deny": _resolved("deny"),
}


def main(sdk: str) -> None:
    """Print one JSON object: what each scenario comes to."""
    logging.disable(logging.CRITICAL)
    seen: dict[str, Any] = {}
    for name, scenario in SCENARIOS.items():
        with tempfile.TemporaryDirectory() as workspace:
            seen[name] = scenario(Bench(sdk, Path(workspace)))
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main(sys.argv[1])
