"""The REST envelope (gateway.md §6, REST)."""

import json

import pytest

from toolwire.core.errors import (
    AgentBusy,
    Conflict,
    FileNotFound,
    InternalError,
    InvalidParam,
    ServiceTimeout,
    StoreUnavailable,
)
from toolwire.core.errors import ToolwireError as Base
from toolwire.wire.rest import failure, rfc3339, success


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (0.0, "1970-01-01T00:00:00.000Z"),
        (1_800_000_000.0004, "2027-01-15T08:00:00.000Z"),
        (1_800_000_000.999, "2027-01-15T08:00:00.999Z"),
    ],
)
def test_times_are_utc_with_milliseconds(at: float, text: str):
    assert rfc3339(at) == text


def test_a_good_answer_has_its_data():
    assert json.loads(success({"a": [1]})) == {"success": True, "data": {"a": [1]}}
    assert json.loads(success(None)) == {"success": True, "data": None}


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (InvalidParam("no", param="x"), 400, "client_error"),
        (FileNotFound("no"), 404, "client_error"),
        (Conflict("no"), 409, "client_error"),
        (AgentBusy("no"), 409, "client_error"),
        (InternalError("no"), 500, "server_error"),
        (ServiceTimeout("no"), 504, "server_error"),
    ],
)
def test_an_error_has_its_status_and_its_family(error: Base, status: int, kind: str):
    found, body = failure(error, "req_1")
    assert found == status
    assert json.loads(body) == {
        "success": False,
        "error": {
            "type": kind,
            "code": error.code,
            "message": "no",
            "details": {**error.data, "retryable": error.row.retryable},
            "request_id": "req_1",
        },
    }


def test_an_error_always_has_a_request_id():
    bodies = [json.loads(failure(InternalError("no"))[1]) for _ in range(2)]
    assert bodies[0]["error"]["request_id"] != bodies[1]["error"]["request_id"]


def test_an_error_tells_what_is_for_callers_and_not_without_end():
    """gateway.md D16."""
    _, body = failure(StoreUnavailable("the disk of '/srv/data/toolwire.db' is full", told="the disk is full"))
    assert json.loads(body)["error"]["message"] == "the disk is full"
    _, body = failure(InvalidParam("x" * 100_000))
    assert len(body) < 2000
