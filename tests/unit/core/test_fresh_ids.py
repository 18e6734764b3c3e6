"""Ids are fresh everywhere, and sort by age."""

import subprocess
import sys

from toolwire.core.ids import new_id


def test_ids_never_repeat_and_have_the_form_that_is_documented() -> None:
    ids = [new_id("call") for _ in range(2000)]

    assert len(set(ids)) == len(ids)
    assert all(len(made) == len("call_") + 12 + 20 for made in ids)


FORK = r"""
import os
from toolwire.core.ids import new_id
new_id("call")  # the pool is full in the parent
child = os.fork()
os.write(1, f"{new_id('call')}\n".encode())
if child:
    os.waitpid(child, 0)
"""


def test_a_forked_child_does_not_repeat_the_ids_of_its_parent() -> None:
    said = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=30)

    first, second = said.stdout.split()
    assert first[-20:] != second[-20:]
