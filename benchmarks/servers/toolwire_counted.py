"""The agent of the crash benchmark: each execution leaves a line behind.  It answers nothing of interest."""

import os

from toolwire.agent import Agent

agent = Agent("counted")
_log = os.open(os.environ["BENCH_RAN"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


@agent.tool
async def count(n: int) -> str:
    """Note that this was executed."""
    os.write(_log, b"%d\n" % n)
    return f"counted {n}"
