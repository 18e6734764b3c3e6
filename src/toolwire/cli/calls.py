"""`toolwire calls tail` and `show`: the record of calls of a running host; how calls look is `call_lines`' matter."""

import sys
from collections.abc import Iterator
from typing import Annotated, get_args

import msgspec
from cyclopts import Parameter

from toolwire.cli.api import host_client
from toolwire.cli.call_lines import Screen, screen_for, told_whole
from toolwire.cli.failure import DONE, misused
from toolwire.cli.output import print_json, print_text
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.target import target_of
from toolwire.client import CallsMissed, Client, RecordedCall, Which
from toolwire.wire.answers.calls import TaskStatus

HERE = HostFlags()
STATUSES = get_args(TaskStatus)
MOST_LINES = 10_000
PAGE = 200


def tail(
    *,
    agent: Annotated[str | None, Parameter(help="Only calls of this agent's tools, or by this agent.")] = None,
    tool: Annotated[str | None, Parameter(help="Only calls of this tool.")] = None,
    status: Annotated[
        list[TaskStatus] | None, Parameter(negative="", help="Only calls with this status; may be repeated.")
    ] = None,
    since: Annotated[
        str | None, Parameter(help="Begin with the calls since this time, such as 2026-01-31T12:00:00Z.")
    ] = None,
    lines: Annotated[
        int, Parameter(help="How many calls of before to begin with, without --since (default: 10).")
    ] = 10,
    follow: Annotated[bool, Parameter(help="Go on with the calls to come (default).")] = True,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Show the calls of all your agents, one a line, as they happen; Ctrl-C ends it.

    On a terminal the calls that run stand below the others, and go up when they end. Elsewhere a call's line comes when
    it has ended.

    With `--json`: a line for each that is known, and for each time that one begins, gets on or ends, as the REST
    surface shows it.
    """
    if not 0 <= lines <= MOST_LINES:
        raise misused(f"--lines is a number from 0 to {MOST_LINES}, not {lines}")
    which = Which(agent=agent, tool=tool, statuses=status or ())
    with host_client(target_of(host)) as client, screen_for(json, sys.stdout) as screen:
        page = client.calls.list(which, limit=1)
        for call in reversed(list(_latest(client, which, since, MOST_LINES if since is not None else lines))):
            screen.show(call)
        if follow:
            _follow(client, which, page.after, screen)
    return DONE


def show(
    call_id: Annotated[str, Parameter(help="The call's id, as `calls tail` shows it; it is its task's, too.")],
    /,
    *,
    host: HostFlags = HERE,
    json: JsonFlag = False,
) -> int:
    """Show a call: who called, with which arguments, what it told on the way, how it ended, and how long that took.

    With `--json`: the call, as the REST surface shows it.
    """
    with host_client(target_of(host)) as client:
        call = client.calls.get(call_id)
    if json:
        print_json(msgspec.to_builtins(call))
    else:
        print_text(told_whole(call))
    return DONE


def _follow(client: Client, which: Which, after: str, screen: Screen) -> None:
    last: str | None = None
    for news in client.calls.watch(which, after=after):
        if isinstance(news, CallsMissed):
            missed = () if last is None else _latest(client, which, last, MOST_LINES)
            for call in reversed(list(missed)):
                screen.show(call)
        else:
            last = max(last or "", news.started_at)
            screen.show(news)


def _latest(client: Client, which: Which, since: str | None, most: int) -> Iterator[RecordedCall]:
    before: str | None = None
    while most > 0:
        page = client.calls.list(which, since=since, before=before, limit=min(PAGE, most))
        yield from page.calls
        most, before = most - len(page.calls), page.next
        if before is None:
            return
