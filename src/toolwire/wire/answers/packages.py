"""Answers on packages of cards; they install nothing.

Spec: cards.md, section 7.
"""

from typing import Literal, TypeAlias

from msgspec import Struct

from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.times import Time

PackageStatus: TypeAlias = Literal["consent_required", "installed"]


class PackageTool(Struct, frozen=True, kw_only=True):
    """A tool of a package, and the name that agents call it by."""

    name: str
    exposed_name: str
    title: str | None
    description: str
    input_schema: JsonObject
    read_only: bool
    timeout_ms: int
    enabled: bool


class PackagePermission(Struct, frozen=True, kw_only=True):
    """Something that the copies of a package may do."""

    id: str
    hosts: list[str]
    reason: str
    optional: bool
    risk: str


class PackageChange(Struct, frozen=True):
    """One thing that consent would change; `asks` says that consent is needed for it."""

    change: str
    name: str
    text: str
    asks: bool


class CardSize(Struct, frozen=True, kw_only=True):
    """How large a new copy is, in pixels."""

    width: int
    height: int


class CardPackage(Struct, frozen=True, kw_only=True):
    """A package of cards, and what of it waits for consent (`diff`); `digest` names exactly that.

    `may` is all that its copies may do, also what follows from `permissions`, the riskiest first; "program" stands for
    what a program may. `frame` and `icon` are addresses of what was accepted: its page, which a web card has and a
    `program` has not, and its picture.
    """

    package: str
    name: str
    display_name: str
    author: str | None
    description: str
    source: str
    version: str
    accepted_version: str | None
    digest: str
    status: PackageStatus
    installed_at: Time
    tools: list[PackageTool]
    permissions: list[PackagePermission]
    may: list[PackagePermission]
    reach: list[str]
    diff: list[PackageChange]
    frame: str | None
    icon: str | None
    size: CardSize
    program: bool
    warnings: list[JsonObject]


class CardPackages(Struct, frozen=True):
    """An owner's packages."""

    packages: list[CardPackage]


class ConsentedPackage(Struct, frozen=True):
    """What became of a package by consent or refusal."""

    package: str
    version: str
    status: Literal["consent_required", "installed", "removed"]
