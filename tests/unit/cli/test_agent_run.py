"""Which agent of a module is run, and by which key it attaches."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx2
import pytest

from toolwire.agent import Agent
from toolwire.cli.agent_run import agent_of, kept_key, key_file
from toolwire.cli.data_folder import DataFolder, write_private
from toolwire.cli.failure import Failed
from toolwire.cli.parameters import HostFlags
from toolwire.cli.rest import Rest
from toolwire.cli.target import Target

URL = "http://127.0.0.1:8094"


def module(**names: Any) -> ModuleType:
    made = ModuleType("mine")
    vars(made).update(names)
    return made


def test_the_only_agent_of_a_module_needs_no_name():
    agent = Agent("a")
    assert agent_of(module(x=agent, y=agent, z=1), None) is agent
    assert agent_of(module(x=agent, other=Agent("b")), "x") is agent


@pytest.mark.parametrize(
    ("names", "name", "problem"),
    [
        ({}, None, "'mine' has no Agent; give MODULE:NAME"),
        ({"x": Agent("a"), "y": Agent("b")}, None, "'mine' has x, y: name one; give MODULE:NAME"),
        ({"x": 1}, "x", "'x' of 'mine' is no Agent but of type int"),
    ],
)
def test_it_must_be_clear_which_agent_is_meant(names: dict[str, Any], name: str | None, problem: str):
    with pytest.raises(Failed, match=problem):
        agent_of(module(**names), name)


@pytest.fixture
def flags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HostFlags:
    monkeypatch.chdir(tmp_path)
    write_private(tmp_path / "owner.key", b"oag_owner\n")
    return HostFlags(data=tmp_path)


def host_that(
    answer: Callable[[str, str, str, Any], tuple[int, dict[str, Any]]],
) -> tuple[Callable[[Target], Rest], list[str]]:
    """A host that answers by key, method, path and body; and what it was asked."""
    asked: list[str] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        key = request.headers["authorization"].removeprefix("Bearer ")
        asked.append(f"{key} {request.method} {request.url.path}")
        body = json.loads(request.content) if request.content else None
        status, data = answer(key, request.method, request.url.path, body)
        if status < 400:
            return httpx2.Response(status, json={"success": True, "data": data})
        return httpx2.Response(status, json={"success": False, "error": {"message": "no", **data}})

    return (lambda target: Rest(target, httpx2.MockTransport(handle))), asked


def test_an_agent_is_registered_by_its_name_once_and_its_key_is_kept(tmp_path: Path, flags: HostFlags):
    def answer(key: str, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if method == "POST":
            assert (key, path, body) == ("oag_owner", "/api/v1/agents", {"name": "hello there"})
            return 201, {"agent_id": "agent_1", "agent_key": "agk_1"}
        return 200, {"agent_id": "agent_1"}

    connect, asked = host_that(answer)

    assert kept_key("hello there", URL, flags, connect) == "agk_1"
    assert kept_key("hello there", URL, flags, connect) == "agk_1"
    assert asked == ["oag_owner POST /api/v1/agents", "agk_1 GET /api/v1/agents/hello there"]
    path = tmp_path / "agents" / "hello there.key"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("agk_1\n", 0o600)


def test_a_key_that_counts_no_more_is_replaced(tmp_path: Path, flags: HostFlags):
    write_private(key_file(DataFolder(tmp_path), "hello"), b"agk_old\n")

    def answer(key: str, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        if key == "agk_old":
            return 401, {"code": "unauthorized"}
        if path == "/api/v1/agents":
            return 409, {"code": "conflict"}
        assert (path, body["kind"], body["agent_id"]) == ("/api/v1/keys", "agk", "hello")
        return 201, {"key_id": "key_1", "key": "agk_new"}

    connect, _ = host_that(answer)

    assert kept_key("hello", URL, flags, connect) == "agk_new"
    assert key_file(DataFolder(tmp_path), "hello").read_text() == "agk_new\n"


def test_a_host_that_cannot_tell_now_replaces_no_key(tmp_path: Path, flags: HostFlags):
    write_private(key_file(DataFolder(tmp_path), "hello"), b"agk_old\n")

    def answer(key: str, method: str, path: str, body: Any) -> tuple[int, dict[str, Any]]:
        return 503, {"code": "agent_service_unavailable"}

    connect, asked = host_that(answer)

    with pytest.raises(Failed):
        kept_key("hello", URL, flags, connect)
    assert asked == ["agk_old GET /api/v1/agents/hello"]


def test_without_an_owners_key_it_is_said_which_key_is_needed(tmp_path: Path, flags: HostFlags):
    (tmp_path / "owner.key").unlink()

    with pytest.raises(Failed, match=r"agent 'hello' needs its key: pass --key, or set TOOLWIRE_AGENT_KEY"):
        kept_key("hello", URL, flags)


def test_a_name_is_no_path():
    assert key_file(DataFolder(Path("d")), "../x").name == "..%2Fx.key"
