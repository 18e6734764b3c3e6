"""`Bash`, `BashOutput` and `KillShell` with real processes (sdk.md 1.12, §3.15)."""

import gc
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.unit.sdk.builtin.desk import Desk, gone, is_alive, number_in
from toolwire.core.event import Event, Progress
from toolwire.sdk.builtin import Services
from toolwire.sdk.builtin.shell_output import Output
from toolwire.sdk.builtin.shells import environment
from toolwire.sdk.context import ToolContext


async def test_a_command_gives_what_it_printed_in_the_order_in_which_it_did(desk: Desk):
    assert await desk.good("Bash", command="echo one; echo two >&2; echo three") == "one\ntwo\nthree"
    assert await desk.good("Bash", command="true") == "(no output)"


async def test_a_status_other_than_0_is_a_failure_with_the_output(desk: Desk):
    result = await desk.call("Bash", {"command": "echo partly; exit 3"})

    assert (result.success, result.summary, result.output) == (False, "Exit code 3", "partly")


@pytest.mark.parametrize(
    ("command", "summary", "output"),
    [
        ("kill -9 $$", "Exit code 137", ""),
        ("echo 'a", "Exit code 2", "unexpected EOF"),
        ("no-such-command", "Exit code 127", "no-such-command: command not found"),
        ("set -eu; echo $NOT_SET; echo no", "Exit code 1", "NOT_SET: unbound variable"),
        ("exec sh -c 'exit 5'", "Exit code 5", ""),
        ("trap 'echo mine' EXIT; exit 4", "Exit code 4", "mine"),
        ("read x", "Exit code 1", ""),
    ],
)
async def test_a_command_may_end_in_any_way(desk: Desk, command: str, summary: str, output: str):
    result = await desk.call("Bash", {"command": command})

    assert result.summary == summary
    assert output in result.output


async def test_the_directory_stays_and_the_rest_does_not(desk: Desk):
    (desk.root / "a b\nc").mkdir()

    await desk.bad("Bash", command="x=1; cd a*; exit 1")

    assert await desk.good("Bash", command='basename "$PWD"; echo "x=$x"') == "a b\nc\nx="


async def test_each_task_has_a_directory_of_its_own(desk: Desk):
    (desk.root / "a").mkdir()
    await desk.good("Bash", command="cd a")

    other = await desk.call("Bash", {"command": "pwd"}, task_id="task-2")

    assert other.output == str(desk.root)
    assert await desk.good("Bash", command="pwd") == str(desk.root / "a")


async def test_a_directory_outside_is_left_for_the_workspace(desk: Desk):
    await desk.good("Bash", command="cd /")

    assert await desk.good("Bash", command="pwd") == (
        f"{desk.root}\n(this command started in {desk.root}: the last one left the workspace)"
    )
    assert await desk.good("Bash", command="pwd") == str(desk.root)


async def test_a_directory_that_is_gone_is_left_for_the_workspace(desk: Desk):
    await desk.good("Bash", command="mkdir a; cd a")
    (desk.root / "a").rmdir()

    assert await desk.good("Bash", command="pwd") == (
        f"{desk.root}\n(this command started in {desk.root}: {str(desk.root / 'a')!r} is gone)"
    )
    assert await desk.good("Bash", command="mkdir b; cd b; rmdir ../b; true") == "(no output)"
    assert await desk.good("Bash", command="pwd") == str(desk.root)


async def test_a_command_that_takes_too_long_is_stopped_with_all_that_it_started(desk: Desk):
    command = """
    trap '' TERM
    (trap '' TERM; sleep 300) & echo $! >> pids
    setsid sh -c 'trap "" TERM; echo $$ >> pids; sleep 300' &
    while [ "$(wc -l < pids)" -lt 2 ]; do sleep 0.01; done
    echo started; sleep 300
    """

    result = await desk.call("Bash", {"command": command, "timeout": 1000})

    assert not result.success
    assert result.summary.startswith("the command did not end within 1000 ms and was stopped with everything")
    assert "started" in result.output
    for pid in (desk.root / "pids").read_text().split():
        await gone(int(pid))


async def test_a_cancelled_call_leaves_no_process_behind(desk: Desk):
    pid = 0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.call, "Bash", {"command": "sleep 300 & echo $! > pid.new; mv pid.new pid; wait"})
        pid = await number_in(desk.root / "pid")
        assert is_alive(pid)
        tasks.cancel_scope.cancel()

    await gone(pid)


