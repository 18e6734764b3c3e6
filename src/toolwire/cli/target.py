"""Finds the running host that a command is meant for, and the key to ask it with; it asks nothing itself."""

import os
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from toolwire import config
from toolwire.cli.data_folder import DataFolder
from toolwire.cli.environment import variable
from toolwire.cli.failure import Failed, misused
from toolwire.cli.parameters import HostFlags

URL_VARIABLE: Final = "TOOLWIRE_URL"
KEY_VARIABLE: Final = "TOOLWIRE_KEY"


class Target(Struct, frozen=True):
    """A host and the key for it; `url` has no path."""

    url: str
    key: str

    def __repr__(self) -> str:
        return f"Target({self.url!r}, {self.key[:12]!r}…)"


def data_folder(given: Path | None) -> DataFolder:
    """The folder that a flag, the variable `TOOLWIRE_DATA` or the configuration file names.

    Raises:
        ConfigError: the configuration cannot be used.
    """
    if given is not None:
        return DataFolder(given)
    return DataFolder(Path(config.load(environ=os.environ).config.data))


def host_url(flags: HostFlags) -> str:
    """Where the host is.

    Raises:
        Failed: nothing says where, or what says so is no address.
        ConfigError: the configuration cannot be used.
    """
    url = flags.url or variable(URL_VARIABLE)
    if url:
        return checked_url(url)
    folder = data_folder(flags.data)
    host = folder.host()
    if host is None:
        where = str(folder.path)
        raise Failed(
            f"no host runs on the data folder {where!r}; start one with `toolwire up`, or pass --url and --key",
            "no_host",
        )
    return host.url


def host_key(flags: HostFlags) -> str:
    """The key to ask the host with.

    Raises:
        Failed: there is none.
        ConfigError: the configuration cannot be used.
    """
    key = optional_key(flags)
    if key is None:
        raise Failed("no key to ask with; pass --key, or set TOOLWIRE_KEY", "unauthorized")
    return key


def optional_key(flags: HostFlags) -> str | None:
    """The key to ask the host with, if there is one: a flag's, the variable's, or the owner's of the host here.

    The owner's key is for its own host: it is not sent to whatever address a flag or a variable names, unless `--data`
    says whose key to take.

    Raises:
        Failed: it cannot be a key.
        ConfigError: the configuration cannot be used.
    """
    key = (flags.key or variable(KEY_VARIABLE) or "").strip()
    if not key:
        folder = data_folder(flags.data)
        named = flags.url or variable(URL_VARIABLE)
        host = folder.host()
        if named and flags.data is None and (host is None or not same_place(named, host.url)):
            return None
        return folder.owner_key()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise misused("the key has characters that no key has; copy it again")
    return key


def target_of(flags: HostFlags) -> Target:
    """The host and the key.

    Raises:
        Failed: one of them is not to be found.
        ConfigError: the configuration cannot be used.
    """
    return Target(host_url(flags), host_key(flags))


def checked_url(url: str) -> str:
    """A host's address without the slash at its end.

    Raises:
        Failed: it is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise misused(f"{url!r} is no address of a host; it looks like http://127.0.0.1:8094")
    return url.rstrip("/")


def same_place(one: str, other: str) -> bool:
    """Whether two URLs have the same scheme, host and port."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port) == (second.scheme, second.hostname, second.port)
