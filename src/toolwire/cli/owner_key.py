"""Keeps the first owner's key in the data folder, so that the other commands can ask; it makes no owner."""

from toolwire.cli.data_folder import DataFolder, write_private
from toolwire.cli.output import say
from toolwire.gateway.keys import FIRST_OWNER, Keys


async def keep_owner_key(folder: DataFolder, keys: Keys, fresh: str | None) -> str:
    """The first owner's key, which is then also in the folder.

    Args:
        folder: whoever may read it has the store as well, so a key that was lost is made anew.
        keys: the gateway's keys.
        fresh: the key, if the owner has been made just now.

    Raises:
        OSError: the file cannot be written.
        StoreUnavailable: the store cannot be written.
    """
    kept = folder.owner_key()
    if fresh is None and kept is not None and _opens(keys, kept):
        return kept
    if fresh is None:
        say(f"the owner's key in {folder.owner_key_file} is {'not valid' if kept else 'gone'}; made another one")
        _, fresh = await keys.create("oag", FIRST_OWNER, name=folder.owner_key_file.name)
    write_private(folder.owner_key_file, fresh.encode() + b"\n")
    return fresh


def _opens(keys: Keys, secret: str) -> bool:
    record = keys.find(secret.encode())
    return record is not None and record.kind == "oag" and record.owner == FIRST_OWNER
