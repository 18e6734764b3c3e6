"""Threads for synchronous bodies: bounded, and never in the way of the process' end (sdk.md §3.1, §3.15)."""

import subprocess
import sys
import threading
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from toolwire.sdk.authoring.threads import BodyThreads

pytestmark = pytest.mark.both_backends

STUCK = """
import threading, anyio
from toolwire.core.call import Call, Caller
from toolwire.sdk import tool

@tool
def stuck() -> None:
    began.set()
    threading.Event().wait()

async def main():
    call = Call(id="c", caller=Caller("p", "o", "sdk"), tool="stuck", arguments={}, deadline=0)
    async with anyio.create_task_group() as group:
        group.start_soon(stuck.handler, call, lambda event: None)
        await anyio.to_thread.run_sync(began.wait)
        group.cancel_scope.cancel()
    print("left")

began = threading.Event()
anyio.run(main)
"""


FORKED = """
import os, anyio
from toolwire.sdk.authoring.threads import BodyThreads

threads = BodyThreads("t", 1)

async def use(word):
    with anyio.fail_after(5):
        print((await threads.run(lambda: word))[0], flush=True)

anyio.run(use, "parent")
child = os.fork()
anyio.run(use, "child") if child == 0 else os.waitpid(child, 0)
"""


def test_a_stuck_body_does_not_keep_the_process_from_ending():
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=30, check=True)

    assert ended.stdout == "left\n"
    assert ended.stderr == ""


async def test_a_body_gives_what_it_returns_or_raises():
    threads = BodyThreads("t", 2)
    error = SystemExit(3)

    def fail() -> None:
        raise error

    assert await threads.run(lambda: 5) == (5, None)
    assert await threads.run(fail) == (None, error)


async def test_a_body_left_behind_counts_until_it_ends():
    gate, began, waiting = threading.Event(), threading.Semaphore(0), anyio.Event()
    threads = BodyThreads("t", 1)
    second: list[Any] = []

    def stuck() -> None:
        began.release()
        gate.wait()

    async def wait_for_the_slot() -> None:
        waiting.set()
        second.append(await threads.run(lambda: "second"))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as first:
            first.start_soon(threads.run, stuck)
            await anyio.to_thread.run_sync(began.acquire)
            first.cancel_scope.cancel()
        async with anyio.create_task_group() as group:
            group.start_soon(wait_for_the_slot)
            await waiting.wait()
            await anyio.wait_all_tasks_blocked()
            assert second == []
            gate.set()

    assert second == [("second", None)]


async def test_a_call_cancelled_while_it_waits_for_a_thread_never_begins():
    gate, began = threading.Event(), threading.Semaphore(0)
    threads = BodyThreads("t", 1)
    seen: list[str] = []

    def stuck() -> None:
        began.release()
        gate.wait()

    with anyio.fail_after(5):
        async with anyio.create_task_group() as outer:
            outer.start_soon(threads.run, stuck)
            await anyio.to_thread.run_sync(began.acquire)
            async with anyio.create_task_group() as inner:
                inner.start_soon(threads.run, lambda: seen.append("begun"))
                await anyio.wait_all_tasks_blocked()
                inner.cancel_scope.cancel()
            gate.set()

    assert seen == []
    assert await threads.run(lambda: "free again") == ("free again", None)


async def test_a_body_may_start_an_event_loop_of_its_own():
    async def inside() -> str:
        await anyio.lowlevel.checkpoint()
        return "inside"

    assert await BodyThreads("t", 1).run(lambda: anyio.run(inside)) == ("inside", None)


async def test_a_thread_is_named_after_the_tool_that_it_works_for():
    assert await BodyThreads("fetch", 1).run(lambda: threading.current_thread().name) == ("tool fetch", None)


async def test_threads_are_used_again():
    threads = BodyThreads("t", 1)

    first, _ = await threads.run(threading.get_ident)
    for _ in range(20):
        assert (await threads.run(lambda: None)) == (None, None)
    before = threading.active_count()
    for _ in range(20):
        await threads.run(lambda: None)

    assert isinstance(first, int)
    assert threading.active_count() <= before + 1


def test_the_same_threads_serve_one_event_loop_after_the_other():
    threads = BodyThreads("t", 1)

    async def use() -> Any:
        return await threads.run(lambda: "used")

    for backend in ("asyncio", "trio", "asyncio"):
        assert anyio.run(use, backend=backend) == ("used", None)


def test_a_forked_child_starts_threads_of_its_own():
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED], capture_output=True, text=True, timeout=30, check=True
    )

    assert ended.stdout == "parent\nchild\n"
