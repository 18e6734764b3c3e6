"""`toolwire file put`: what it takes for a file, and what of one that changes meanwhile."""

import io
import os
from pathlib import Path

import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.files import PIECE_BYTES, opened, pieces


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_what_has_no_end_is_refused_before_anything_is_asked(tmp_path: Path, kind: str):
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/zero")
    with pytest.raises(Failed, match="is a folder, a pipe or a device; name a file") as refused:
        opened(path)
    assert refused.value.code == "usage"


def test_a_file_that_is_not_there_is_said_not_to_be(tmp_path: Path):
    with pytest.raises(Failed, match=r"nothing' cannot be read: No such file or directory"):
        opened(tmp_path / "nothing")


def test_of_a_file_that_grows_what_was_announced_is_sent():
    file = io.BytesIO(b"x" * (PIECE_BYTES + 10) + b"written since")
    assert [len(piece) for piece in pieces(file, PIECE_BYTES + 10)] == [PIECE_BYTES, 10]
    assert list(pieces(file, 0)) == []


def test_a_file_that_became_shorter_is_not_sent_as_if_it_were_whole():
    with pytest.raises(Failed, match="became shorter while it was uploaded; try again"):
        list(pieces(io.BytesIO(b"short"), 6))
