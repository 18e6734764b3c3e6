"""cards.md 73, §4, §7 (terminals): real shells on real pseudo-terminals."""

import os
import re
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.canvas.site import Site, open_site
from toolwire.gateway.keys import FIRST_OWNER


async def terminal_on(site: Site, **content: str) -> str:
    return (await site.card(await site.workspace(), "terminal", content=content))["id"]


async def run(site: Site, terminal: str, command: str, timeout_ms: int = 20_000) -> dict[str, Any]:
    return await site.ask("POST", f"/terminals/{terminal}/run", {"command": command, "timeout_ms": timeout_ms})


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for its status does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_a_command_gives_its_output_and_exit_code(tmp_path: Path) -> None:
    """cards.md 73, §7."""
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "echo one; echo two >&2; (exit 3)")
        assert ended == {"exit_code": 3, "output": "one\ntwo\n", "truncated": False, "timed_out": False}


async def test_the_shell_goes_on_from_command_to_command(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "cd /usr; colour=red; export SIZE=9; declare -A map=([a]=1); false")
        ended = await run(site, terminal, "echo $? $PWD $colour $SIZE ${map[a]}")
        assert ended["output"] == "1 /usr red 9 1\n"


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("printf 'a\\nb'", "a\nb", 0),
        ("cat <<'END'\n'single' \"double\" $HOME `x`\nEND\n", "'single' \"double\" $HOME `x`\n", 0),
        ("for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n", 0),
        ("# nothing", "", 0),
        ("printf '\\033[31mred\\033[0m \\033]0;title\\007x\\r\\n'", "red x\n", 0),
        ("printf '10%%\\r20%%\\r30%%\\n'", "30%\n", 0),
        ("printf 'one\\ntwo\\n\\033[2A\\033[KONE\\n\\033[B'", "ONE\ntwo\n", 0),
        ("printf '\\033]7770;end;0123456789abcdef;0\\007'; printf '\\033]777'; echo on; (exit 9)", "777on\n", 9),
        ('printf \'%s\' "$PS1" | head -c 0; printf "${PS1@P}" | head -c 0; echo ok', "ok\n", 0),
        ("kill -9 $BASHPID & wait $! 2>/dev/null; true", None, 0),
        ("stty raw -echo; echo raw", "raw\n", 0),
        ("exec 2>/dev/null; echo gone >&2; echo here", "here\n", 0),
        ("unset PROMPT_COMMAND; PS1='mine> '; echo set", "set\n", 0),
        ("set -u; unset nothing; set -f; set -C", "", 0),
        ("set -e; false", None, 1),
        ("exec ls /nothing 2>/dev/null", None, 2),
        ("trap 'echo left' EXIT; trap 'echo each >/dev/null' DEBUG", "", 0),
        ("set -o vi", "", 0),
        ("echo a | while read line; do exit 6; done", None, 6),
        ("definitely-not-a-command", "bash: definitely-not-a-command: command not found\n", 127),
    ],
)
async def test_what_a_command_holds_or_prints_does_no_harm(
    tmp_path: Path, command: str, output: str | None, code: int
) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, command)
        assert (ended["exit_code"], ended["timed_out"]) == (code, False)
        assert output is None or ended["output"] == output
        assert (await run(site, terminal, "echo next"))["output"] == "next\n"


async def test_a_command_that_is_no_bash_leaves_the_shell_as_it_was(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, 'echo "never closed')
        assert ended["exit_code"] == 2
        assert "unexpected EOF" in ended["output"]
        assert (await run(site, terminal, "echo next"))["output"] == "next\n"


