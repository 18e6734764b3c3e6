"""`toolwire remote …` and `toolwire consent …` against a gateway on a socket (docs/how-to/remote-servers.md)."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.unit.gateway.remote_site import RemoteSite, open_remote_site
from tests.unit.providers.remote_rig import serving
from tests.unit.providers.spoken import tool as listed
from toolwire.cli.main import execute


async def told(capsys: pytest.CaptureFixture[str], site: RemoteSite, url: str, *words: str) -> tuple[int, str, str]:
    """What a command ends with, prints, and says on stderr."""
    run = partial(execute, [*words, "--url", url, "--key", site.key])
    code = await anyio.to_thread.run_sync(run)
    said = capsys.readouterr()
    return code, said.out, said.err


async def data(capsys: pytest.CaptureFixture[str], site: RemoteSite, url: str, *words: str) -> Any:
    code, printed, said = await told(capsys, site, url, *words, "--json")
    assert code == 0, printed + said
    return json.loads(printed)


@pytest.mark.anyio
async def test_a_server_is_added_its_change_shown_and_accepted_and_the_server_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    async with open_remote_site(tmp_path) as site, serving(site.gateway.app) as url:
        header = "Authorization: Bearer s3cret"
        made = await data(capsys, site, url, "remote", "add", "notes", site.url, "--header", header)
        (shown,) = (await data(capsys, site, url, "remote", "list"))["remotes"]
        assert (shown["alias"], shown["tools"], shown["held"]) == ("notes", ["search", "store"], 0)
        assert "s3cret" not in json.dumps([made, shown])

        await site.change(made, listed("search", description="Other."), listed("store"))
        (consent,) = (await data(capsys, site, url, "consent", "list"))["consents"]
        code, diff, _ = await told(capsys, site, url, "consent", "show", consent["consent_id"])
        assert (code, diff.splitlines()[0]) == (0, "notes: search (changed, waiting)")
        assert '+  "description": "Other.",' in diff

        refused = await data(capsys, site, url, "consent", "refuse", consent["consent_id"])
        accepted = await data(capsys, site, url, "consent", "accept", consent["consent_id"])
        assert (refused["accepted"], accepted["accepted"]) == (False, True)
        assert (await told(capsys, site, url, "consent", "list"))[2] == "nothing is held\n"
        again, _, said = await told(capsys, site, url, "consent", "accept", consent["consent_id"])
        assert (again, "consents" in said) == (3, True)

        assert (await told(capsys, site, url, "remote", "remove", "notes"))[0] == 0
        assert (await data(capsys, site, url, "remote", "list"))["remotes"] == []


@pytest.mark.anyio
async def test_a_command_has_variables_and_a_url_has_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    async with open_remote_site(tmp_path) as site, serving(site.gateway.app) as url:
        header, env = ("--header", "A: b"), ("--env", "A=b")
        assert (await told(capsys, site, url, "remote", "add", "a", "some command", *header))[0] == 2
        code, _, said = await told(capsys, site, url, "remote", "add", "a", site.url, *env)
        assert (code, "--env is for a server that a command starts" in said) == (2, True)
