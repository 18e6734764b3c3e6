"""What lasts ends with the credential that has opened it."""

import anyio
import anyio.lowlevel
import pytest

from toolwire.surfaces.held_open import HeldOpen


def test_all_that_a_credential_holds_open_ends_with_it_and_nothing_else():
    held, ended = HeldOpen(), list[str]()
    with (
        held.of("key_1").opened(lambda: ended.append("one")),
        held.of("key_1").opened(lambda: ended.append("two")),
        held.of("key_2").opened(lambda: ended.append("another's")),
        held.of("").opened(lambda: ended.append("nobody's")),
    ):
        held.end("key_1")
        held.end("")
    assert ended == ["one", "two"]


def test_what_is_over_is_not_ended_any_more():
    held, ended = HeldOpen(), list[str]()
    with held.of("key_1").opened(lambda: ended.append("one")):
        pass
    held.end("key_1")
    assert ended == []


def test_what_is_opened_with_a_credential_that_has_just_ended_ends_at_once():
    held, ended = HeldOpen(), list[str]()
    held.end("key_1")
    with held.of("key_1").opened(lambda: ended.append("one")):
        assert ended == ["one"]


@pytest.mark.both_backends
async def test_serving_says_whether_it_was_ended():
    held, begun = HeldOpen(), anyio.Event()

    async def serve() -> None:
        begun.set()
        await anyio.sleep_forever()

    async def end() -> None:
        await begun.wait()
        held.end("key_1")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(end)
            assert await held.of("key_1").is_ended_during(serve())
        assert not await held.of("key_2").is_ended_during(anyio.lowlevel.checkpoint())