async def test_what_a_command_leaves_in_its_background_becomes_a_shell(desk: Desk):
    told = await desk.good("Bash", command="(until [ -e go ]; do sleep 0.01; done; echo later) & echo now")

    assert told == (
        "now\n(what the command left running in the background is bash_1 now: BashOutput reads its output, KillShell "
        "stops it)"
    )
    desk.put("go")
    assert await desk.good("BashOutput", bash_id="bash_1", block=True) == "later\n(bash_1 ended with exit code 0)"


async def test_a_daemon_does_not_hold_the_call_and_ends_with_the_client(desk: Desk):
    with anyio.fail_after(10):
        await desk.good("Bash", command="setsid sleep 300 & disown; echo $! > pid.new; mv pid.new pid")
    pid = await number_in(desk.root / "pid")
    assert is_alive(pid)

    await desk.services.aclose()

    await gone(pid)


async def test_a_background_shell_tells_what_is_new_each_time(desk: Desk):
    command = "echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 3"

    assert await desk.good("Bash", command=command, run_in_background=True) == (
        "running in the background as bash_1: BashOutput reads its output, KillShell stops it"
    )
    text = ""
    with anyio.fail_after(5):
        while "one" not in text:
            text = await desk.good("BashOutput", bash_id="bash_1")
    assert text == "one\n(bash_1 is still running)"
    assert await desk.good("BashOutput", bash_id="bash_1", block=True, timeout=1) == (
        "(no new output)\n(bash_1 is still running)"
    )
    desk.put("go")
    assert await desk.good("BashOutput", bash_id="bash_1", block=True) == "two\n(bash_1 ended with exit code 3)"
    assert await desk.good("BashOutput", bash_id="bash_1") == "(no new output)\n(bash_1 ended with exit code 3)"


async def test_a_filter_chooses_lines_and_a_wrong_one_costs_nothing(desk: Desk):
    await desk.good("Bash", command="printf 'ab\\nbc\\ncd\\n'", run_in_background=True)
    await desk.good("Bash", command="sleep 0")

    assert "is not a regular expression" in await desk.bad("BashOutput", bash_id="bash_1", filter="(", block=True)
    assert await desk.good("BashOutput", bash_id="bash_1", filter="b", block=True) == (
        "ab\nbc\n(bash_1 ended with exit code 0)"
    )


async def test_kill_shell_ends_everything_the_shell_has_started(desk: Desk):
    command = "setsid sh -c 'echo $$ > pid.new; mv pid.new pid; trap \"\" TERM; while true; do sleep 0.01; done'"
    await desk.good("Bash", command=command, run_in_background=True)
    pid = await number_in(desk.root / "pid")

    assert await desk.good("KillShell", shell_id="bash_1") == "bash_1 was stopped, with everything it had started"

    await gone(pid)
    assert await desk.good("BashOutput", bash_id="bash_1") == "(no new output)\n(bash_1 was stopped)"
    assert await desk.good("KillShell", shell_id="bash_1") == "bash_1 had ended before: it was stopped"


async def test_a_shell_belongs_to_its_task(desk: Desk):
    await desk.good("Bash", command="sleep 300", run_in_background=True)

    for name, argument in (("BashOutput", "bash_id"), ("KillShell", "shell_id")):
        result = await desk.call(name, {argument: "bash_1"}, task_id="task-2")
        assert result.summary == f"{name}: there is no shell 'bash_1'; none was started in the background"
        assert await desk.bad(name, **{argument: "bash_7"}) == f"{name}: there is no shell 'bash_7'; there are bash_1"


@pytest.mark.parametrize("how", ["aclose", "close", "end_task", "forgotten"])
async def test_background_shells_end_with_the_client_or_the_task(tmp_path: Path, how: str):
    desk = Desk(tmp_path)
    command = "echo $$ > pid.new; mv pid.new pid; sleep 300"
    await desk.good("Bash", command=command, run_in_background=True)
    pid = await number_in(tmp_path / "pid")

    match how:
        case "aclose":
            await desk.services.aclose()
        case "close":
            desk.services.close()
        case "end_task":
            desk.services.end_task("task-1")
        case _:
            del desk
            gc.collect()

    await gone(pid)


async def test_a_closed_client_starts_nothing(desk: Desk):
    await desk.good("Bash", command="true")
    await desk.services.aclose()

    assert await desk.bad("Bash", command="true") == "Bash: the client is closed, so no command can be started"


