"""A command signs in at a server that wants a token: what it prints, keeps and sends (docs/reference/cli.md)."""

import json
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.unit.providers.guarded import come_back, guarded
from toolwire.cli.failure import Failed
from toolwire.cli.sign_in import SignInFlags, auth_of_flags
from toolwire.providers.remote_auth import Credentials, SignIn


async def command(folder: Path, *words: str, browse: bool = False, **env: str) -> tuple[int, str, str]:
    """Run `toolwire` in a folder; a person follows the link that it prints, if `browse`."""
    argv = [sys.executable, "-m", "toolwire.cli.main", *words]
    said = ""
    async with await anyio.open_process(argv, cwd=folder, env={"PATH": "", **env}, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        with anyio.fail_after(30):
            async for chunk in process.stderr:
                said += chunk.decode()
                if browse and (link := next((line for line in said.splitlines() if "/authorize?" in line), "")):
                    await come_back(link)
                    browse = False
            printed = b"".join([chunk async for chunk in process.stdout]).decode()
            return await process.wait(), printed, said


@pytest.mark.anyio
async def test_a_link_is_printed_and_the_next_command_needs_none(tmp_path: Path):
    async with guarded() as server:
        code, printed, said = await command(tmp_path, "tools", "list", f"{server.url}/mcp", "--json", browse=True)
        again = await command(tmp_path, "call", f"{server.url}/mcp", "echo", "--args", '{"text": "hi"}')

    assert (code, json.loads(printed)["tools"][0]["name"]) == (0, "echo")
    assert said.startswith("sign in here, within 5 minutes:\nhttp://127.0.0.1:")
    assert again == (0, "hi\n", "")
    assert server.grants == ["authorization_code"]
    assert "secret-9" not in printed + said
    (kept,) = (tmp_path / ".toolwire" / "oauth").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / ".toolwire" / ".gitignore").read_text() == "*\n"


@pytest.mark.anyio
async def test_a_machine_signs_in_with_its_secret(tmp_path: Path):
    async with guarded() as server:
        words = ("tools", "list", f"{server.url}/mcp", "--headless", "--client-id", "me", "--json")
        code, _, said = await command(tmp_path, *words, TOOLWIRE_CLIENT_SECRET="secret-8")
    assert (code, said, server.grants) == (0, "", ["client_credentials"])


@pytest.mark.anyio
@pytest.mark.parametrize("words", [("--no-auth",), ("--header", "Authorization: Bearer wrong")])
async def test_nobody_is_asked_where_that_was_said_or_something_else_was_given(tmp_path: Path, words: tuple[str, ...]):
    async with guarded() as server:
        code, printed, said = await command(tmp_path, "tools", "list", f"{server.url}/mcp", *words)
    assert (code, printed) == (3, "")
    assert "HTTP 401" in said
    assert server.grants == []


def test_the_flags_say_who_signs_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert auth_of_flags(SignInFlags(auth=False)) is None
    assert isinstance(auth_of_flags(SignInFlags()), SignIn)
    for wrong in (
        SignInFlags(headless=True),
        SignInFlags(headless=True, client_id="me"),
        SignInFlags(client_id="me", client_key=tmp_path / "none.pem"),
    ):
        with pytest.raises(Failed):
            auth_of_flags(wrong)
    monkeypatch.setenv("TOOLWIRE_CLIENT_SECRET", "secret-9")
    monkeypatch.setenv("TOOLWIRE_CLIENT_ID", "me")
    said = auth_of_flags(SignInFlags(headless=True, issuer="https://auth.test", scope="files"))
    assert said == Credentials(client_id="me", client_secret="secret-9", issuer="https://auth.test", scope="files")
    (tmp_path / "key.pem").write_text("key")
    said = auth_of_flags(SignInFlags(client_key=tmp_path / "key.pem"))
    assert said == Credentials(client_id="me", private_key="key")
