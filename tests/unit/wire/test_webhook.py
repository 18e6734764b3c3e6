"""The bytes of a delivery: payload, headers and both signatures (gateway.md 33, 35, 36, D25)."""

import base64
import hashlib
import hmac
import json
import time

import pytest
import standardwebhooks
from hypothesis import given
from hypothesis import strategies as st

from toolwire.wire.webhook import check_secret, headers_of, payload, standard_signature, timed_signature

BODY = b'{"a":1}'
SECRET = "0123456789abcdef"


def test_the_timed_signature_is_a_mac_over_time_dot_body():
    mark = hmac.new(SECRET.encode(), b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert timed_signature([SECRET], 1_700_000_000, BODY) == f"t=1700000000,v1={mark}"


def test_two_live_secrets_sign_one_after_the_other():
    both = timed_signature([SECRET, SECRET + "x"], 1, BODY)
    assert both == timed_signature([SECRET], 1, BODY) + timed_signature([SECRET + "x"], 1, BODY).removeprefix("t=1")
    assert standard_signature([SECRET, SECRET + "x"], "evt_1", 1, BODY).split(" ") == [
        standard_signature([secret], "evt_1", 1, BODY) for secret in (SECRET, SECRET + "x")
    ]


@given(st.text(min_size=16, max_size=256).filter(lambda text: not text.startswith("whsec_")), st.binary(max_size=100))
def test_the_official_library_takes_any_secret_by_its_bytes(secret: str, body: bytes):
    now, told = int(time.time()), json.dumps({"body": body.hex()}).encode()
    sent = headers_of("evt_1", "call_1", now, told, [secret])
    assert standardwebhooks.Webhook(secret.encode()).verify(told, sent) == {"body": body.hex()}


def test_a_whsec_secret_is_decoded_for_the_official_library():
    secret = "whsec_" + base64.b64encode(b"k" * 32).decode()
    now = int(time.time())
    sent = headers_of("evt_1", "call_1", now, BODY, [secret])
    assert standardwebhooks.Webhook(secret).verify(BODY, sent) == {"a": 1}


@pytest.mark.parametrize("secret", ["x" * 15, "x" * 257, "whsec_" + "!" * 20, "whsec_YQ", "whsec_" + " " * 12])
def test_a_secret_that_cannot_sign_is_refused(secret: str):
    with pytest.raises(ValueError, match="secret"):
        check_secret(secret)


def test_headers_of_others_carry_the_same_values_and_can_be_left_out():
    ours = headers_of("evt_1", "call_1", 1, BODY, [SECRET], "t", ())
    assert not [name for name in ours if "beeos" in name]
    both = headers_of("evt_1", "call_1", 1, BODY, [SECRET], "t")
    assert both["x-beeos-signature"] == ours["x-toolwire-signature"]
    assert (both["x-beeos-event"], both["x-beeos-task-id"]) == ("task.state", "call_1")
    assert both["x-beeos-webhook-format"] == "openapi"
    assert both["authorization"] == "Bearer t"


@pytest.mark.parametrize(("status", "final"), [("running", False), ("input_required", False), ("timeout", True)])
def test_only_an_end_is_final(status: str, final: bool):
    told = json.loads(payload("evt_1", status, 1_700_000_000.5, 7, ("call_1", "ch_1", "agent_1", "work")))
    assert told == {
        "type": "task_status",
        "task_id": "call_1",
        "context_id": "ch_1",
        "status": status,
        "final": final,
        "timestamp": "2023-11-14T22:13:20.500Z",
        "event_id": "evt_1",
        "agent_id": "agent_1",
        "tool": "work",
        "sequence": 7,
    }
