"""cards.md 19, 20, decisions 7-10: who has which name before agents, and for how long."""

from hypothesis import given
from hypothesis import strategies as st

from toolwire.canvas.ledger import TOMBSTONE_S, Ledger, assigned, names_of, released
from toolwire.core.names import valid_tool_name


def test_the_first_keeps_the_name_and_later_ones_are_numbered() -> None:
    """cards.md 19, 20."""
    ledger: Ledger = ()
    for source in ("dir:/a", "dir:/b", "dir:/c"):
        ledger = assigned(ledger, source, "test-radar", ["run_tests"], 1.0)
    names = [names_of(ledger, source)["run_tests"] for source in ("dir:/a", "dir:/b", "dir:/c")]
    assert names == ["test_radar_run_tests", "test_radar_run_tests_2", "test_radar_run_tests_3"]


def test_a_number_is_per_name_and_not_per_package() -> None:
    ledger = assigned((), "dir:/a", "radar", ["run"], 1.0)
    ledger = assigned(ledger, "dir:/b", "radar", ["run", "list"], 2.0)
    assert names_of(ledger, "dir:/b") == {"run": "radar_run_2", "list": "radar_list"}


def test_a_number_that_another_card_has_by_nature_is_passed_over() -> None:
    """Decision 9."""
    ledger = assigned((), "dir:/a", "radar", ["run", "run_2"], 1.0)
    assert names_of(assigned(ledger, "dir:/b", "radar", ["run"], 2.0), "dir:/b") == {"run": "radar_run_3"}


def test_a_removed_packages_names_wait_for_it_and_nobody_else_moves() -> None:
    """Decision 8."""
    ledger = assigned((), "dir:/a", "radar", ["run"], 1.0)
    ledger = assigned(ledger, "dir:/b", "radar", ["run"], 2.0)
    ledger = released(ledger, "dir:/a", (), 3.0)
    assert names_of(ledger, "dir:/a") == {}
    ledger = assigned(ledger, "dir:/c", "radar", ["run"], 4.0)
    assert names_of(ledger, "dir:/c") == {"run": "radar_run_3"}
    assert names_of(assigned(ledger, "dir:/a", "radar", ["run"], 5.0), "dir:/a") == {"run": "radar_run"}


def test_after_thirty_days_a_freed_name_is_there_for_others() -> None:
    ledger = released(assigned((), "dir:/a", "radar", ["run"], 1.0), "dir:/a", (), 2.0)
    later = assigned(ledger, "dir:/b", "radar", ["run"], 2.0 + TOMBSTONE_S)
    assert names_of(later, "dir:/b") == {"run": "radar_run"}


def test_an_update_keeps_names_and_frees_those_of_tools_that_went() -> None:
    ledger = assigned((), "dir:/a", "radar", ["run", "list"], 1.0)
    ledger = assigned(ledger, "dir:/a", "renamed", ["run", "stop"], 2.0)
    assert names_of(ledger, "dir:/a") == {"run": "radar_run", "stop": "renamed_stop"}


_steps = st.tuples(
    st.sampled_from(["dir:/a", "dir:/b", "dir:/c"]),
    st.sampled_from(["radar", "radar-run", "r" * 48]),
    st.lists(st.sampled_from(["run", "run_2", "t" * 40, "run_run"]), unique=True),
)


@given(st.lists(_steps, max_size=12))
def test_no_two_tools_ever_share_a_name_and_installed_names_never_change(
    steps: list[tuple[str, str, list[str]]],
) -> None:
    ledger: Ledger = ()
    for now, (source, card_name, tools) in enumerate(steps):
        before = {other: names_of(ledger, other) for other in ("dir:/a", "dir:/b", "dir:/c")}
        ledger = assigned(ledger, source, card_name, tools, float(now))
        exposed = [row.exposed for row in ledger]
        assert len(set(exposed)) == len(exposed)
        assert all(valid_tool_name(name) for name in exposed)
        assert set(names_of(ledger, source)) == set(tools)
        for other, names in before.items():
            after = names_of(ledger, other)
            assert all(after[tool] == name for tool, name in names.items() if tool in after)
