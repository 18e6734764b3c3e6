"""docs/reference/card-link.md: all that a card and its host may say, and nothing else."""

from typing import get_args

import msgspec
from msgspec import Struct

from tests.docs.pages import read, rows, section
from toolwire.canvas.card_connections import FINISH_S, GONE, MAX_BACKLOG_BYTES
from toolwire.canvas.card_link import FAILED, MAX_IN_FLIGHT, PATH, READY_S
from toolwire.canvas.card_pace import BURST, RATE
from toolwire.canvas.card_storage import MAX_BYTES, MAX_KEYS, MAX_VALUE_BYTES
from toolwire.card.card import TOKEN_VARIABLE
from toolwire.surfaces.web_sockets import POLICY
from toolwire.wire.card import REPLACED
from toolwire.wire.card_messages import (
    EVENTS,
    FAULT_CODES,
    LEAST_COMMAND_MS,
    MAX_ERROR_CHARS,
    MAX_MESSAGE_BYTES,
    MAX_PARTS,
    MAX_PROGRESS_CHARS,
    MAX_RESULT_BYTES,
    MOST_COMMAND_MS,
    PARAMS,
    RESULTS,
    CancelCode,
)

PAGE = read("docs/reference/card-link.md")


def table(heading: str) -> dict[str, list[str]]:
    return {row[0].strip("`"): row[1:] for row in rows(section(PAGE, heading))}


def fields(type_: type[Struct]) -> str:
    """The fields of a message as the page shows them; those that may be left out have a question mark."""
    named = (f"`{field.encode_name}{'' if field.required else '?'}`" for field in msgspec.structs.fields(type_))
    return ", ".join(named) or "–"


def test_every_method_has_a_row_with_its_fields() -> None:
    shown = {method: row[:2] for method, row in table("What a card asks").items()}
    assert shown == {method: [fields(PARAMS[method]), fields(RESULTS[method])] for method in PARAMS}


def test_every_event_has_a_row_with_its_fields() -> None:
    shown = {event: row[0] for event, row in table("What the host tells").items()}
    assert shown == {event: fields(EVENTS[event]) for event in EVENTS}
    for code in get_args(CancelCode):
        assert f"`{code}`" in PAGE


def test_every_code_is_told() -> None:
    assert set(table("Errors")) == set(FAULT_CODES)
    assert set(table("How it ends")) == {str(code) for code in (GONE, POLICY, FAILED, REPLACED)}


def test_the_numbers_are_those_of_the_code() -> None:
    mib = 2**20
    for words in (
        f"`WS {PATH}`",
        f"`{TOKEN_VARIABLE}`",
        f"{MAX_MESSAGE_BYTES // mib} MiB at most",
        f"within {READY_S:g} s",
        f"1 to {MAX_PARTS} parts",
        f"{MAX_RESULT_BYTES // mib} MiB at most; an error has {MAX_ERROR_CHARS:,} characters",
        f"line of {MAX_PROGRESS_CHARS} characters",
        f"{LEAST_COMMAND_MS:,} to {MOST_COMMAND_MS:,} ms",
        f"Values have {MAX_VALUE_BYTES // mib} MiB, a copy {MAX_BYTES['instance'] // mib} MiB, a package",
        f"{MAX_BYTES['package'] // mib} MiB, and {MAX_KEYS:,} keys",
        f"{MAX_IN_FLIGHT} requests worked on at once",
        f"{BURST:g} times at once and {RATE:g} times a second",
        f"once {MAX_BACKLOG_BYTES // mib} MiB wait",
        f"or after {FINISH_S:g} seconds",
    ):
        assert words in PAGE.replace("\n", " "), words
