"""`toolwire up --demo` makes a first workspace, whose card answers a call that its owner makes."""

import time
from pathlib import Path

import pytest

from tests.e2e.running import POLL_S, STOP_LIMIT_S, Host
from toolwire.cli.demo.board import EXAMPLE
from toolwire.client import Client
from toolwire.wire.answers.boards import WholeArrowCall

pytestmark = pytest.mark.e2e


def ended(client: Client, workspace: str, arrow: str, call: str) -> WholeArrowCall:
    found = client.cards.arrow_call(workspace, arrow, call)
    until = time.monotonic() + STOP_LIMIT_S
    while found.status == "running" and time.monotonic() < until:
        time.sleep(POLL_S)
        found = client.cards.arrow_call(workspace, arrow, call)
    return found


def test_the_first_workspace_has_an_example_that_answers_and_is_made_once(tmp_path: Path) -> None:
    with Host(tmp_path) as host, Client(host.ready.url, host.ready.owner_key) as client:
        (one,) = client.workspaces.list().workspaces
        board = client.workspaces.get(one.id)
        assert [card.kind for card in board.cards] == ["agent", "card", "terminal"]
        library = next(card for card in board.cards if card.kind == "card")
        arrow = next(arrow for arrow in board.arrows if arrow.target == library.id)
        assert library.content["example"] == EXAMPLE
        call = client.cards.call_through(one.id, arrow.id, EXAMPLE["tool"], EXAMPLE["arguments"])
        whole = ended(client, one.id, arrow.id, call.call_id)
        assert (whole.status, whole.error) == ("ok", None)
        assert len(whole.lines) > 1
        assert "tide" in whole.result_preview
        picture = client.cards.call_through(one.id, arrow.id, "library_picture")
        assert ended(client, one.id, arrow.id, picture.call_id).result_preview.startswith("(image/png")
        assert host.stop() == 0
    with Host(tmp_path) as host, Client(host.ready.url, host.ready.owner_key) as client:
        assert client.workspaces.list().workspaces == [one]
