"""The changes of an endpoint: who listens is told, and who comes back can ask what was before."""

from toolwire.core.change import Change, ListChanged, ResourceUpdated
from toolwire.surfaces.changes import KEPT_CHANGES, Changes

TOOLS = ListChanged("tools")


def test_whoever_listens_is_told_and_nobody_else():
    changes = Changes()
    heard: list[Change] = []
    changes.tell(TOOLS)
    with changes.heard(heard.append):
        changes.tell(ResourceUpdated("a"))
    changes.tell(TOOLS)
    assert heard == [ResourceUpdated("a")]


def test_what_came_after_a_number_can_be_asked():
    changes = Changes()
    for number in range(3):
        changes.tell(ResourceUpdated(str(number)))
    assert changes.since(changes.log_id, 1) == [(2, ResourceUpdated("1")), (3, ResourceUpdated("2"))]
    assert changes.since(changes.log_id, 3) == []


def test_what_is_not_kept_or_never_was_is_not_made_up():
    changes = Changes()
    for _ in range(KEPT_CHANGES + 1):
        changes.tell(TOOLS)
    assert changes.since(changes.log_id, 0) is None
    assert changes.since(changes.log_id, KEPT_CHANGES + 2) is None
    assert changes.since(Changes().log_id, KEPT_CHANGES) is None
    kept = changes.since(changes.log_id, 1)
    assert kept is not None
    assert len(kept) == KEPT_CHANGES
