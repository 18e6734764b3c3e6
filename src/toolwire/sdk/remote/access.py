"""How an agent signs in at a remote MCP server, by itself or with tokens that are kept; it asks for none itself."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from toolwire.config import load
from toolwire.providers.remote_auth import Assertion, Auth, Credentials, Enterprise, SignIn
from toolwire.providers.remote_oauth_store import FOLDER, FileTokens

if TYPE_CHECKING:
    from toolwire.providers.remote_oauth import OAuth

WAYS = (SignIn, Credentials, Assertion, Enterprise)
"""How an agent may sign in."""


def signing(url: str, auth: Auth, principal: str = "", token_folder: str | None = None) -> "OAuth":
    """What signs the requests to the MCP server at `url`. It needs the extra `mcp`.

    Args:
        url: the server's endpoint.
        auth: who signs in, and how.
        principal: whose tokens to take.
        token_folder: where they are kept; by default where `toolwire tools list URL` keeps them.

    Raises:
        ConfigError: the configuration, which names the data folder, cannot be used.
        SignInFailed: `auth` cannot be meant so.
    """
    from toolwire.providers.remote_sign_in import auth_of  # noqa: PLC0415 -- an optional extra

    folder = Path(token_folder) if token_folder is not None else _default_folder()
    return auth_of(url, auth, FileTokens(folder, url, principal=principal))


def _default_folder() -> Path:
    return Path(load(environ=os.environ).config.data) / FOLDER
