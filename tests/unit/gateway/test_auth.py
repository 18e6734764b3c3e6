"""gateway.md 3, 45, D1, D22: which key stands behind a request, in whichever header; two that differ are refused."""

import pytest

from tests.unit.gateway.world import bearer, open_world
from toolwire.core.errors import Forbidden, Unauthorized
from toolwire.gateway.keys import FIRST_OWNER


@pytest.mark.parametrize("form", ["{}", "Bearer {}", "bearer {}", "  Bearer   {}  "])
async def test_a_key_counts_in_every_form_of_header(form: str):
    world = await open_world()
    record, secret = await world.keys.create("bak", FIRST_OWNER, "agent_1")
    identity = world.auth.identify([form.format(secret).encode()])
    assert (identity.kind, identity.key_id, identity.agent_id) == ("bak", record.key_id, "agent_1")


async def test_the_same_key_in_both_headers_is_one_key():
    world = await open_world()
    _, secret = await world.keys.create("bak", FIRST_OWNER, "agent_1")
    assert world.auth.identify([secret.encode(), f"Bearer {secret}".encode(), b""]).kind == "bak"


async def test_two_keys_that_differ_are_refused_even_if_both_are_good():
    world = await open_world()
    _, one = await world.keys.create("bak", FIRST_OWNER, "agent_1")
    _, other = await world.keys.create("oag", FIRST_OWNER)
    with pytest.raises(Unauthorized, match="two different"):
        world.auth.identify([*bearer(one), other.encode()])


@pytest.mark.parametrize("sent", [[], [b""], [b"Bearer "], [b"Basic dXNlcjpwYXNz"], [b"bak_" + b"0" * 64], [b"\xff"]])
async def test_no_key_or_a_wrong_one_is_unauthorized_and_not_repeated(sent: list[bytes]):
    world = await open_world()
    with pytest.raises(Unauthorized) as caught:
        world.auth.identify(sent)
    assert "0000" not in caught.value.message


async def test_the_principal_outlives_a_changed_owner_key_and_is_one_bak_key():
    """gateway.md D1: the owner for `oag_`, the key for `bak_`."""
    world = await open_world()
    first = await world.keys.ensure_first_owner()
    _, second = await world.keys.create("oag", FIRST_OWNER)
    bak, bak_secret = await world.keys.create("bak", FIRST_OWNER, "agent_1")
    _, agk_secret = await world.keys.create("agk", FIRST_OWNER, "agent_1")
    principals = [world.auth.identify(bearer(s)).principal for s in (first or "", second, bak_secret, agk_secret)]
    assert principals == [FIRST_OWNER, FIRST_OWNER, bak.key_id, "agent_1"]


async def test_only_an_owner_key_of_the_first_owner_is_the_first_owner():
    world = await open_world()
    first = await world.keys.ensure_first_owner()
    _, other = await world.keys.create_owner("acme")
    _, agk = await world.keys.create("agk", FIRST_OWNER, "agent_1")
    assert [world.auth.identify(bearer(s)).first_owner for s in (first or "", other, agk)] == [True, False, False]


async def test_a_good_key_of_another_kind_is_forbidden():
    world = await open_world()
    _, secret = await world.keys.create("bak", FIRST_OWNER, "agent_1")
    assert world.auth.identify_as(bearer(secret), "oag", "bak").kind == "bak"
    with pytest.raises(Forbidden, match="oag_"):
        world.auth.identify_as(bearer(secret), "oag")
