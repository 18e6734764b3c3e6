"""Frames of the agent link as bytes: they come out as they went in, and nothing else is taken (gateway.md 1H, §6)."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import InvalidRequest
from toolwire.wire.link import (
    Deliver,
    Drain,
    FromAgent,
    FromGateway,
    Hello,
    Message,
    Publish,
    Published,
    Read,
    Refused,
    Registration,
    Rows,
    Skill,
    Welcome,
    call_id_of,
    decode_from_agent,
    decode_from_gateway,
    encode_frames,
    message_id_of,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PAYLOAD = st.dictionaries(TEXT, st.integers() | TEXT | st.none() | st.lists(st.booleans()), max_size=3)
SKILL = st.builds(
    Skill,
    name=TEXT,
    description=TEXT,
    input_schema=st.none() | PAYLOAD,
    output_schema=st.none() | PAYLOAD,
    title=st.none() | TEXT,
    annotations=st.none() | PAYLOAD,
    icons=st.none() | st.lists(PAYLOAD, max_size=2),
    expose_as_tool=st.booleans(),
    idempotent=st.booleans(),
    long_running=st.booleans(),
    timeout_ms=st.none() | st.integers(1, 10**9),
)
REGISTRATION = st.builds(
    Registration,
    name=TEXT,
    version=TEXT,
    description=TEXT,
    delivery_mode=st.sampled_from(["push", "queue", "busy_reject", None]),
    skills=st.lists(SKILL, max_size=2).map(tuple),
    resources=st.lists(PAYLOAD, max_size=2).map(tuple),
    prompts=st.lists(PAYLOAD, max_size=2).map(tuple),
)
MESSAGE = st.builds(
    Message,
    message_id=TEXT,
    channel_id=TEXT,
    offset=st.integers(0, 2**53),
    type=TEXT,
    payload=PAYLOAD,
    publisher_id=TEXT,
    created_at=TEXT,
    in_reply_to=st.none() | TEXT,
    idempotency_key=st.none() | TEXT,
    metadata=PAYLOAD,
)
REF = st.integers(0, 2**53)
FROM_AGENT = st.one_of(
    st.builds(
        Hello,
        protocol=REF,
        journal=TEXT,
        registration=REGISTRATION,
        running=st.lists(TEXT, max_size=3).map(tuple),
    ),
    st.builds(
        Publish,
        ref=REF,
        channel_id=TEXT,
        type=TEXT,
        payload=PAYLOAD,
        message_id=st.none() | TEXT,
        in_reply_to=st.none() | TEXT,
    ),
    st.builds(Read, ref=REF, channel_id=TEXT, since=REF, limit=st.integers(1, 500)),
    st.just(Drain()),
)
FROM_GATEWAY = st.one_of(
    st.builds(Welcome, agent_id=TEXT, skills=st.dictionaries(TEXT, REF, max_size=3)),
    st.builds(Deliver, delivery_id=TEXT, message=MESSAGE, redelivered=st.booleans()),
    st.builds(Published, ref=REF, message_id=TEXT, offset=REF, idempotent=st.booleans()),
    st.builds(Rows, ref=REF, messages=st.lists(MESSAGE, max_size=2).map(tuple)),
    st.builds(Refused, code=TEXT, message=TEXT, ref=st.none() | REF),
)


@given(st.lists(FROM_AGENT, max_size=4))
def test_what_an_agent_sends_is_what_the_gateway_reads(frames: list[FromAgent]):
    data = encode_frames(frames)
    assert list(decode_from_agent(data)) == frames
    assert list(decode_from_agent(data.decode())) == frames


@given(st.lists(FROM_GATEWAY, max_size=4))
def test_what_the_gateway_sends_is_what_an_agent_reads(frames: list[FromGateway]):
    data = encode_frames(frames)
    assert list(decode_from_gateway(data)) == frames
    assert list(decode_from_gateway(data.decode())) == frames


def test_one_frame_may_stand_without_the_array():
    assert decode_from_agent('{"frame":"drain"}') == (Drain(),)
    assert decode_from_gateway(b'{"frame":"refused","code":"conflict","message":"no"}') == (Refused("conflict", "no"),)


def test_members_that_a_newer_peer_adds_are_passed_over():
    assert decode_from_agent(b'[{"frame":"drain","because":"night"}]') == (Drain(),)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nonsense",
        b"null",
        b"7",
        b"{}",
        b"[1]",
        b'{"frame":"unknown"}',
        b'{"frame":"welcome","agent_id":"a","skills":{}}',
        b'{"frame":"read"}',
        b'[{"frame":"drain"},{"frame":"read","ref":"one","channel_id":"c"}]',
        b"[" * 100_000,
        b'{"frame":"publish","ref":1,"channel_id":"c","type":"t","payload":%b' % (b'{"a":' * 100_000),
        b'{"frame":"\xff"}',
    ],
)
def test_anything_else_is_refused_with_the_place(data: bytes):
    with pytest.raises(InvalidRequest, match="agent link"):
        decode_from_agent(data)


def test_a_payload_may_be_deep_and_not_without_end():
    frame = b'{"frame":"publish","ref":1,"channel_id":"c","type":"t","payload":{"structured":%b}}'
    assert len(decode_from_agent(b"[%b]" % (frame % (b"[" * 127 + b"]" * 127)))) == 1
    with pytest.raises(InvalidRequest, match="nested too deeply"):
        decode_from_agent(frame % (b"[" * 128 + b"]" * 128))


def test_a_gateways_frame_is_none_of_an_agents():
    with pytest.raises(InvalidRequest):
        decode_from_gateway(b'{"frame":"drain"}')


def test_a_frame_is_told_apart_from_the_type_of_the_message_in_it():
    publish: Any = json.loads(encode_frames([Publish(1, "ch", "agent_reply", {"text": "hi"}, in_reply_to="msg_1")]))[0]
    assert publish["frame"] == "publish"
    assert publish["type"] == "agent_reply"
    assert "message_id" not in publish


def test_a_skill_is_camel_case_on_the_wire_but_for_its_time_out():
    skill = Skill("s", input_schema={}, expose_as_tool=False, timeout_ms=5)
    assert msgspec.to_builtins(skill) == {"name": "s", "inputSchema": {}, "exposeAsTool": False, "timeout_ms": 5}


@given(st.text("0123456789abcdef", min_size=1))
def test_a_call_and_the_message_that_carries_it_name_each_other(tail: str):
    assert message_id_of(f"call_{tail}") == f"msg_{tail}"
    assert call_id_of(message_id_of(f"call_{tail}")) == f"call_{tail}"