async def test_fifty_megabytes_of_output_are_cut_in_the_middle(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        with anyio.fail_after(10):
            ended = await run(site, terminal, "echo first; yes 0123456789abcdef | head -c 50000000; echo last")
        assert ended["truncated"] is True
        assert ended["exit_code"] == 0
        assert ended["output"].startswith("first\n0123456789abcdef\n")
        assert ended["output"].endswith("last\n")
        assert re.search(r"\n… \d+ bytes of output were left out here …\n", ended["output"])
        assert len(ended["output"]) < 250_000


async def test_bytes_that_are_no_text_are_shown_as_well_as_they_can_be(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "head -c 20000 /dev/urandom; printf '\\033c\\n'; echo end")
        assert ended["exit_code"] == 0
        assert ended["output"].endswith("end\n")


async def test_a_command_that_waits_for_input_times_out_and_is_interrupted(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "printf 'name? '; read name; echo $name", timeout_ms=300)
        assert ended == {"exit_code": None, "output": "name? ", "truncated": False, "timed_out": True}
        assert (await run(site, terminal, "echo free"))["output"] == "free\n"


async def test_a_command_that_nobody_wants_any_more_does_not_run_later(tmp_path: Path) -> None:
    """However early it is given up, it has run before the next one, or not at all; and none runs twice."""
    async with open_site(tmp_path / "data") as site:
        terminal, trace = await terminal_on(site), tmp_path / "trace"
        shell = site.host.canvas.terminals
        workspace, card = site.host.canvas.workspaces.find_card(FIRST_OWNER, terminal)
        await run(site, terminal, "true")
        for number in range(12):
            with anyio.move_on_after(number * 0.001):
                await shell.run(workspace, card, f"echo dropped >> {trace}", 5)
            ended = await shell.run(workspace, card, f"echo {number} >> {trace}; cat {trace}", 5)
            assert ended.output.split()[-1] == str(number)
        kept = [line for line in trace_lines(trace) if line != "dropped"]
        assert kept == [str(number) for number in range(12)]
        assert len(trace_lines(trace)) <= 24


def trace_lines(trace: Path) -> list[str]:
    return trace.read_text().split()


async def test_ctrl_c_works_also_where_the_host_ignores_it(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            terminal = await terminal_on(site)
            ended = await run(site, terminal, "sh -c 'kill -INT $$'")
        finally:
            signal.signal(signal.SIGINT, before)
        assert ended["exit_code"] == 130


async def test_a_command_that_prints_without_end_is_interrupted(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "yes", timeout_ms=500)
        assert (ended["timed_out"], ended["truncated"]) == (True, True)
        assert (await run(site, terminal, "echo free"))["output"] == "free\n"


async def test_a_terminal_that_a_command_has_left_in_a_raw_mode_shows_lines_again(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "stty raw -echo")
        assert (await run(site, terminal, "printf '\\033[0mone\\ntwo\\n'"))["output"] == "one\ntwo\n"


async def test_a_shell_whose_settings_do_not_come_to_an_end_starts_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_settings(tmp_path / "home", "exec sh -c 'exit 3'")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with open_site(tmp_path / "data") as site:
        terminal = await terminal_on(site)
        error = await site.ask("POST", f"/terminals/{terminal}/run", {"command": "echo on"}, status=502)
        assert ".bashrc" in error["message"]
        assert (await run(site, terminal, "echo on"))["output"] == "on\n"


async def test_the_users_own_settings_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_settings(tmp_path / "home", "alias greet='echo hello'; PROMPT_COMMAND='true'; PS1='mine> '; set -u")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    async with open_site(tmp_path / "data") as site:
        terminal = await terminal_on(site)
        assert (await run(site, terminal, "greet"))["output"] == "hello\n"
        assert "mine> greet" in (await site.ask("GET", f"/terminals/{terminal}/screen"))["screen"]


def write_settings(home: Path, text: str) -> None:
    home.mkdir()
    (home / ".bashrc").write_text(text)


async def test_a_command_that_does_not_heed_an_interrupt_is_killed(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        command = "sh -c \"trap '' INT TERM; echo \\$\\$; while :; do sleep 1; done\""
        ended = await run(site, terminal, command, timeout_ms=500)
        assert ended["timed_out"] is True
        assert not is_alive(int(ended["output"]))
        assert (await run(site, terminal, "echo free"))["output"] == "free\n"


async def test_what_a_command_leaves_in_the_background_goes_on(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "sleep 60 & echo pid=$!")
        assert ended["exit_code"] == 0
        pid = int(ended["output"].rpartition("pid=")[2])
        assert is_alive(pid)
        await site.ask("POST", f"/terminals/{terminal}/kill", status=204)
        assert not is_alive(pid)


async def test_a_shell_that_ends_starts_anew(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        first = int((await run(site, terminal, "sleep 60 & echo $$ >&2"))["output"].split()[-1])
        ended = await run(site, terminal, "echo bye; exit 4")
        assert (ended["exit_code"], ended["output"].splitlines()[0]) == (4, "bye")
        again = await run(site, terminal, "echo $$")
        assert int(again["output"]) != first
        assert not is_alive(first)


async def test_commands_of_one_terminal_wait_for_each_other(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        outputs: list[str] = []

        async def one(number: int) -> None:
            outputs.append((await run(site, terminal, f"echo b{number}; sleep 0.05; echo e{number}"))["output"])

        async with anyio.create_task_group() as tasks:
            for number in range(5):
                tasks.start_soon(one, number)
        assert sorted(outputs) == [f"b{number}\ne{number}\n" for number in range(5)]


async def test_a_program_started_by_hand_is_not_typed_into(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "true")
        await site.ask("POST", f"/terminals/{terminal}/write", {"data": "cat\r"}, status=204)
        error = await site.ask("POST", f"/terminals/{terminal}/run", {"command": "echo typed"}, status=409)
        assert error["code"] == "agent_busy"
        await site.ask("POST", f"/terminals/{terminal}/write", {"data": "\x03"}, status=204)
        assert (await run(site, terminal, "echo free"))["output"] == "free\n"
        screen = (await site.ask("GET", f"/terminals/{terminal}/screen"))["screen"]
        assert "typed" not in screen


async def test_the_screen_shows_commands_and_what_they_print_and_nothing_of_ours(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        await run(site, terminal, "PS1='> '; echo one")
        await run(site, terminal, "seq 3")
        shown = await site.ask("GET", f"/terminals/{terminal}/screen?lines=6")
        assert "one\n> seq 3\n1\n2\n3" in shown["screen"]
        assert "__toolwire" not in shown["screen"]


async def test_nothing_is_left_when_a_card_or_a_workspace_is_removed_or_the_host_stops(tmp_path: Path) -> None:
    """Neither what ignores signals, nor what has left the shell's group, or its session."""
    left = tmp_path / "pids"
    one = f"echo $$ >> {left}; exec sleep 60"
    command = (
        f"echo $$ >> {left}; sh -c '{one}' & setsid -f sh -c '{one}'; sh -c \"trap '' HUP TERM; {one}\" & "
        f"(set -m; sh -c '{one}' &); until [ $(wc -l < {left}) -ge $want ]; do sleep 0.01; done"
    )

    async def fill(site: Site, terminal: str, want: int) -> None:
        assert (await run(site, terminal, f"want={want}; {command}"))["exit_code"] == 0

    def pids() -> list[int]:
        return [int(line) for line in left.read_text().split()]

    async with open_site(tmp_path / "data") as site:
        workspace, other, third = [await site.workspace() for _ in range(3)]
        terminals = [(await site.card(place, "terminal"))["id"] for place in (workspace, other, third)]
        for number, terminal in enumerate(terminals):
            await fill(site, terminal, 5 * (number + 1))
        assert all(is_alive(pid) for pid in pids())
        await site.ask("DELETE", f"/workspaces/{workspace}/cards/{terminals[0]}", status=204)
        await site.ask("DELETE", f"/workspaces/{other}", status=204)
    assert len(pids()) == 15
    assert [pid for pid in pids() if is_alive(pid)] == []


async def test_a_shell_does_not_get_the_hosts_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLWIRE_SECRET", "hush")
    monkeypatch.setenv("OPENAI_API_KEY", "hush")
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        ended = await run(site, terminal, "env; echo $HOME")
        assert "hush" not in ended["output"]
        assert ended["output"].splitlines()[-1] == os.environ["HOME"]


async def test_a_shell_begins_in_the_folder_of_its_card_or_of_its_workspace(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        workspace = await site.workspace()
        named = (await site.card(workspace, "terminal", content={"cwd": "/usr"}))["id"]
        assert (await run(site, named, "pwd"))["output"] == "/usr\n"
        plain = (await site.card(workspace, "terminal"))["id"]
        assert (await run(site, plain, "pwd"))["output"].rstrip().endswith(f"/workspaces/{workspace}")
        wrong = (await site.card(workspace, "terminal", content={"cwd": "/not/there"}))["id"]
        error = await site.ask("POST", f"/terminals/{wrong}/run", {"command": "pwd"}, status=409)
        assert "/not/there" in error["message"]


async def test_the_window_has_the_size_that_it_was_given(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        assert (await run(site, terminal, "stty size"))["output"] == "32 120\n"
        await site.ask("POST", f"/terminals/{terminal}/resize", {"columns": 90, "rows": 20}, status=204)
        assert (await run(site, terminal, "stty size"))["output"] == "20 90\n"
        await site.ask("POST", f"/terminals/{terminal}/resize", {"columns": 0, "rows": 20}, status=400)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"command": ""}, "invalid_param"),
        ({"command": "a\0b"}, "invalid_param"),
        ({"command": "x" * 100_001}, "invalid_param"),
        ({"command": "true", "timeout_ms": 1}, "invalid_param"),
        ({"command": "true", "more": 1}, "invalid_param"),
        ({}, "invalid_param"),
    ],
)
async def test_what_is_no_command_is_refused(tmp_path: Path, body: dict[str, Any], code: str) -> None:
    async with open_site(tmp_path) as site:
        terminal = await terminal_on(site)
        assert (await site.ask("POST", f"/terminals/{terminal}/run", body, status=400))["code"] == code


async def test_only_terminals_of_ones_own_run_commands(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        note = (await site.card(await site.workspace(), "note"))["id"]
        assert (await site.ask("POST", f"/terminals/{note}/run", {"command": "true"}, status=409))["code"] == "conflict"
        missing = await site.ask("POST", "/terminals/card_none/run", {"command": "true"}, status=404)
        assert missing["code"] == "card_not_found"
