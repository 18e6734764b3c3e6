"""States that clients keep for us (mcp.md 1.2, MRTR rules; S37)."""

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.errors import InvalidParam
from toolwire.surfaces.sealing import MAX_STATE_BYTES, STATE_TTL_S, Seal

BOUND = ("alice", "", "bench", "tools/call", "pay", "digest")
ANSWERS = {"name": {"action": "accept", "content": {"name": "a secret"}}}


class ManualClock:
    def __init__(self) -> None:
        self.at = 1_800_000_000.0

    def now(self) -> float:
        return self.at


def sealed(clock: ManualClock, secret: bytes = b"secret") -> Seal:
    return Seal(secret, clock)


def test_a_state_opens_for_what_it_is_bound_to_on_any_replica():
    clock = ManualClock()
    text = sealed(clock).close("call_1", ANSWERS, BOUND)
    state = sealed(clock).open(text, BOUND)
    assert (state.call_id, state.answers) == ("call_1", ANSWERS)
    assert b"a secret" not in urlsafe_b64decode(text + "==")
    assert text != sealed(clock).close("call_1", ANSWERS, BOUND)


@pytest.mark.parametrize("place", range(len(BOUND)))
def test_a_state_opens_for_nothing_else(place: int):
    clock = ManualClock()
    text = sealed(clock).close("call_1", ANSWERS, BOUND)
    other = (*BOUND[:place], BOUND[place] + "x", *BOUND[place + 1 :])
    with pytest.raises(InvalidParam, match=r"^invalid or expired requestState$"):
        sealed(clock).open(text, other)


def test_parts_that_are_joined_alike_are_not_bound_alike():
    clock = ManualClock()
    text = sealed(clock).close("call_1", {}, ("ab", "c"))
    with pytest.raises(InvalidParam):
        sealed(clock).open(text, ("a", "bc"))


def test_a_state_ends():
    clock = ManualClock()
    seal = sealed(clock)
    text = seal.close("call_1", ANSWERS, BOUND)
    clock.at += STATE_TTL_S
    assert seal.open(text, BOUND).call_id == "call_1"
    clock.at += 1
    with pytest.raises(InvalidParam, match=r"^invalid or expired requestState$"):
        seal.open(text, BOUND)


def test_every_changed_character_is_noticed():
    clock = ManualClock()
    seal = sealed(clock)
    text = seal.close("call_1", {}, BOUND)
    for place, character in enumerate(text):
        changed = text[:place] + ("A" if character != "A" else "B") + text[place + 1 :]
        with pytest.raises(InvalidParam):
            seal.open(changed, BOUND)


@pytest.mark.parametrize("text", ["", "A", "AAAA", "=" * 40, "ü", "A" * 16, "not base64 at all!", "\0"])
def test_what_is_no_state_is_refused_in_the_same_words(text: str):
    with pytest.raises(InvalidParam, match=r"^invalid or expired requestState$"):
        sealed(ManualClock()).open(text, BOUND)


@given(st.text() | st.binary().map(lambda raw: urlsafe_b64encode(raw).rstrip(b"=").decode()))
def test_whatever_is_no_state_is_refused_in_the_same_words(text: str):
    with pytest.raises(InvalidParam, match=r"^invalid or expired requestState$"):
        sealed(ManualClock()).open(text, BOUND)


def test_another_secret_opens_nothing():
    clock = ManualClock()
    with pytest.raises(InvalidParam):
        sealed(clock, b"other").open(sealed(clock).close("call_1", {}, BOUND), BOUND)


def test_a_large_state_goes_without_its_answers():
    clock = ManualClock()
    seal = sealed(clock)
    text = seal.close("call_1", {"sample": {"text": "x" * MAX_STATE_BYTES}}, BOUND)
    assert len(text) < 1000
    assert seal.open(text, BOUND).answers == {}
