"""What an answer to a form leaves out is filled in from its defaults (SEP-1034)."""

from typing import Any

import pytest

from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote_forms import completing, with_defaults

FORM: JsonObject = {
    "message": "Who?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "Ada"},
            "age": {"type": "integer", "default": 0},
            "sure": {"type": "boolean", "default": False},
            "note": {"type": "string"},
        },
    },
}


@pytest.mark.parametrize(
    "content,completed",
    [
        ({}, {"name": "Ada", "age": 0, "sure": False}),
        ({"name": "", "sure": True}, {"name": "", "sure": True, "age": 0}),
        (None, {"name": "Ada", "age": 0, "sure": False}),
    ],
)
def test_what_is_left_out_has_its_default_and_what_was_said_stays(content: Any, completed: JsonObject):
    assert with_defaults(FORM, {"action": "accept", "content": content}) == {"action": "accept", "content": completed}


@pytest.mark.parametrize(
    "params,result",
    [
        (FORM, {"action": "decline"}),
        (FORM, {"action": "cancel"}),
        ({"mode": "url", "url": "https://x.test", "requestedSchema": FORM["requestedSchema"]}, {"action": "accept"}),
        ({"message": "Who?"}, {"action": "accept"}),
        ({"requestedSchema": {"properties": []}}, {"action": "accept"}),
    ],
)
def test_what_accepts_no_form_stays_as_it_is(params: JsonObject, result: JsonObject):
    assert with_defaults(params, result) == result


@pytest.mark.anyio
async def test_an_asker_is_completed():
    async def accept(_params: JsonObject) -> JsonObject:
        return {"action": "accept", "content": {"age": 7}}

    assert (await completing(accept)(FORM))["content"] == {"name": "Ada", "age": 7, "sure": False}
