"""`toolwire audit export` and `verify`: who called what, as the gateway has written it down; it writes nothing down."""

import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import msgspec
from cyclopts import Parameter

from toolwire.cli.failure import DONE, Failed, misused
from toolwire.cli.output import print_json, print_text
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.rest import Rest
from toolwire.cli.target import target_of
from toolwire.gateway.audit import FIRST, first_break
from toolwire.wire.answers.records import AuditEntry

HERE = HostFlags()
PAGE = 1000


def export(
    *,
    after: Annotated[int, Parameter(help="Only entries after this number (default: all).")] = 0,
    host: HostFlags = HERE,
) -> int:
    """Print your audit chain: one entry a line, as JSON, the oldest first."""
    if after < 0:
        raise misused("--after takes the number of an entry, or 0")
    with Rest(target_of(host)) as rest:
        while lines := rest.lines("/api/v1/audit?" + urlencode({"after": after, "limit": PAGE})):
            sys.stdout.write("\n".join(lines) + "\n")
            after = msgspec.json.decode(lines[-1], type=AuditEntry).seq
    return DONE


def anchor(*, json: JsonFlag = False, host: HostFlags = HERE) -> int:
    """Print where your audit chain begins: the hash of the last entry that is not kept any more, for `verify --after`.

    With `--json`: `{"seq", "hash"}`; 0 and zeros while all entries are kept.
    """
    with Rest(target_of(host)) as rest:
        told = rest.ask("GET", "/api/v1/audit/anchor")
    if json:
        print_json(told)
    else:
        print_text(str(told["hash"]))
    return DONE


def verify(
    file: Annotated[Path | None, Parameter(help="What `audit export` has printed (default: standard input).")] = None,
    /,
    *,
    after: Annotated[
        str | None, Parameter(help="Hash of the entry before the first one; of an anchor, or of what you have kept.")
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Check that an exported chain holds: nothing was changed, left out or put in between. Ends with 1 if not.

    It begins with the first entry of all, or follows the one with the hash `--after`; without that, the one that it
    begins with is trusted. With `--json`: `{"entries", "holds"}`, and where it does not, `"broken_at"`.
    """
    entries = [_entry(number, line) for number, line in enumerate(_lines(file), 1)]
    previous, seq = (FIRST, 0) if not entries or entries[0].seq == 1 else (entries[0].previous, entries[0].seq - 1)
    previous = previous if after is None else after.strip().lower()
    broken_at = first_break(entries, previous, seq)
    told = {"entries": len(entries), "holds": broken_at is None}
    if json:
        print_json(told if broken_at is None else {**told, "broken_at": broken_at})
    elif broken_at is None:
        print_text(f"the chain of {len(entries)} entries holds")
    else:
        print_text(f"the chain breaks at entry {broken_at}: it was changed, or one before it is missing")
    return DONE if broken_at is None else 1


def _lines(file: Path | None) -> list[str]:
    try:
        text = sys.stdin.read() if file is None else file.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Failed(f"cannot read {str(file)!r}: {error}", "usage") from None
    return [line for line in text.splitlines() if line.strip()]


def _entry(number: int, line: str) -> AuditEntry:
    try:
        return msgspec.json.decode(line, type=AuditEntry)
    except msgspec.DecodeError as error:
        raise Failed(f"line {number} is no entry of an audit chain: {error}", "usage") from None
