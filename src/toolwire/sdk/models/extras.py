"""Where the official clients come from: loaded when a provider is constructed, and missed in one line."""

import importlib
import os
from collections.abc import Iterable
from types import ModuleType
from typing import Any

from toolwire.sdk.models.failure import Place, host_of


def load(name: str, provider: str) -> ModuleType:
    """The module of an official client.

    Raises:
        ImportError: it is not installed; the message is the command that installs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        message = f"{provider} needs the official client: pip install 'toolwire[{name}]'"
        raise ModuleNotFoundError(message, name=name) from None


def key_for(api_key: str | None, base_url: str | None, variable: str) -> str | None:
    """The key to give to a client, or `None` to let it look for one itself.

    The key in the environment is for the provider's own servers and those that the environment names; one that the
    code names gets only the key that the code names too. A server that needs none gets a word in its place, since the
    clients insist on something.
    """
    if api_key is not None:
        return api_key
    return None if base_url is None else f"no-{variable.lower().replace('_', '-')}"


def needs_key(provider: str, variable: str) -> ValueError:
    """What to raise when there is no key at all."""
    return ValueError(f"{provider} has no API key: set {variable} or pass api_key=…")


def place_of(provider: str, own_host: str, base_url: str | None, client: Any, secrets: Iterable[str | None]) -> Place:
    """Who is asked, for messages: the provider, and the host where it is not its own; and what they must not show."""
    host = host_of(str(base_url or getattr(client, "base_url", "") or ""))
    key = getattr(client, "api_key", None)
    hidden = [secret for secret in (*secrets, key) if isinstance(secret, str) and secret]
    return Place(provider if host in ("", own_host) else f"{provider} at {host}", tuple(hidden))


def from_environment(*variables: str) -> list[str | None]:
    """What these environment variables hold."""
    return [os.environ.get(name) for name in variables]
