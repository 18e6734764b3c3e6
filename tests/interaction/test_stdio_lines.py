"""Lines on two pipes: where they begin and end, how long they are, who does not read them, and which wire they speak.

What the methods answer is told in test_stdio.py. mcp.md 1.1, S32.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.interaction.bench import ERAS, NEW, OLD, Gate, body
from tests.interaction.requirements import STDIO_2025, STDIO_2026, proves
from tests.interaction.stdio import open_engine, open_pipes
from tests.interaction.transport import PATIENCE_S
from toolwire.core.errors import MissingCapability
from toolwire.sdk import ToolContext
from toolwire.server import Server
from toolwire.surfaces.stdio_pipe import MAX_LINE_BYTES, MAX_UNSENT_BYTES

HELLO: dict[str, Any] = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
TELLING: dict[str, Any] = {"name": "tell_and_hold", "_meta": {"progressToken": "t"}}


def text(said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": said}]


@proves("stdio.eof")
@pytest.mark.parametrize("era", ERAS)
async def test_at_the_end_of_input_what_is_under_way_is_finished(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {"name": "hold"}, 1, era)
        await served.lines.send(body("tools/list", id_="last", era=era))  # without the end of its line
        served.lines.end()
        assert (await served.lines.message())["id"] == "last"
        await served.gate.until(entered=1)
        assert not served.ended.is_set()
        served.gate.release.set()
        assert (await served.lines.message())["result"]["content"] == text("held")
        assert await served.lines.message() is None
        await served.until_ended()


@proves("stdio.eof")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_is_gone_altogether_ends_the_server_when_its_call_ends(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", TELLING, 1, era)
        await served.gate.until(entered=1)
        served.lines.leave()
        served.gate.release.set()
        await served.until_ended()


@proves("stdio.lines")
@pytest.mark.parametrize("era", ERAS)
async def test_a_line_is_a_message_whatever_the_lines_around_it(era: str):
    async with open_pipes() as served:
        good = body("tools/list", id_="good", era=era)
        for around in (b"\n", b"  \t \n", b"\r\n"):
            await served.lines.send(around + good + around)
            assert (await served.lines.message())["id"] == "good"
        for bad, code in [
            (b"nonsense", -32700),
            (b"\xff\xfe\x00", -32700),
            (b'{"jsonrpc":"2.0"', -32700),
            (b"[" * 100_000, -32700),
            (b"[]", -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ]:
            await served.lines.send(bad + b"\n" + good + b"\n")
            message = await served.lines.message()
            assert (message["id"], message["error"]["code"]) == (None, code)
            assert (await served.lines.message())["id"] == "good"
        await served.lines.send(
            b'{"jsonrpc":"2.0","id":1,"result":{}}\n' + good + b"\n"
        )  # an answer to nothing of ours
        assert (await served.lines.message())["id"] == "good"


@proves("stdio.lines")
@pytest.mark.parametrize("era", ERAS)
async def test_files_may_stand_in_for_pipes(era: str, tmp_path: Path):
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(b"".join(body("tools/list", id_=id_, era=era) + b"\n" for id_ in range(3)))
    source, sink = os.open(asked, os.O_RDONLY), os.open(answered, os.O_WRONLY | os.O_CREAT)
    async with open_engine(Gate()) as served:
        with anyio.fail_after(PATIENCE_S):
            await served(source, sink, anyio.Event())
    os.close(source)
    os.close(sink)
    assert [json.loads(line)["id"] for line in answered.read_bytes().splitlines()] == [0, 1, 2]


@proves("stdio.lines")
@pytest.mark.parametrize("era", ERAS)
async def test_a_message_may_come_in_pieces_and_many_at_once(era: str):
    async with open_pipes() as served:
        whole = body("tools/list", id_="pieces", era=era) + b"\n"
        for start in range(0, len(whole), 7):
            await served.lines.send(whole[start : start + 7])
            await anyio.wait_all_tasks_blocked()
        assert (await served.lines.message())["id"] == "pieces"
        await served.lines.send(b"".join(body("tools/list", id_=id_, era=era) + b"\n" for id_ in range(100)))
        assert [(await served.lines.message())["id"] for _ in range(100)] == list(range(100))


@proves("stdio.large")
@pytest.mark.parametrize("era", ERAS)
async def test_a_line_of_ten_megabytes_is_answered_and_one_over_the_limit_is_refused_alone(era: str):
    async with open_pipes() as served, anyio.create_task_group() as tasks:
        big = "x" * 10_000_000
        request = body("tools/call", {"name": "echo", "arguments": {"text": big}}, "big", era)
        tasks.start_soon(served.lines.send, request + b"\n")
        answer = await served.lines.message()
        assert (answer["id"], answer["result"]["content"]) == ("big", text(big))

        async def too_much() -> None:
            for _ in range(40):
                await served.lines.send(b" " * (MAX_LINE_BYTES // 32))
            await served.lines.send(b"1\n" + body("tools/list", id_="after", era=era) + b"\n")

        tasks.start_soon(too_much)
        refused = await served.lines.message()
        assert (refused["id"], refused["error"]["code"]) == (None, -32600)
        assert (await served.lines.message())["id"] == "after"


@proves("stdio.unread")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_is_not_fed_without_bound(era: str):
    async with open_pipes() as served:
        size = MAX_UNSENT_BYTES // 8
        request = body("tools/call", {"name": "echo", "arguments": {"text": "x" * size}}, 1, era) + b"\n"
        taken = await served.lines.send_until_stuck(request * 40)
        assert taken < 20 * size
        answers, rest = taken // len(request), request[taken % len(request) :]
        assert answers >= 8
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(served.lines.send, rest)
            for _ in range(answers + 1):
                assert (await served.lines.message())["result"]["content"] == text("x" * size)


@proves("stdio.unread")
@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_does_not_read_holds_up_no_stop(era: str):
    async with open_pipes() as served:
        await served.lines.ask("tools/call", {"name": "echo", "arguments": {"text": "x" * 1_000_000}}, 1, era)
        await served.lines.ask("tools/call", {"name": "hold"}, 2, era)
        await served.gate.until(entered=1)
        served.stop.set()
        await served.until_ended()


@proves("stdio.era", STDIO_2025)
@pytest.mark.parametrize("enveloped", [True, False])
async def test_a_client_that_probes_with_discover_may_still_initialize(enveloped: bool):
    async with open_pipes() as served:
        await served.lines.ask("server/discover", era=NEW if enveloped else OLD)
        probed = await served.lines.message()
        assert ("result" in probed) == enveloped
        await served.lines.ask("initialize", HELLO)
        assert (await served.lines.message())["result"]["protocolVersion"] == OLD
        await served.lines.ask("tools/list")
        assert "resultType" not in (await served.lines.message())["result"]


@proves("stdio.era", STDIO_2026)
async def test_a_client_that_probes_with_discover_may_go_on_without_initialize():
    async with open_pipes() as served:
        await served.lines.ask("server/discover", era=NEW)
        assert "result" in await served.lines.message()
        await served.lines.ask("tools/list", era=NEW)
        assert (await served.lines.message())["result"]["resultType"] == "complete"
        await served.lines.ask("initialize", HELLO)
        error = (await served.lines.message())["error"]
        assert (error["code"], error["data"]["supported"], error["data"]["requested"]) == (-32022, [NEW], OLD)


@proves("stdio.era", STDIO_2025)
async def test_a_connection_of_the_older_wire_takes_no_requests_of_the_newer():
    """mcp.md S28, where there are no headers."""
    async with open_pipes() as served:
        await served.lines.ask("initialize", HELLO)
        await served.lines.message()
        for method in ("tools/list", "server/discover"):
            await served.lines.ask(method, era=NEW, id_="m")
            refused = await served.lines.message()
            assert (refused["id"], refused["error"]["code"]) == ("m", -32600)
        await served.lines.ask("tools/list")
        assert "result" in await served.lines.message()


@proves("stdio.era", STDIO_2025, STDIO_2026)
@pytest.mark.parametrize("era", ERAS)
async def test_what_is_refused_decides_for_no_wire(era: str):
    async with open_pipes() as served:
        await served.lines.send(body("tools/list", era=NEW).replace(NEW.encode(), b"v999.0.0") + b"\n")
        assert "error" in await served.lines.message()
        await served.lines.ask("tools/list", era=era)
        assert "result" in await served.lines.message()


def asker(gate: Gate) -> Server:
    """A tool that asks, and asks once more when it is not answered."""
    server = Server("bench", "1.0")

    @server.tool
    async def ask(ctx: ToolContext) -> str:
        """Ask twice."""
        form = {"type": "object", "properties": {"name": {"type": "string"}}}
        for _ in range(2):
            with suppress(MissingCapability):
                await ctx.elicit("Who are you?", form)
        return "nobody answered"

    return server


@proves("stdio.eof", STDIO_2025)
async def test_a_question_that_nobody_can_answer_any_more_holds_up_no_end():
    async with open_pipes(asker) as served:
        hello: Any = {**HELLO, "capabilities": {"elicitation": {"form": {}}}}
        await served.lines.ask("initialize", hello, 0)
        await served.lines.message()
        await served.lines.ask("tools/call", {"name": "ask"}, 1)
        assert (await served.lines.message())["method"] == "elicitation/create"
        served.lines.end()
        await served.until_ended()
        [*_, last] = await served.lines.messages()
        assert last["result"]["content"][0]["text"] == "nobody answered"