def test_a_program_that_ends_without_closing_leaves_no_shell(tmp_path: Path):
    script = f"""
import anyio, pathlib
from tests.unit.sdk.builtin.desk import Desk
async def main():
    await desk.good("Bash", command="echo $$ > pid.new; mv pid.new pid; sleep 300", run_in_background=True)
    while not pathlib.Path({str(tmp_path)!r}, "pid").exists():
        await anyio.sleep(0)
desk = Desk(pathlib.Path({str(tmp_path)!r}))
anyio.run(main)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)

    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_too_many_shells_are_refused(desk: Desk):
    for _ in range(64):
        await desk.good("Bash", command="sleep 300", run_in_background=True)

    assert "64 shells are running already; stop some with KillShell" in await desk.bad("Bash", command="true")


async def test_output_is_kept_within_limits(tmp_path: Path):
    desk = Desk(tmp_path, max_output_chars=1000)

    text = await desk.good("Bash", command="echo start; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")

    assert text.startswith("start\nxxx")
    assert text.endswith("xxx\nend")
    assert "bytes of output were left out here" in text
    assert len(text) < 1100


async def test_colours_and_half_characters_do_no_harm(desk: Desk):
    assert await desk.good("Bash", command="printf '\\033[31mred\\033[0m\\033]0;title\\007 \\xff \\0 \\303\\244'") == (
        "red \ufffd  ä"
    )


async def test_progress_shows_the_last_line(desk: Desk):
    events: list[Event] = []
    ctx = ToolContext(metadata={"task_id": "task-1"}, emit=events.append)

    await desk.tools["Bash"].invoke({"command": "echo working; sleep 1.2"}, ctx)

    assert [event.message for event in events if isinstance(event, Progress)] == ["working"]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("  ", "the command is empty"),
        ("a\0b", "NUL character"),
        ("echo \ud800", "lone surrogates"),
        (": " + "x" * 200_000, "the command cannot be started: Argument list too long"),
    ],
)
async def test_a_command_that_cannot_be_is_told(desk: Desk, command: str, told: str):
    assert told in await desk.bad("Bash", command=command)


async def test_a_time_out_out_of_range_is_refused(desk: Desk):
    assert "timeout" in await desk.bad("Bash", command="true", timeout=600_001)
    assert "timeout" in await desk.bad("Bash", command="true", timeout=0)


def test_secrets_are_not_passed_on_and_nothing_waits_for_a_terminal():
    base = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "LANG": "C",
        "PWD": "/",
        "OPENAI_API_KEY": "s",
        "GITHUB_TOKEN": "s",
        "DB_PASSWORD": "s",
        "AWS_SECRET_ACCESS_KEY": "s",
        "DATABASE_URL": "s",
        "my_secret": "s",
        "BASH_ENV": "x",
        "MONKEY": "harmless",
    }

    passed = environment(base, {"LANG": None, "EXTRA": "1", "GITHUB_TOKEN": "given"})

    assert "s" not in passed.values()
    assert passed["GITHUB_TOKEN"] == "given"
    assert (passed["EXTRA"], passed["MONKEY"], passed["TERM"]) == ("1", "harmless", "dumb")
    assert not {"LANG", "BASH_ENV"} & passed.keys()


async def test_commands_see_the_environment_without_secrets(tmp_path: Path):
    desk = Desk(tmp_path, shell_env={"GREETING": "hello"})

    assert await desk.good("Bash", command='echo "$GREETING"; [ -n "$PATH" ] && echo path') == "hello\npath"


def test_output_is_taken_in_whole_characters():
    output = Output(100)
    output.append("aä".encode()[:-1])

    assert output.take(final=False) == "a"
    output.append("ä€😀".encode()[1:-1])
    assert output.take(final=False) == "ä€"
    assert output.take(final=True) == "\ufffd"


def test_the_middle_of_too_much_output_is_left_out_once():
    output = Output(10)
    for _ in range(100):
        output.append(b"0123456789")

    assert output.take(final=False) == "01234\n\n… 990 bytes of output were left out here …\n\n56789"
    assert output.take(final=True) == ""


def test_calls_without_a_task_share_one_state():
    services = Services()
    ctx = ToolContext()
    own = ToolContext(metadata={"task_id": "call-1", "tool_use_id": "call-1"})

    assert services.task(ctx) is services.task(own)
    assert services.task(ctx) is not services.task(ToolContext(metadata={"task_id": "t", "tool_use_id": "call-1"}))
