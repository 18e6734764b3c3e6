"""No input makes a 5xx, a hang, a second response or a mistake of ours: seeds, and what hypothesis makes of them."""

from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.site import Site, open_site
from tests.fuzz.targets import TARGETS, seeds_of

SEEDS = {name: [path.read_bytes() for path in seeds_of(name)] for name in TARGETS}
WORDS = [
    *(b"", b"\n", b"\n\n", b"{", b"}", b"[", b'"', b"\\", b"\0", b"\xff", b"null", b"-1", b"1e400", b"$SESSION"),
    *(b"2025-11-25", b"2026-07-28", b"tools/call", b'"id":1,', b"\\ud800", b"=?base64?", b": ", b","),
]


@pytest.fixture(scope="module")
def site() -> Generator[Site]:
    with open_site() as opened:
        yield opened


def spoilt(seed: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """A seed in which pieces are left out and replaced."""
    for at, length, junk in changes:
        start = at % (len(seed) + 1)
        seed = seed[:start] + junk + seed[start + length :]
    return seed


CHANGES = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 40), st.sampled_from(WORDS) | st.binary(max_size=6)), max_size=4
)


@pytest.mark.parametrize("name", TARGETS)
def test_every_seed_keeps_the_promises(site: Site, name: str):
    """Those that a fuzzer has found once are among them."""
    assert SEEDS[name]
    for seed in SEEDS[name]:
        TARGETS[name](site, seed)


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_input_breaks_a_promise(site: Site, name: str, data: st.DataObject):
    seed = data.draw(st.sampled_from(SEEDS[name]) | st.binary(max_size=200))
    TARGETS[name](site, spoilt(seed, data.draw(CHANGES)))


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_lines_of_many_conversations_may_be_mixed(site: Site, data: st.DataObject):
    lines = [line for seed in SEEDS["stdio"] for line in seed.split(b"\n")]
    mixed = data.draw(st.lists(st.sampled_from(lines), max_size=12))
    TARGETS["stdio"](site, b"\n".join(mixed))
