"""The routes of card packages: install, consent, list, remove (cards.md, section 7); it keeps nothing."""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.card_frames import CardFrames
from toolwire.canvas.card_settings import CardSettings
from toolwire.canvas.card_storage import CardStorage, copy_holder
from toolwire.canvas.consent import changes, everything_allowed, reach, risk_of
from toolwire.canvas.packages import Offer, Package, Packages
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.uploads import Upload
from toolwire.canvas.workspaces import Workspaces
from toolwire.card.manifest import Manifest, Permission, ToolSpec
from toolwire.core.board import removal
from toolwire.core.errors import Conflict, InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.surfaces.described import Described, described, marked, query
from toolwire.surfaces.rest import answer, body_pieces, done
from toolwire.wire.answers.packages import CardPackage, CardPackages, ConsentedPackage
from toolwire.wire.rest import rfc3339


class NewPackage(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /card-packages`; see `sources.read_source`."""

    source: str


class Consent(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST …/consent`: the answer to what has that digest."""

    digest: str
    accept: bool


class PackageRoutes:
    """The routes of card packages.

    Args:
        reader: reads requests.
        packages: all packages.
        frames: where their pages are.
        workspaces: where their copies stand.
        storage: what they keep.
        settings: what they are set to.
    """

    def __init__(
        self,
        reader: OwnerReader,
        packages: Packages,
        frames: CardFrames,
        workspaces: Workspaces,
        storage: CardStorage,
        settings: CardSettings,
    ) -> None:
        self._reader = reader
        self._packages = packages
        self._frames = frames
        self._workspaces = workspaces
        self._storage = storage
        self._settings = settings

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        base = "/api/v1/card-packages"
        return (
            Route(base, self.add, methods=["POST"]),
            Route(base + "/uploads", self.upload, methods=["POST"]),
            Route(base, self.list, methods=["GET"]),
            Route(base + "/{package}", self.show, methods=["GET"]),
            Route(base + "/{package}", self.remove, methods=["DELETE"]),
            Route(base + "/{package}/consent", self.consent, methods=["POST"]),
        )

    @described("oag", CardPackage, 201, body=NewPackage, errors="conflict")
    async def add(self, request: Request) -> Response:
        """Install a package, or update it; what it would change is in the answer, and waits for consent."""
        owner = self._reader.owner(request).owner
        body = await self._reader.body(request, NewPackage)
        return answer(self._shown(await self._packages.add(owner, body.source)), 201)

    @marked(
        Described(
            CardPackage,
            201,
            ("oag",),
            body=bytes,
            body_media="*/*",
            parameters=(query("filename", "what the archive is called, with its ending"),),
            errors=("invalid_param", "conflict", "payload_too_large"),
        )
    )
    async def upload(self, request: Request) -> Response:
        """Install a package from an archive that is sent, or update it; see `POST /card-packages`."""
        owner = self._reader.owner(request).owner
        upload = Upload(request.query_params.get("filename", ""), body_pieces(request))
        return answer(self._shown(await self._packages.add_upload(owner, upload)), 201)

    @described("oag", CardPackages)
    async def list(self, request: Request) -> Response:
        """The owner's packages."""
        owner = self._reader.owner(request).owner
        found = [self._shown(Offer(package)) for package in self._packages.of_owner(owner)]
        return answer({"packages": found})

    @described("oag", CardPackage)
    async def show(self, request: Request) -> Response:
        """One package, with what waits for consent."""
        return answer(self._shown(Offer(self._package(request))))

    @described("oag", ConsentedPackage, body=Consent, errors="conflict")
    async def consent(self, request: Request) -> Response:
        """Accept what waits, or refuse it."""
        owner = self._reader.owner(request).owner
        body = await self._reader.body(request, Consent)
        package = await self._packages.consent(owner, path_param(request, "package"), body.digest, body.accept)
        version = package.shown.manifest.version
        status = "removed" if package.removed else package.status
        return answer({"package": package.id, "version": version, "status": status})

    @described(
        "oag", errors="conflict", parameters=(query("force", "remove its copies, too", Literal["true", "false"]),)
    )
    async def remove(self, request: Request) -> Response:
        """Remove a package; with `?force=true` its copies leave their boards, too."""
        package = self._package(request)
        force = request.query_params.get("force", "false")
        if force not in ("true", "false"):
            raise InvalidParam(f"force is true or false, not {force!r}", param="force")
        copies = self._workspaces.copies(package.owner, package.id)
        if copies and force == "false":
            cards = [{"workspace": workspace.id, "card": card.id, "title": card.title} for workspace, card in copies]
            name = package.shown.manifest.name
            raise Conflict(f"{len(cards)} cards are copies of {name!r}; remove them, or send force=true", cards=cards)
        gone = {card.id for _, card in copies}
        for workspace_id in {workspace.id for workspace, _ in copies}:
            await self._workspaces.edit(
                package.owner,
                workspace_id,
                lambda board: removal(board, [card_id for card_id in board.cards if card_id in gone]),
            )
        await self._packages.remove(package.owner, package.id)
        holders = (package.id, *(copy_holder(workspace.id, card.id) for workspace, card in copies))
        for holder in holders:
            await self._storage.clear(package.owner, holder)
        await self._settings.clear(package.owner, holders)
        return done()

    def _package(self, request: Request) -> Package:
        return self._packages.get(self._reader.owner(request).owner, path_param(request, "package"))

    def _shown(self, offer: Offer) -> JsonObject:
        package, version = offer.package, offer.package.shown
        manifest = version.manifest
        accepted = None if package.accepted is None else package.accepted.manifest
        exposed = self._packages.exposed_if_accepted(package)
        diff = [] if package.pending is None else changes(accepted, manifest)
        return {
            "package": package.id,
            "name": manifest.name,
            "display_name": manifest.display_name,
            "author": manifest.author,
            "description": manifest.description,
            "source": package.source.identity,
            "version": manifest.version,
            "accepted_version": None if accepted is None else accepted.version,
            "digest": version.digest,
            "status": package.status,
            "installed_at": rfc3339(package.installed_at),
            "tools": [_shown_tool(manifest, tool, exposed[tool.name], package) for tool in manifest.tools],
            "permissions": [_shown_permission(one) for one in manifest.permissions],
            "may": [_shown_permission(one) for one in everything_allowed(manifest)],
            "reach": reach(manifest),
            "diff": [msgspec.to_builtins(change) for change in diff],
            "frame": self._frames.entry(package),
            "icon": self._frames.icon(package),
            "size": {"width": manifest.size[0], "height": manifest.size[1]},
            "program": manifest.is_python,
            "warnings": [msgspec.to_builtins(warning) for warning in offer.warnings],
        }


def _shown_tool(manifest: Manifest, tool: ToolSpec, exposed: str, package: Package) -> JsonObject:
    return {
        "name": tool.name,
        "exposed_name": exposed,
        "title": tool.title,
        "description": manifest.shown_description(tool),
        "input_schema": tool.input_schema,
        "read_only": tool.read_only,
        "timeout_ms": tool.timeout_ms,
        "enabled": tool.name not in package.disabled,
    }


def _shown_permission(permission: Permission) -> JsonObject:
    return {**msgspec.structs.asdict(permission), "risk": risk_of(permission.id)}
