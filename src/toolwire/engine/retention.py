"""Removes what has expired; it does not decide how long anything is kept."""

import logging

import anyio

from toolwire.core.errors import StoreUnavailable
from toolwire.core.ports import Store

logger = logging.getLogger("toolwire.engine")

SWEEP_EVERY_S = 300.0
"""Readers never see expired records, so sweeping only frees room and need not be punctual."""


async def sweep_for_ever(store: Store) -> None:
    """Sweep now and then until cancelled; a store that fails is left alone until the next time."""
    while True:
        await anyio.sleep(SWEEP_EVERY_S)
        try:
            await store.sweep()
        except StoreUnavailable as error:
            logger.warning("cannot sweep expired records: %s", error.message)
