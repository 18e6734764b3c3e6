"""What commands print, on a terminal and into a pipe."""

import io
import sys

import pytest

from toolwire.cli.failure import Failed
from toolwire.cli.output import print_failure, print_json, print_table


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_table_whose_cells_are_taken_as_they_are(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)

    print_table(("ID", "NAME"), [("1", "[bold]a[/bold]")], "none")

    heading, row = terminal.getvalue().splitlines()
    assert "ID" in heading
    assert "[bold]a[/bold]" in row


def test_a_pipe_gets_tabs_and_an_empty_table_a_sentence_on_stderr(capsys: pytest.CaptureFixture[str]):
    print_table(("ID", "NAME"), [("1", "a")], "none")
    print_table(("ID", "NAME"), [], "none")

    assert capsys.readouterr() == ("ID\tNAME\n1\ta\n", "none\n")


def test_json_is_one_line_whatever_is_in_it(capsys: pytest.CaptureFixture[str]):
    print_json({"a": "b\nc", "ä": 1})
    assert capsys.readouterr().out == '{"a":"b\\nc","ä":1}\n'


def test_a_failure_has_its_details_in_json_alone(capsys: pytest.CaptureFixture[str]):
    print_failure(Failed("no\nno", "x", data={"n": 1}), as_json=True)

    assert capsys.readouterr() == (
        '{"error":{"code":"x","message":"no\\nno","data":{"n":1}}}\n',
        "toolwire: no\ntoolwire: no\n",
    )
