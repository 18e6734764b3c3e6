"""The marks of tests/conftest.py choose the event loop they name."""

import anyio
import pytest
import sniffio


async def test_an_unmarked_test_runs_on_asyncio():
    assert sniffio.current_async_library() == "asyncio"


@pytest.mark.both_backends
async def test_a_marked_test_runs_on_the_backend_in_its_id(request: pytest.FixtureRequest):
    assert request.node.name.endswith(f"[{sniffio.current_async_library()}]")


@pytest.mark.virtual_time
async def test_a_time_out_of_a_day_is_over_at_once_in_virtual_time():
    with pytest.raises(TimeoutError), anyio.fail_after(86_400):
        await anyio.sleep_forever()
    assert anyio.current_time() == 86_400


@pytest.mark.virtual_time
@pytest.mark.parametrize("turn", [1, 2])
async def test_each_test_starts_a_clock_of_its_own(turn: int):
    assert anyio.current_time() == 0
    await anyio.sleep(turn)
