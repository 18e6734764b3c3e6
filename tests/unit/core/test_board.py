"""The board as a value: edits, what takes them back, and what arrows grant (cards.md 2, 5, decision 17)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.board import (
    Arrow,
    Board,
    Card,
    Change,
    Edit,
    PutArrow,
    PutCard,
    RemoveArrow,
    RemoveCard,
    apply,
    grants,
    removal,
)
from toolwire.core.errors import Conflict

AGENT = Card("c_agent", "agent", "writer", agent_id="agt_1")
RADAR = Card("c_radar", "card", "radar", package="pkg_1")
SHELL = Card("c_shell", "terminal", "shell")


def board_with(*changes: Change) -> Board:
    return apply(Board(), changes).board


def test_an_arrow_grants_in_either_direction() -> None:
    board = board_with(
        *map(PutCard, (AGENT, RADAR, SHELL)),
        PutArrow(Arrow("a1", AGENT.id, RADAR.id)),
        PutArrow(Arrow("a2", SHELL.id, AGENT.id)),
    )
    assert [grant.card for grant in grants(board, AGENT.id)] == [RADAR, SHELL]
    assert [grant.card for grant in grants(board, RADAR.id)] == [AGENT]


def test_an_arrow_with_a_list_of_tools_lets_these_through_alone() -> None:
    board = board_with(PutCard(AGENT), PutCard(RADAR), PutArrow(Arrow("a1", AGENT.id, RADAR.id, ("run_tests",))))
    (grant,) = grants(board, AGENT.id)
    assert grant.allows("run_tests")
    assert not grant.allows("delete_tests")


def test_removing_a_card_takes_its_arrows_along_and_is_taken_back_with_them() -> None:
    board = board_with(PutCard(AGENT), PutCard(RADAR), PutArrow(Arrow("a1", AGENT.id, RADAR.id)))
    edited = apply(board, removal(board, [RADAR.id]))
    assert edited.board == Board({AGENT.id: AGENT}, {})
    assert apply(edited.board, edited.inverse).board == board


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        ((PutArrow(Arrow("a1", AGENT.id, "c_gone")),), "not on this board"),
        ((PutArrow(Arrow("a1", AGENT.id, AGENT.id)),), "to itself"),
        ((PutArrow(Arrow("a1", AGENT.id, RADAR.id)), PutArrow(Arrow("a2", RADAR.id, AGENT.id))), "already"),
        ((RemoveCard("c_gone"),), "any more"),
        ((RemoveArrow("a_gone"),), "any more"),
        ((PutArrow(Arrow("a1", AGENT.id, RADAR.id)), RemoveCard(RADAR.id)), "not on this board"),
    ],
)
def test_an_edit_that_would_break_the_board_changes_nothing(edit: Edit, word: str) -> None:
    board = board_with(PutCard(AGENT), PutCard(RADAR))
    with pytest.raises(Conflict, match=word):
        apply(board, edit)
    assert board == board_with(PutCard(AGENT), PutCard(RADAR))


_card_ids = st.sampled_from(["c1", "c2", "c3"])
_arrow_ids = st.sampled_from(["a1", "a2"])
_changes: st.SearchStrategy[Change] = st.one_of(
    st.builds(PutCard, st.builds(Card, _card_ids, st.just("note"), st.text(max_size=3))),
    st.builds(RemoveCard, _card_ids),
    st.builds(PutArrow, st.builds(Arrow, _arrow_ids, _card_ids, _card_ids)),
    st.builds(RemoveArrow, _arrow_ids),
)


@given(st.lists(st.lists(_changes, max_size=4).map(tuple), max_size=12))
def test_any_edits_are_taken_back_to_the_very_same_board(edits: list[Edit]) -> None:
    board, undo = Board(), list[tuple[Board, Edit]]()
    for edit in edits:
        try:
            edited = apply(board, edit)
        except Conflict:
            continue
        undo.append((board, edited.inverse))
        board = edited.board
    for before, inverse in reversed(undo):
        board = apply(board, inverse).board
        assert board == before
