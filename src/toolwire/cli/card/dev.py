"""`toolwire card dev`: runs a card from its author's folder against a host, and anew after each change.

The host keeps a copy of each state that it has accepted, as after `card add`; the process that answers is this one's.
"""

import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from toolwire.canvas.child_process import run_to_end
from toolwire.canvas.package_check import check_package
from toolwire.cli.card.changes import LOOK_EVERY_S, Seen, changed, look
from toolwire.cli.card.folder import CURRENT, FolderArgument, card_folder
from toolwire.cli.card.packages import FETCH_TIMEOUT_S, consented, offered
from toolwire.cli.card.program import Program, program_of
from toolwire.cli.card.validate import print_findings
from toolwire.cli.failure import DONE, Failed
from toolwire.cli.output import print_text, say
from toolwire.cli.parameters import HostFlags
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target, target_of

HERE = HostFlags()


def dev(
    path: FolderArgument = CURRENT,
    /,
    *,
    yes: Annotated[bool, Parameter(negative="", help="Accept what changes without being asked.")] = False,
    host: HostFlags = HERE,
) -> int:
    """Run a card from its folder, and anew after each change, until SIGTERM or Ctrl-C.

    It is installed first, or updated, and you are asked as by `card add`. A Python card runs as a process; a web card
    runs in Node without a page, so build it in another terminal. What it prints is printed here.
    """
    folder, target = card_folder(path).resolve(), target_of(host)
    while True:
        _end_on_signals()  # until_changed has its own way, and leaves the system's
        seen = look(folder)
        program = ready(folder, target, yes)
        if not anyio.run(partial(until_changed, folder, seen, program)):
            return DONE
        say("the card's folder has changed")


def _end_on_signals() -> None:
    def end(number: int, frame: FrameType | None) -> None:
        say("stopping")
        raise SystemExit(DONE)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def ready(folder: Path, target: Target, yes: bool) -> Program | None:
    """Have the host take the folder as it is now; what runs it, or `None` when that cannot be, which is said."""
    checked = check_package(folder)
    print_findings(checked)
    if checked.manifest is None or not checked.ok:
        say("it cannot be installed; mend it")
        return None
    try:
        with Rest(target, timeout_s=FETCH_TIMEOUT_S) as rest:
            package = consented(rest, {**offered(rest, str(folder)), "warnings": ()}, yes=yes)
        program = program_of(folder, checked.manifest, target, package["package"])
    except Failed as failed:
        if failed.code in ("no_host", "unauthorized", "forbidden"):
            raise
        say(f"toolwire: {failed.message}")
        return None
    _say_ready(package)
    return program


async def until_changed(folder: Path, seen: Seen, program: Program | None, look_every_s: float = LOOK_EVERY_S) -> bool:
    """Run a program until its folder is not what was seen (`True`) or a signal comes (`False`).

    A program that ends before is not started again: that would be the same once more.
    """
    is_changed = False
    async with anyio.create_task_group() as tasks:

        async def stop() -> None:
            await _signalled()
            tasks.cancel_scope.cancel()

        if sys.platform != "win32":  # there, the event loop makes a cancellation of Ctrl-C
            tasks.start_soon(stop)
        if program is not None:
            tasks.start_soon(_serve, program, folder)
        await changed(folder, seen, look_every_s)
        is_changed = True
        tasks.cancel_scope.cancel()
    return is_changed


async def _serve(program: Program, folder: Path) -> None:
    try:
        code = await run_to_end(program.command, folder, program.environment(), _show)
    except OSError as error:
        say(f"{program.command[0]} cannot be started: {error.strerror}; waiting for a change")
        return
    say(f"the card ended with code {code}; waiting for a change")


def _show(line: str, source: str) -> None:
    told: Callable[[str], None] = print_text if source == "stdout" else say
    told(line)


async def _signalled() -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as received:
        async for _ in received:
            say("stopping")
            return


def _say_ready(package: dict[str, Any]) -> None:
    names = ", ".join(tool["exposed_name"] for tool in package["tools"]) or "no tools"
    say(f"running {package['name']} {package['version']} as {package['package']} ({names}); Ctrl-C stops it")
