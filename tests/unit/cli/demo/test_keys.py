"""The demo agent's id and keys: made once, reused, and made again when they are lost."""

from pathlib import Path

from tests.unit.gateway.world import open_world
from toolwire.cli.data_folder import DataFolder
from toolwire.cli.demo.keys import DEMO_AGENT_ID, demo_keys
from toolwire.gateway.keys import FIRST_OWNER


async def test_the_keys_are_made_once_and_kept_for_the_user_alone(tmp_path: Path):
    world, folder = await open_world(), DataFolder(tmp_path)
    await world.keys.ensure_first_owner()

    made = await demo_keys(folder, world.agents, world.keys)

    assert made.agent_id == DEMO_AGENT_ID
    assert (made.agent_key[:4], made.bak[:4]) == ("agk_", "bak_")
    assert (tmp_path / "demo.key").stat().st_mode & 0o777 == 0o600
    again = await open_world(world.store)
    assert await demo_keys(folder, again.agents, again.keys) == made
    assert len(again.keys.list(FIRST_OWNER, DEMO_AGENT_ID)) == 2


async def test_a_revoked_key_alone_is_replaced(tmp_path: Path):
    world, folder = await open_world(), DataFolder(tmp_path)
    await world.keys.ensure_first_owner()
    made = await demo_keys(folder, world.agents, world.keys)
    record = world.keys.find(made.bak.encode())
    assert record is not None
    await world.keys.revoke(FIRST_OWNER, record.key_id)

    now = await demo_keys(folder, world.agents, world.keys)

    assert now.bak != made.bak
    assert now.agent_key == made.agent_key


async def test_losing_the_file_again_and_again_ends_nothing(tmp_path: Path):
    """Three bak_ keys an agent may have (gateway.md 46): the oldest of ours goes, one that the user made stays."""
    world, folder = await open_world(), DataFolder(tmp_path)
    await world.keys.ensure_first_owner()
    await demo_keys(folder, world.agents, world.keys)
    _, users = await world.keys.create("bak", FIRST_OWNER, DEMO_AGENT_ID, "mine")

    for _ in range(4):
        (tmp_path / "demo.key").unlink()
        made = await demo_keys(folder, world.agents, world.keys)
        assert world.keys.find(made.bak.encode()) is not None

    assert world.keys.find(users.encode()) is not None


async def test_keys_do_not_show(tmp_path: Path):
    world = await open_world()
    await world.keys.ensure_first_owner()
    made = await demo_keys(DataFolder(tmp_path), world.agents, world.keys)

    assert made.bak not in repr(made)
    assert made.agent_key not in repr(made)
