"""Ids are fresh everywhere, and sort by age."""

import os

from toolwire.core.ids import new_id


def test_ids_never_repeat_and_have_the_form_that_is_documented() -> None:
    ids = [new_id("call") for _ in range(2000)]

    assert len(set(ids)) == len(ids)
    assert all(len(made) == len("call_") + 12 + 20 for made in ids)


def test_a_forked_child_does_not_repeat_the_ids_of_its_parent() -> None:
    new_id("call")  # the pool is full in the parent
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, new_id("call").encode())
        os._exit(0)
    os.waitpid(child, 0)
    of_child = os.read(read, 100).decode()
    os.close(read)
    os.close(write)

    assert of_child[-20:] != new_id("call")[-20:]
