"""Which bodies provably ask nobody, so that their calls need no way back to the client."""

import functools
from collections.abc import Callable
from typing import Any

import pytest

from toolwire.core.handler import may_ask
from toolwire.sdk import ToolContext, tool
from toolwire.sdk.authoring.prompt_bodies import never_asks


async def helper(ctx: ToolContext) -> None:
    await ctx.roots()


async def tells(ctx: ToolContext, n: int = 1) -> str:
    await ctx.progress("half", n, 2)
    ctx.log.info("%s", ctx.call_id)
    if ctx.cancelled or not ctx.client_can("roots"):
        ctx.require_client("roots")
    await ctx.say("part")
    return f"{ctx.deadline}{n}"


async def ignores(ctx: ToolContext) -> str:
    return "nothing"


async def asks(ctx: ToolContext) -> str:
    return str(await ctx.roots())


async def asks_late(ctx: ToolContext) -> str:
    await ctx.progress("half")
    return str(await ctx.elicit("?", dict[str, str]))


async def passes_on(ctx: ToolContext) -> None:
    await helper(ctx)


async def keeps(ctx: ToolContext) -> None:
    kept = [ctx]
    await helper(*kept)


async def renames(ctx: ToolContext) -> None:
    other = ctx
    await other.roots()


async def encloses(ctx: ToolContext) -> Any:
    return [await inner() for inner in [lambda: ctx.roots()]]  # noqa: PLW0108 -- the enclosing is the point


async def looks(ctx: ToolContext) -> None:
    await helper(**locals())


async def gets(ctx: ToolContext) -> Any:
    return await getattr(ctx, "roots")()  # noqa: B009 -- what is to be noticed


async def unpacks(n: int, ctx: ToolContext) -> Any:
    pair = n, ctx
    return await pair[1].roots()


@functools.wraps(tells)
async def wraps(*args: Any, **kwargs: Any) -> Any:
    return await tells(*args, **kwargs)


@pytest.mark.parametrize("fn", [tells, ignores])
def test_a_body_that_reads_what_asks_nobody_never_asks(fn: Callable[..., Any]):
    assert never_asks(fn, "ctx")
    assert not may_ask(tool(fn).handler)


@pytest.mark.parametrize(
    "fn", [asks, asks_late, passes_on, keeps, renames, encloses, looks, gets, unpacks, wraps, functools.partial(tells)]
)
def test_a_body_that_asks_or_lets_its_context_go_counts_as_asking(fn: Callable[..., Any]):
    assert not never_asks(fn, "ctx")


def test_a_raw_body_counts_as_asking():
    @tool(name="raw", version="1", input_schema={"type": "object"}, description="Raw.")
    async def raw(arguments: dict[str, Any], ctx: ToolContext) -> str:
        await ctx.progress("half")
        return "done"

    assert may_ask(raw.handler)
