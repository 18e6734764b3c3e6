"""Removes what has expired; it does not decide how long anything is kept."""

import logging

import anyio

from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Ack, Blobs, Store
from toolwire.engine.offload import EXPIRING_BLOBS

logger = logging.getLogger("toolwire.engine")

SWEEP_EVERY_S = 300.0
"""Readers never see expired records, so sweeping only frees room and need not be punctual."""
BLOBS_AT_ONCE = 100
LEASE_S = 60.0


async def sweep_for_ever(store: Store, blobs: Blobs) -> None:
    """Sweep now and then until cancelled; a store that fails is left alone until the next time."""
    while True:
        await anyio.sleep(SWEEP_EVERY_S)
        try:
            await sweep(store, blobs)
        except StoreUnavailable as error:
            logger.warning("cannot sweep expired records: %s", error.message)


async def sweep(store: Store, blobs: Blobs) -> None:
    """Remove expired records, and the blobs that lay beside them.

    Raises:
        StoreUnavailable: the store or the blobs cannot be written; what is left goes the next time.
    """
    await store.sweep()
    while expired := await store.claim(EXPIRING_BLOBS, "retention", BLOBS_AT_ONCE, LEASE_S):
        for entry in expired:
            await blobs.delete(entry.id)
        await store.tx([Ack(EXPIRING_BLOBS, entry.id) for entry in expired])
