"""The owner's key in the data folder, over lost and foreign files."""

from pathlib import Path

import pytest

from tests.unit.gateway.world import open_world
from toolwire.cli.data_folder import DataFolder, write_private
from toolwire.cli.owner_key import keep_owner_key
from toolwire.gateway.keys import FIRST_OWNER


async def test_the_first_key_is_written_for_its_user_alone_and_then_reused(tmp_path: Path):
    world, folder = await open_world(), DataFolder(tmp_path)
    fresh = await world.keys.ensure_first_owner()
    assert fresh is not None

    assert await keep_owner_key(folder, world.keys, fresh) == fresh
    assert await keep_owner_key(folder, world.keys, None) == fresh
    assert folder.owner_key() == fresh
    assert folder.owner_key_file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("lost", [None, b"oag_of_another_folder\n", b""])
async def test_a_key_that_was_lost_is_made_anew(tmp_path: Path, lost: bytes | None):
    world, folder = await open_world(), DataFolder(tmp_path)
    await world.keys.ensure_first_owner()
    if lost is not None:
        write_private(folder.owner_key_file, lost)

    made = await keep_owner_key(folder, world.keys, None)

    record = world.keys.find(made.encode())
    assert record is not None
    assert (record.kind, record.owner, folder.owner_key()) == ("oag", FIRST_OWNER, made)


async def test_a_key_of_another_owner_is_not_taken_for_the_first_owners(tmp_path: Path):
    world, folder = await open_world(), DataFolder(tmp_path)
    await world.keys.ensure_first_owner()
    _, other = await world.keys.create_owner("other")
    write_private(folder.owner_key_file, other.encode())

    assert await keep_owner_key(folder, world.keys, None) != other
