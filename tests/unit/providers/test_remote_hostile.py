"""Remote MCP servers that hang, die, lie, change or are not there: a clear error, and nothing of them left."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.responses import PlainTextResponse

from tests.unit.providers.official import make_server
from tests.unit.providers.remote_rig import call_of, child, ignore, official_server, our_server, serving
from toolwire.core.errors import AgentLost, ServiceTimeout, ServiceUnavailable, ToolNotFound
from toolwire.core.result import Text
from toolwire.providers.remote import RemoteProvider, open_remote
from toolwire.providers.remote_server import HttpServer, Patience, Server, StdioServer
from toolwire.sdk import tool

AT_ONCE = Patience(first_retry_s=0)


@tool
async def add(a: int, b: int) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@asynccontextmanager
async def lazy(server: Server, patience: Patience | None = None) -> AsyncGenerator[RemoteProvider]:
    """A provider that has not connected yet."""
    async with anyio.create_task_group() as tasks:
        provider = RemoteProvider(server, tasks, "far", patience)
        try:
            yield provider
        finally:
            await provider.aclose()


async def reason(server: Server, patience: Patience | None = None) -> str:
    async with lazy(server, patience) as provider:
        with pytest.raises(ServiceUnavailable) as refused:
            await provider.current()
    return refused.value.message


def starts(notes: Path) -> list[int]:
    return [int(line.split()[1]) for line in notes.read_text().splitlines() if line.startswith("start")]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_child_that_dies_in_a_call_is_reported_with_its_last_words_and_started_again(tmp_path: Path):
    notes = tmp_path / "notes"
    async with open_remote(child("hostile.py", "plain", str(notes)), "far") as provider:
        with pytest.raises(AgentLost) as lost:
            await provider.call(call_of("die"), ignore)
        result = await provider.call(call_of("work"), ignore)

    assert "whether the call took effect is not known" in lost.value.message
    assert "dying of a broken heart" in lost.value.message
    assert result.content == (Text("work"),)
    assert len(starts(notes)) == 2


async def test_every_call_under_way_ends_when_the_child_dies(tmp_path: Path):
    outcomes: list[type[Exception]] = []

    async def lose(provider: RemoteProvider, name: str) -> None:
        try:
            await provider.call(call_of(name), ignore)
        except AgentLost as error:
            outcomes.append(type(error))

    with anyio.fail_after(20):
        async with open_remote(child("hostile.py", "plain"), "far") as provider, anyio.create_task_group() as tasks:
            for name in ("hang", "hang", "die"):
                tasks.start_soon(lose, provider, name)

    assert outcomes == [AgentLost] * 3


async def test_a_line_that_never_ends_is_given_up_before_it_fills_the_memory(tmp_path: Path):
    notes = tmp_path / "notes"
    async with open_remote(child("hostile.py", "flood", str(notes)), "far") as provider:
        with anyio.fail_after(30), pytest.raises(AgentLost, match="wrote a line of more than 67108864 bytes"):
            await provider.call(call_of("flood"), ignore)

        assert (await provider.call(call_of("work"), ignore)).content == (Text("work"),)
        assert len(starts(notes)) == 2


async def test_a_closed_provider_leaves_no_process_behind(tmp_path: Path):
    notes = tmp_path / "notes"
    async with open_remote(child("hostile.py", "plain", str(notes)), "far"):
        (pid,) = starts(notes)
        assert alive(pid)

    assert not alive(pid)
    assert notes.read_text().endswith("end\n")


async def test_a_cancelled_owner_leaves_no_process_behind(tmp_path: Path):
    notes = tmp_path / "notes"
    async with anyio.create_task_group() as tasks:
        provider = RemoteProvider(child("hostile.py", "plain", str(notes)), tasks, "far")
        await provider.current()
        tasks.cancel_scope.cancel()

    assert not alive(starts(notes)[0])


async def test_a_slow_server_is_waited_for(tmp_path: Path):
    notes, gate = tmp_path / "notes", tmp_path / "gate"
    os.mkfifo(gate)
    with anyio.fail_after(20):
        async with (
            lazy(child("hostile.py", "slow", str(notes), str(gate))) as provider,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(provider.current)
            await anyio.to_thread.run_sync(lambda: gate.write_text("open"))  # waits for the child to read
            await provider.current()

            assert len(provider.tools()) == 5
    assert len(starts(notes)) == 1


async def test_a_server_that_never_answers_is_given_up():
    message = await reason(child("hostile.py", "mute"), Patience(connect_s=0.5))

    assert message == "far is not available: it did not answer within 0.5 s"


async def test_a_program_that_does_not_exist_is_named():
    message = await reason(StdioServer(("no-such-program-anywhere",)))

    assert message == "far is not available: 'no-such-program-anywhere' cannot be started: No such file or directory"


async def test_a_program_that_ends_at_once_is_quoted_without_its_secrets():
    message = await reason(child("hostile.py", "exit", SECRET="swordfish"))

    assert message.endswith("the last it wrote to stderr was:\nno licence for key ***")


async def test_a_child_gets_none_of_our_variables_but_the_harmless_ones(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "swordfish")

    assert (await reason(child("hostile.py", "exit"))).endswith("no licence for key None")


async def test_a_child_that_hangs_in_a_call_is_told_to_stop_and_lives_on(tmp_path: Path):
    notes = tmp_path / "notes"
    async with open_remote(child("hostile.py", "plain", str(notes)), "far", Patience(call_s=0.2)) as provider:
        with pytest.raises(ServiceTimeout):
            await provider.call(call_of("hang"), ignore)
    async with open_remote(child("hostile.py", "plain", str(notes)), "far") as provider:
        await provider.call(call_of("work"), ignore)

    assert notes.read_text().count("notifications/cancelled") == 1


async def test_content_that_does_not_fit_the_tools_own_schema_is_a_failed_result():
    async with open_remote(child("hostile.py", "liar"), "far") as provider:
        result = await provider.call(call_of("lie"), ignore)

    assert result.error is not None
    assert "'many' is not of type 'integer'" in result.error.message


async def test_noise_on_stdout_is_skipped(caplog: pytest.LogCaptureFixture):
    async with open_remote(child("hostile.py", "noise"), "far") as provider:
        result = await provider.call(call_of("work"), ignore)

    assert result.content == (Text("work"),)


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("endless", "far does not list its tools: it lists more than 5000 tools or 200 pages"),
        ("circle", "far does not list its tools: its page 'again' comes a second time"),
        ("nonsense", "far does not list its tools as MCP does"),
        ("wrong", "far does not list its tools as MCP does: tools.0.inputSchema.type"),
        ("twice", "far lists two tools named 'same'"),
    ],
)
async def test_a_list_that_cannot_be_is_refused(mode: str, words: str):
    assert (await reason(child("hostile.py", mode))).startswith(words)


async def test_a_changed_list_takes_effect_with_the_next_look():
    async with open_remote(child("hostile.py", "plain"), "far") as provider:
        before = await provider.find("work")
        await provider.call(call_of("change"), ignore)
        with anyio.fail_after(5):
            while (await provider.find("work")).digest() == before.digest():
                await anyio.lowlevel.checkpoint()

        assert (await provider.find("work")).description == "The tool work. Version 2."


async def test_an_old_server_is_spoken_to_in_its_revision(tmp_path: Path):
    """It does not know server/discover and answers with an error, as servers of 2025-11-25 do."""
    notes = tmp_path / "notes"
    async with open_remote(child("hostile.py", "plain", str(notes)), "far") as provider:
        assert provider.about()["protocol"] == "2025-11-25"

    assert notes.read_text().splitlines()[1:4] == ["server/discover", "initialize", "notifications/initialized"]


async def test_a_server_that_cannot_start_is_not_started_again_and_again(tmp_path: Path):
    notes = tmp_path / "notes"
    async with lazy(
        child("hostile.py", "exit", str(notes)), Patience(first_retry_s=3600, max_retry_s=7200)
    ) as provider:
        for words in ("ended; the last it wrote", "it will not be tried again for 3600 s"):
            with pytest.raises(ServiceUnavailable, match=words):
                await provider.current()

    assert len(starts(notes)) == 1


async def test_a_server_that_could_not_start_is_tried_again_after_the_pause(tmp_path: Path):
    notes = tmp_path / "notes"
    async with lazy(child("hostile.py", "exit", str(notes)), AT_ONCE) as provider:
        for _ in range(2):
            with pytest.raises(ServiceUnavailable):
                await provider.current()

    assert len(starts(notes)) == 2


async def test_all_who_wait_for_one_start_share_it(tmp_path: Path):
    notes = tmp_path / "notes"
    async with lazy(child("hostile.py", "plain", str(notes))) as provider, anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(provider.current)

    assert len(starts(notes)) == 1
    assert notes.read_text().count("tools/list") == 1


async def test_nobody_at_the_address():
    message = await reason(HttpServer("http://someone:swordfish@127.0.0.1:9/mcp?key=swordfish"))

    assert message.startswith("far is not available: cannot reach http://127.0.0.1:9/mcp: ")
    assert "swordfish" not in message


@pytest.mark.parametrize(
    ("status", "advice"),
    [(401, "; check the key or the headers of its spec"), (404, "; check the address"), (500, "")],
)
async def test_an_http_error_is_named(status: int, advice: str):
    async with serving(PlainTextResponse("<html>no</html>", status)) as url:
        message = await reason(HttpServer(f"{url}/mcp"))

        assert message == f"far is not available: {url}/mcp answered HTTP {status}{advice}"


async def test_a_page_for_people_is_no_server():
    async with serving(PlainTextResponse("<html>welcome</html>", media_type="text/html")) as url:
        assert "text/html" in await reason(HttpServer(f"{url}/mcp"))


async def test_an_error_answered_over_http_comes_through():
    error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"the agent is not published"}}'
    async with serving(PlainTextResponse(error, 404, media_type="application/json")) as url:
        assert await reason(HttpServer(f"{url}/mcp")) == "far is not available: the agent is not published"


def breaking(app: Any, tool_name: str) -> Callable[..., Any]:
    """`app`, but the connection breaks in the middle of the answer to a call of `tool_name`."""

    async def broken(scope: Any, receive: Any, send: Any) -> None:
        name = dict(scope.get("headers", ())).get(b"mcp-name", b"").decode()
        if name != tool_name:
            await app(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"jsonrpc":', "more_body": True})
        raise ConnectionResetError

    return broken


async def test_a_broken_answer_harms_no_other_call():
    begun, go_on = anyio.Event(), anyio.Event()

    @tool
    async def wait() -> str:
        """Wait until told."""
        begun.set()
        await go_on.wait()
        return "here I am"

    results: list[Any] = []

    async with our_server(add, wait) as (server, seen), open_remote(server, "far") as provider:
        seen.app = breaking(seen.app, "add")

        async def keep(name: str) -> None:
            results.append(await provider.call(call_of(name), ignore))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(keep, "wait")
                await begun.wait()
                with pytest.raises(AgentLost, match="far did not answer, and whether the call took effect"):
                    await provider.call(call_of("add", a=1, b=2), ignore)
                go_on.set()

    assert [result.content for result in results] == [(Text("here I am"),)]


async def test_a_session_that_a_restart_forgot_is_opened_again_and_the_call_sent_once_more():
    """mcp.md S1, S2: the server answers 404 and has not looked at the call."""
    async with our_server(add, protocol="legacy") as (server, seen), open_remote(server, "far") as provider:
        async with our_server(add) as (_, restarted):
            seen.app = restarted.app

            result = await provider.call(call_of("add", a=1, b=2), ignore)

            assert result.structured == {"sum": 3}
        assert seen.methods.count("initialize") == 2
        assert seen.methods.count("tools/call") == 2


async def test_a_server_that_forgets_every_session_is_not_asked_for_ever():
    def forgetful(app: Any) -> Callable[..., Any]:
        async def forget(scope: Any, receive: Any, send: Any) -> None:
            known = dict(scope.get("headers", ())).get(b"mcp-session-id")
            await (PlainTextResponse("who?", 404) if known else app)(scope, receive, send)

        return forget

    async with our_server(add, protocol="legacy") as (server, seen):
        seen.app = forgetful(seen.app)
        message = await reason(server)

    assert message == "far does not keep the sessions that it opens"
    assert seen.methods.count("initialize") == 2


async def test_a_server_that_comes_back_is_found_again():
    async with our_server(add) as (server, seen), open_remote(server, "far") as provider:
        living = seen.app
        seen.app = PlainTextResponse("restarting", 503)
        with pytest.raises(ServiceUnavailable, match="answered HTTP 503"):
            await provider.call(call_of("add", a=1, b=2), ignore)
        seen.app = living

        assert (await provider.call(call_of("add", a=1, b=2), ignore)).structured == {"sum": 3}


async def listed_until_it_fails(provider: RemoteProvider) -> None:
    while True:
        await provider.current()
        await anyio.lowlevel.checkpoint()


async def test_a_server_that_restarts_with_other_tools_is_listed_anew():
    """The subscription that told of changes ends with the old server, and then the list counts as old."""
    first = make_server()
    async with anyio.create_task_group() as tasks:
        async with serving(first.streamable_http_app(), "on") as url:
            provider = RemoteProvider(HttpServer(f"{url}/mcp"), tasks, "far")
            await provider.current()
        with anyio.fail_after(5), pytest.raises(ServiceUnavailable, match="cannot reach"):
            await listed_until_it_fails(provider)
        second = make_server()
        second.remove_tool("erase")
        async with serving(second.streamable_http_app(), "on", int(url.rpartition(":")[2])):
            assert "erase" not in [each.name for each in await provider.current()]
            await provider.aclose()


async def test_a_call_after_the_end_says_so():
    async with our_server(add) as (server, _):
        async with open_remote(server, "far") as provider:
            pass
        with pytest.raises(ServiceUnavailable, match="its client was closed"):
            await provider.call(call_of("add", a=1, b=2), ignore)


async def test_a_tool_that_went_away_is_not_called():
    async with official_server() as (server, _), open_remote(server, "far") as provider:
        with pytest.raises(ToolNotFound, match="list its tools"):
            await provider.find("extra")


def test_without_the_official_client_one_line_says_how_to_install_it():
    program = """
import sys, anyio
sys.modules["mcp"] = None
from toolwire.providers.remote import open_remote
from toolwire.providers.remote_server import StdioServer
async def main():
    async with open_remote(StdioServer(("true",)), "far"):
        pass
try:
    anyio.run(main)
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "the MCP client is not installed; install it with: pip install 'toolwire[mcp]'\n"
