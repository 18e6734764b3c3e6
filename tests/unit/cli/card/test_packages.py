"""`card add`, `list` and `remove`: what a person is shown and asked, and what the host is told then."""

from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from toolwire.cli.card import packages
from toolwire.cli.card.offers import offer_text
from toolwire.cli.failure import Failed
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target

TOOL = {
    "name": "run_tests",
    "exposed_name": "test_radar_run_tests",
    "description": '[Custom card "Test radar" by Ada, community code] Runs the tests.',
    "input_schema": {"type": "object", "properties": {"filter": {"type": "string"}, "all": {}}, "required": ["all"]},
}
OFFER: dict[str, Any] = {
    "package": "pkg_1",
    "name": "test-radar",
    "display_name": "Test radar",
    "author": "Ada",
    "source": "dir:/cards/radar",
    "version": "2.0.0",
    "accepted_version": "1.0.0",
    "digest": "abc",
    "status": "consent_required",
    "tools": [TOOL],
    "permissions": [
        {"id": "network", "hosts": ["api.example.com"], "reason": "to ask", "optional": True, "risk": "medium"},
        {"id": "terminals.write", "hosts": [], "reason": "", "optional": False, "risk": "high"},
    ],
    "reach": ["run commands in connected terminals"],
    "diff": [{"change": "tool_changed", "name": "run_tests", "text": "-old words\n+new words", "asks": True}],
    "warnings": [{"path": "/author", "code": "c", "message": "m"}],
}
INSTALLED: dict[str, Any] = {**OFFER, "status": "installed", "diff": []}


class Asked:
    """A host with one package, and what it was asked."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []

    def rest(self) -> Rest:
        return Rest(Target("http://127.0.0.1:8094", "oag_1"), httpx2.MockTransport(self._answer))

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        body = msgspec.json.decode(request.content) if request.content else None
        path = request.url.raw_path.decode().removeprefix("/api/v1/card-packages")
        self.requests.append((request.method, path, body))
        data: Any = {"packages": [OFFER]} if (request.method, path) == ("GET", "") else INSTALLED
        return httpx2.Response(200, json={"success": True, "data": data})


def test_a_person_reads_what_agents_will_read_what_it_may_do_and_what_changed():
    """cards.md 18, 25-27, decision 19."""
    text = offer_text(OFFER)

    for line in (
        "Test radar (test-radar 2.0.0) by Ada, community code",
        "version 1.0.0 is installed and goes on until you accept this one",
        "  test_radar_run_tests([filter], all)",
        '      [Custom card "Test radar" by Ada, community code] Runs the tests.',
        "  network to api.example.com (medium risk, when needed): to ask",
        "  terminals.write (high risk)",
        "  run commands in connected terminals",
        "tool changed: run_tests",
        "  -old words",
        "  +new words",
    ):
        assert line in text.split("\n")


def test_a_packages_words_do_not_move_the_cursor():
    text = offer_text({**OFFER, "display_name": "Radar\x1b[2J\u202e", "tools": [], "permissions": [], "reach": []})
    assert "\x1b" not in text
    assert "Radar\\x1b[2J\\u202e (test-radar 2.0.0)" in text


def test_yes_accepts_what_was_shown():
    asked = Asked()
    with asked.rest() as rest:
        installed = packages.consented(rest, OFFER, yes=True)

    assert asked.requests == [("POST", "/pkg_1/consent", {"digest": "abc", "accept": True}), ("GET", "/pkg_1", None)]
    assert installed["status"] == "installed"


def test_without_a_terminal_and_without_yes_nothing_is_answered(capsys: pytest.CaptureFixture[str]):
    asked = Asked()
    with asked.rest() as rest, pytest.raises(Failed, match="add --yes to accept it") as caught:
        packages.consented(rest, OFFER, yes=False)

    assert (caught.value.code, asked.requests) == ("consent_required", [])
    assert "test_radar_run_tests" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("answer", "accept"), [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_a_person_at_a_terminal_is_asked_and_only_yes_is_a_yes(
    answer: str, accept: bool, monkeypatch: pytest.MonkeyPatch
):
    class Terminal:
        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return answer

        def write(self, text: str) -> None: ...

        def flush(self) -> None: ...

    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stderr", Terminal())
    asked = Asked()
    with asked.rest() as rest:
        if accept:
            packages.consented(rest, OFFER, yes=False)
        else:
            with pytest.raises(Failed, match=r"was not accepted; version 1\.0\.0 goes on"):
                packages.consented(rest, OFFER, yes=False)
    assert asked.requests[0] == ("POST", "/pkg_1/consent", {"digest": "abc", "accept": accept})


def test_what_needs_no_consent_is_not_asked_about():
    asked = Asked()
    with asked.rest() as rest:
        assert packages.consented(rest, INSTALLED, yes=False) == INSTALLED
    assert asked.requests == []


def test_a_path_is_sent_in_full_and_everything_else_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "radar").mkdir()

    assert packages.source_for("radar") == str(tmp_path / "radar")
    assert packages.source_for(".") == str(tmp_path)
    assert packages.source_for("./gone") == str(tmp_path / "gone")
    for source in ("ada/radar", "ada/cards/radar@v1", "https://example.com/cards.git#radar@v1"):
        assert packages.source_for(source) == source


def test_a_package_is_found_by_its_name_if_only_one_has_it():
    with Asked().rest() as rest:
        assert packages.find(rest, "test-radar") == "pkg_1"
        assert packages.find(rest, "pkg_2") == "pkg_2"
        with pytest.raises(Failed, match="there is no package 'other'"):
            packages.find(rest, "other")


def test_what_is_wrong_with_a_package_is_told_line_by_line(capsys: pytest.CaptureFixture[str]):
    error = {"code": "invalid_param", "message": "the manifest cannot be used", "details": {
        "errors": [{"path": "/name", "code": "reserved_name", "message": "choose another"}]}}  # fmt: skip
    refusing = httpx2.MockTransport(lambda _: httpx2.Response(400, json={"success": False, "error": error}))

    with Rest(Target("http://h", "k"), refusing) as rest, pytest.raises(Failed, match="cannot be used"):
        packages.offered(rest, "ada/radar")
    assert capsys.readouterr().err == "error /name [reserved_name]: choose another\n"
