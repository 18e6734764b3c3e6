"""A body that provably never waits is known by its code, whatever runs in it; all others may be cancelled half-way."""

import functools
from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from toolwire.core.handler import is_prompt
from toolwire.sdk import tool
from toolwire.sdk.authoring.prompt_bodies import never_waits


async def adds(a: int, b: int) -> int:
    """Add."""
    return sum(n for n in (a, b))


async def nests(a: int) -> Any:
    """Make a coroutine and not wait for it."""

    async def inner() -> None:
        await anyio.lowlevel.checkpoint()

    return inner.__name__ if a else None


async def waits(a: int) -> int:
    if a:
        await anyio.lowlevel.checkpoint()
    return a


async def iterates(source: Any) -> list[Any]:
    return [each async for each in source]


async def enters(place: Any) -> None:
    async with place:
        pass


async def generates() -> AsyncGenerator[int]:
    yield 1


def plain(a: int) -> int:
    return a


class Callable:
    async def __call__(self, a: int) -> int:
        return a


@pytest.mark.parametrize("fn", [adds, nests])
def test_a_body_without_a_place_to_wait_never_waits(fn: Any):
    assert never_waits(fn)


@pytest.mark.parametrize(
    "fn",
    [waits, iterates, enters, generates, plain, Callable(), functools.partial(adds, 1), print, Callable().__call__],
)
def test_what_may_wait_or_cannot_be_read_counts_as_waiting(fn: Any):
    assert not never_waits(fn)


def test_a_tool_is_marked_by_its_body():
    assert is_prompt(tool(adds).handler)
    assert not is_prompt(tool(waits).handler)


def test_a_body_that_waits_behind_a_decorator_is_not_taken_for_one_that_does_not():
    @functools.wraps(adds)
    async def around(*args: Any, **keywords: Any) -> Any:
        return await adds(*args, **keywords)

    assert not never_waits(around)
