"""An SDK with the names of the page "build custom tools": `toolwire.sdk`, or `noeta.sdk` where PAGE_SDK says so."""

import importlib
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.agents.subjects.timing import SLEEP_S, Plan, blocks, hand_in, rate, since_ms

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": True}
RESTS = ("TaskCompleted", "TaskSuspended", "TaskFailed")
LIMIT_S = 120.0


class PageSdk:
    """The SDK with two tools, a scripted model and a place for its tasks."""

    def __init__(self, storage: str) -> None:
        name = os.environ["PAGE_SDK"]
        self.sdk: Any = importlib.import_module(name)
        self.fake: Any = importlib.import_module(f"{name}.testing").FakeLLMProvider
        self.host = self.sdk.HostConfig(storage_path=storage) if storage else None
        self.workspace = Path(tempfile.mkdtemp(prefix="workspace-", dir=os.environ["BENCH_FOLDER"]))
        self.options = self.sdk.Options(
            system_prompt="You are a test agent.", name="bench", allowed_tools=(self._echo(), self._slow())
        )
        self._calls = 0

    def _tool(self, body: Any, name: str) -> Any:
        return self.sdk.tool(name=name, version="1", risk_level="low", description=name, input_schema=SCHEMA)(body)

    def _echo(self) -> Any:
        def echo(arguments: dict[str, Any], ctx: Any) -> Any:
            return self.sdk.ToolResult(success=True, output={"echo": arguments})

        return self._tool(echo, "echo")

    def _slow(self) -> Any:
        def slow(arguments: dict[str, Any], ctx: Any) -> Any:
            time.sleep(SLEEP_S)
            return self.sdk.ToolResult(success=True, output="slept")

        return self._tool(slow, "slow")

    def text(self) -> Any:
        """The model's answer."""
        sdk = self.sdk
        return sdk.LLMResponse(
            stop_reason="end_turn", content=[sdk.TextBlock(text="Done.")], usage=sdk.Usage(uncached=1, output=1)
        )

    def calls(self, tool: str, count: int = 1) -> Any:
        """The model asks for so many calls at once."""
        sdk = self.sdk
        content: list[Any] = []
        for _ in range(count):
            self._calls += 1
            content.append(sdk.ToolUseBlock(call_id=f"c{self._calls}", tool_name=tool, arguments={"i": self._calls}))
        return sdk.LLMResponse(stop_reason="tool_use", content=content, usage=sdk.Usage(uncached=1, output=1))

    def query(self, *responses: Any) -> Any:
        """Run one query with these responses of the model."""
        return self.sdk.query(
            self.options,
            goal="go",
            provider=self.fake(responses=[*responses]),
            workspace_dir=self.workspace,
            model="stub-model",
            host_config=self.host,
        )

    def client(self, tool: str) -> Any:
        """A client whose model asks for one call a turn."""

        def answer(request: Any) -> Any:
            return self.text() if request.messages[-1].role == "tool" else self.calls(tool)

        return self.sdk.Client(
            self.options,
            provider=self.fake(responses=[], responder=answer),
            workspace_dir=self.workspace,
            model="stub-model",
            host_config=self.host,
        )


def query(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """Queries of one call and an answer each."""
    bench.query(bench.calls("echo"), bench.text())
    began = time.perf_counter()
    for _ in range(plan.count):
        answer = bench.query(bench.calls("echo"), bench.text()).answer()
        if answer != "Done.":
            raise RuntimeError(f"a query answered {answer!r}")
    return {"per_s": rate(plan.count, began)}


def start(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """Tasks of one client, with one call each."""
    with bench.client("echo") as client:
        client.start(goal="go")
        began = time.perf_counter()
        for _ in range(plan.count):
            client.start(goal="go")
        return {"per_s": rate(plan.count, began)}


def chat(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """The turns of one conversation, with one call each."""
    found: dict[str, float] = {}
    with bench.client("echo") as client:
        client.start(goal="warm up")
        task_id = client.start(goal="go").task_id
        for name, turns in blocks(plan.count):
            began = time.perf_counter()
            for _ in range(turns):
                client.send_goal(task_id, goal="next")
            found[name] = rate(turns, began)
    return found


def loop(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """One query of many calls, one after the other."""
    bench.query(bench.calls("echo"), bench.text())
    responses = [bench.calls("echo") for _ in range(plan.count)]
    began = time.perf_counter()
    events = bench.query(*responses, bench.text())
    took = since_ms(began)
    if sum(event.type == "ToolCallStarted" for event in events) != plan.count:
        raise RuntimeError("not every call ran")
    return {"ms": took / plan.count}


def slow(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """One query of several slow calls at once."""
    bench.query(bench.calls("echo"), bench.text())
    began = time.perf_counter()
    bench.query(bench.calls("slow", plan.count), bench.text())
    return {"ms": since_ms(began)}


def pool(bench: PageSdk, plan: Plan) -> dict[str, float]:
    """Tasks of one slow call each, handed to workers."""
    with bench.client("slow") as client:
        client.start_workers(plan.workers, poll_interval=0.01)
        seeded = [client.seed_start(goal=f"g{number}") for number in range(plan.count)]
        left, done = {turn.task_id for turn in seeded}, threading.Event()

        def seen(event: Any) -> None:
            if event.type in RESTS:
                left.discard(event.task_id)
                if not left:
                    done.set()

        client.subscribe(seen)
        began = time.perf_counter()
        for turn in seeded:
            client.dispatch_seeded(turn)
        if not done.wait(LIMIT_S):
            raise RuntimeError(f"{len(left)} of {plan.count} tasks did not end")
        found = {"per_s": rate(plan.count, began)}
        client.stop_workers(timeout=10)
    return found


SCENARIOS = {"query": query, "start": start, "chat": chat, "loop": loop, "slow": slow, "pool": pool}

if __name__ == "__main__":
    hand_in(lambda plan: SCENARIOS[plan.scenario](PageSdk(plan.storage), plan))
