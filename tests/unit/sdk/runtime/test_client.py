"""The synchronous door: threads, running loops, contexts, shutting down, Ctrl-C, workers (sdk.md 59, 60)."""

import contextvars
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.unit.sdk.runtime.script import agent, model, noting, raw, say, types, use
from toolwire.sdk import Client, WorkspaceEscape, query
from toolwire.sdk.testing import FakeLLMProvider


def looking(request: Any) -> Any:
    return say() if request.messages[-1].role == "tool" else use(("t1", "look", {}))


def test_many_threads_share_one_client():
    ran: list[Any] = []
    with (
        Client(agent(noting("look", ran)), provider=FakeLLMProvider(responder=looking)) as client,
        ThreadPoolExecutor(8) as threads,
    ):
        outcomes = [made.result(5) for made in [threads.submit(client.start, goal=f"g{n}") for n in range(20)]]

        assert {outcome.status for outcome in outcomes} == {"suspended"}
        assert len({outcome.task_id for outcome in outcomes}) == 20
    assert len(ran) == 20


async def test_a_client_works_inside_a_running_loop():
    with Client(agent(), provider=model(say("yes"))) as client:
        outcome = client.start(goal="go")
        assert client.task_answer(outcome.task_id) == "yes"


def test_context_variables_reach_synchronous_tools():
    variable = contextvars.ContextVar("variable", default="unset")
    variable.set("mine")
    seen: list[str] = []

    query(
        agent(raw("look", lambda _a, _c: seen.append(variable.get()))),
        goal="go",
        provider=model(use(("t1", "look", {})), say()),
    )

    assert seen == ["mine"]


def test_shutting_down_twice_is_fine_and_a_verb_opens_it_again():
    client = Client(agent(), provider=model(say("a"), say("b")))
    first = client.start(goal="go")
    client.shutdown()
    client.shutdown()

    assert client.task_answer(first.task_id) == "a"
    assert client.start(goal="go").status == "suspended"
    client.shutdown()


def test_shutting_down_interrupts_what_is_running():
    release, started = threading.Event(), threading.Event()
    client = Client(
        agent(raw("block", lambda _a, _c: (started.set(), release.wait(5)))),
        provider=model(use(("t1", "block", {}))),
    )
    with ThreadPoolExecutor(1) as threads:
        outcome = threads.submit(lambda: client.start(goal="go"))
        assert started.wait(5)
        client.shutdown()
        assert outcome.result(5).status == "suspended"
    release.set()


def test_an_observer_that_calls_a_verb_is_told_so_instead_of_waiting_forever():
    errors: list[BaseException] = []
    with Client(agent(), provider=model(say())) as client:

        def observer(event: Any) -> None:
            try:
                client.events(event.task_id)
            except RuntimeError as error:
                errors.append(error)

        client.subscribe(observer)
        client.start(goal="go")

    assert "from an observer" in str(errors[0])


def test_a_workspace_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(WorkspaceEscape, match="not a directory"):
        Client(agent(), provider=model(), workspace_dir=tmp_path / "absent")


def test_workers_drive_what_is_dispatched_to_them():
    ran: list[Any] = []
    done = threading.Event()
    with Client(agent(noting("look", ran)), provider=FakeLLMProvider(responder=looking)) as client:
        seeded = [client.seed_start(goal=f"g{n}") for n in range(10)]
        left = {turn.task_id for turn in seeded}

        def watch(event: Any) -> None:
            if event.type == "TaskSuspended":
                left.discard(event.task_id)
                if not left:
                    done.set()

        client.subscribe(watch)
        for turn in seeded:
            client.dispatch_seeded(turn)
        client.start_workers(3)
        assert client.workers_running()
        assert done.wait(5)
        assert client.stop_workers(timeout=5) is True
        assert not client.workers_running()
    assert len(ran) == 10


def test_a_seeded_turn_can_be_driven_in_the_foreground():
    with Client(agent(), provider=model(say("a"), say("b"))) as client:
        seeded = client.seed_start(goal="go")
        assert client.drive_seeded(seeded).status == "suspended"
        more = client.seed_send_goal(seeded.task_id, goal="more")
        client.drive_seeded(more)
        assert client.task_answer(seeded.task_id) == "b"
        assert types(client.events(seeded.task_id)).count("TaskSuspended") == 2


CTRL_C = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
from toolwire.sdk import Client, Options, tool, LLMResponse, ToolUseBlock
from toolwire.sdk.testing import FakeLLMProvider

@tool
async def hang() -> str:
    "Hang."
    import anyio
    print("started", flush=True)
    await anyio.sleep_forever()
    return ""

provider = FakeLLMProvider([LLMResponse("tool_use", [ToolUseBlock("t1", "hang", {})])])
ids = []
with Client(Options(system_prompt="x", allowed_tools=(hang,)), provider=provider) as client:
    client.subscribe(lambda event: ids.append(event.task_id))
    try:
        client.start(goal="go")
    except KeyboardInterrupt:
        print(client.task_status(ids[0]).status, client.suspend_reason(ids[0]).kind, flush=True)
"""


def test_ctrl_c_interrupts_the_turn_and_not_the_program():
    with subprocess.Popen([sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=10)

    assert printed == "suspended interrupted\n"
    assert process.returncode == 0


FORKED = """
import os
from toolwire.sdk import LLMResponse, Options, TextBlock, query
from toolwire.sdk.testing import FakeLLMProvider

def ask():
    provider = FakeLLMProvider([LLMResponse("end_turn", [TextBlock("yes")])])
    return query(Options(system_prompt="x", allowed_tools=()), goal="go", provider=provider).answer()

assert ask() == "yes"
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    print("both", ask())
else:
    os._exit(0 if ask() == "yes" else 1)
"""


def test_a_forked_child_has_a_loop_of_its_own():
    printed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=20, check=True
    )

    assert printed.stdout == "both yes\n"
