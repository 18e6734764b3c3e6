"""Flags that several commands share, with their words; it reads none of them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

JsonFlag: TypeAlias = Annotated[bool, Parameter(negative="", help="Print one line of JSON, for programs.")]

Place: TypeAlias = Annotated[
    str,
    Parameter(help="URL of an MCP endpoint, name or id of an agent of the host here, or the command of a server."),
]

DataFlag: TypeAlias = Annotated[
    Path | None, Parameter(help="Data folder of the host on this machine (default: .toolwire, or the setting `data`).")
]


@Parameter(name="*")
@dataclass(frozen=True)
class HostFlags:
    """Which running host to talk to, and by which key."""

    url: Annotated[
        str | None, Parameter(help="Address of the host, instead of the one that runs here (also: TOOLWIRE_URL).")
    ] = None
    key: Annotated[
        str | None, Parameter(help="Key to ask with, instead of the owner's in the data folder (also: TOOLWIRE_KEY).")
    ] = None
    data: DataFlag = None
