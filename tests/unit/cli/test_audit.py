"""`toolwire audit verify`: what it says of chains that begin where they should, and of others."""

import json
from pathlib import Path

import msgspec
import pytest

from tests.unit.gateway.test_audit import ENTRY, LAST, NEXT
from toolwire.cli.audit import verify
from toolwire.gateway.audit import FIRST
from toolwire.wire.answers.records import AuditEntry


@pytest.mark.parametrize(
    ("entries", "after", "code"),
    [
        ([ENTRY, NEXT, LAST], None, 0),
        ([ENTRY, NEXT, LAST], FIRST, 0),
        ([NEXT, LAST], None, 0),
        ([NEXT, LAST], ENTRY.hash, 0),
        ([NEXT, LAST], f"{ENTRY.hash.upper()}\n", 0),
        ([NEXT, LAST], NEXT.hash, 1),
        ([LAST], ENTRY.hash, 1),
        ([ENTRY, LAST], None, 1),
        ([], ENTRY.hash, 0),
    ],
)
def test_a_chain_follows_the_entry_that_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], entries: list[AuditEntry], after: str | None, code: int
):
    file = tmp_path / "chain"
    file.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    assert verify(file, after=after, json=True) == code
    told = json.loads(capsys.readouterr().out)
    assert (told["entries"], told["holds"]) == (len(entries), code == 0)
    assert ("broken_at" in told) == (code != 0)
