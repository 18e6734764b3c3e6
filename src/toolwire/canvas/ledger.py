"""Which package's tool has which name before agents, for as long as anybody may remember it; pure functions of rows.

A name is given once and never changes while its package is installed. When the package is gone the name is kept for it
for 30 days, so that an agent's notes and allow-lists mean the same thing when it comes back. Whoever has a name keeps
it; later ones get `_2`, `_3` and so on (cards.md 19, 20, decisions 8-10).
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from toolwire.card.names import natural_name, numbered_name, why_refused

TOMBSTONE_S = 30 * 24 * 3600.0


class NameRow(Struct, frozen=True, omit_defaults=True):
    """One name. `source` is where the package comes from; with `freed_at` (Unix seconds) the tool is gone."""

    exposed: str
    source: str
    tool: str
    freed_at: float | None = None


Ledger = tuple[NameRow, ...]


def assigned(ledger: Ledger, source: str, card_name: str, tools: Sequence[str], now: float) -> Ledger:
    """The ledger once a package offers exactly these tools: names it had before it has again, new ones are given.

    Args:
        ledger: as it is.
        source: where the package comes from.
        card_name: the manifest's name.
        tools: the manifest's tools, in their order.
        now: Unix seconds.
    """
    kept = [row for row in released(ledger, source, set(tools), now) if not _is_forgotten(row, now)]
    mine = {row.tool: index for index, row in enumerate(kept) if row.source == source}
    taken = {row.exposed for row in kept}
    for tool in tools:
        if tool in mine:
            kept[mine[tool]] = replace(kept[mine[tool]], freed_at=None)
            continue
        exposed = _free_name(natural_name(card_name, tool), taken)
        taken.add(exposed)
        kept.append(NameRow(exposed, source, tool))
    return tuple(kept)


def released(ledger: Ledger, source: str, still_there: Iterable[str], now: float) -> Ledger:
    """The ledger once a package offers nothing but `still_there`: the other names are kept for it for a while."""
    there = set(still_there)
    return tuple(
        replace(row, freed_at=now) if row.source == source and row.tool not in there and row.freed_at is None else row
        for row in ledger
    )


def names_of(ledger: Ledger, source: str) -> Mapping[str, str]:
    """The exposed name of each tool that a package offers."""
    return {row.tool: row.exposed for row in ledger if row.source == source and row.freed_at is None}


def _is_forgotten(row: NameRow, now: float) -> bool:
    return row.freed_at is not None and row.freed_at + TOMBSTONE_S <= now


def _free_name(natural: str, taken: set[str]) -> str:
    if natural not in taken:
        return natural
    number = 2
    while (name := numbered_name(natural, number)) in taken or why_refused(name) is not None:
        number += 1
    return name
