"""What a person sees of the commands that programs use with `--json`."""

import pytest

from tests.e2e.running import Host
from toolwire.cli.main import execute

pytestmark = pytest.mark.e2e


def test_a_new_agents_id_and_key_are_shown_with_what_to_do_next(host: Host, capsys: pytest.CaptureFixture[str]):
    assert execute(["agent", "create", "shown", "--data", host.ready.data]) == 0

    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["agent_id", "agent_key"]
    assert "keep the key: it is not shown again" in err


def test_a_new_key_is_shown_once_and_a_revoked_one_named(host: Host, capsys: pytest.CaptureFixture[str]):
    assert execute(["key", "create", "--owner", "--name", "spare", "--data", host.ready.data]) == 0
    out, _ = capsys.readouterr()
    key_id, key = (line.split()[1] for line in out.splitlines())

    assert execute(["key", "list", "--data", host.ready.data]) == 0
    listed, _ = capsys.readouterr()
    assert f"{key_id}\t{key[:12]}…\t\tspare\tactive\t" in listed

    assert execute(["key", "revoke", key_id, "--data", host.ready.data]) == 0
    assert capsys.readouterr() == ("", f"{key_id} opens nothing any more\n")


def test_a_new_owner_is_shown_with_its_key(host: Host, capsys: pytest.CaptureFixture[str]):
    assert execute(["owner", "create", "Grace", "--data", host.ready.data]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["owner_id", "owner_key"]


def test_tools_and_a_call_are_shown(host: Host, capsys: pytest.CaptureFixture[str]):
    assert execute(["tools", "list", "demo", "--data", host.ready.data]) == 0
    assert "screenshot\t\tTake a screenshot" in capsys.readouterr().out

    assert execute(["call", "demo", "screenshot", "--data", host.ready.data]) == 0
    out, err = capsys.readouterr()
    assert (out, err.startswith("[image/png, ")) == ("", True)
