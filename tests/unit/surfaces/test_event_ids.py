"""Ids of events: what is sealed comes back to its holder, and nothing else does (mcp.md 1.2, resumability)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.call import Caller
from toolwire.core.errors import InvalidRequest
from toolwire.surfaces.event_ids import EventIds, Mark, holder_of
from toolwire.surfaces.sessions import Session

IDS = EventIds(b"secret")
MARK = Mark("call", "call_1", 7, 2, False, '"é"', "1")
ALICE = Caller("alice", "owner", "gateway")


def test_an_id_can_stand_in_a_header_and_says_where_its_stream_was():
    id_ = IDS.mint(MARK, b"alice")
    assert all(0x21 <= ord(character) <= 0x7E for character in id_)
    assert IDS.read(id_, b"alice") == MARK
    assert EventIds(b"secret").read(id_, b"alice") == MARK, "a replica with the same secret reads it"


@pytest.mark.parametrize("reader", [(EventIds(b"other"), b"alice"), (IDS, b"bob"), (IDS, b"")])
def test_an_id_is_for_its_holder_and_its_secret(reader: tuple[EventIds, bytes]):
    ids, holder = reader
    with pytest.raises(InvalidRequest):
        ids.read(IDS.mint(MARK, b"alice"), holder)


def test_who_holds_an_id_is_a_principal_with_an_agent_and_a_session():
    holders = [
        holder_of(ALICE, "a", None),
        holder_of(ALICE, "b", None),
        holder_of(ALICE, "a", Session("s1", "ch_1")),
        holder_of(ALICE, "a", Session("s2", "ch_2")),
        holder_of(Caller("bob", "owner", "gateway"), "a", None),
        holder_of(Caller("alic", "owner", "gateway"), "ea", None),
    ]
    assert len(set(holders)) == len(holders)


@given(st.text(max_size=300))
def test_no_text_is_an_id_by_chance(text: str):
    with pytest.raises(InvalidRequest):
        IDS.read(text, b"alice")


@given(st.data())
def test_an_id_that_was_changed_anywhere_is_none(data: st.DataObject):
    id_ = IDS.mint(MARK, b"alice")
    at = data.draw(st.integers(0, len(id_) - 1))
    other = data.draw(st.characters(min_codepoint=0x20, max_codepoint=0xFF).filter(lambda c: c != id_[at]))
    with pytest.raises(InvalidRequest):
        IDS.read(id_[:at] + other + id_[at + 1 :], b"alice")
