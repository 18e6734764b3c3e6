"""asyncio alone lets a body raise a cancellation that nobody asked for."""

import asyncio

from tests.unit.sdk.calls import called, text_of
from toolwire.sdk import tool


async def test_a_cancellation_of_the_bodys_own_making_is_a_failed_result():
    """sdk.md §4.2: a call can never stay without an end."""

    @tool
    async def odd() -> None:
        raise asyncio.CancelledError

    assert text_of(await called(odd)) == "tool 'odd' failed: CancelledError (reference call_1)"
