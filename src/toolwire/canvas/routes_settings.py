"""The routes of what cards are set to (cards.md §2, `settings`); they keep nothing, and answer no secret."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.canvas.card_settings import CardSettings, declared_by
from toolwire.canvas.packages import Package, Packages
from toolwire.canvas.rest import OwnerReader, path_param
from toolwire.canvas.workspaces import Workspace, Workspaces
from toolwire.card.manifest_rules import worded
from toolwire.card.settings import Setting
from toolwire.core.board import Card
from toolwire.core.errors import InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer
from toolwire.wire.answers.boards import ShownSettings

LANGUAGE = query("language", "of labels and descriptions: en, ru or zh; English where a card has no other")


class ChangedSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to set, by key; the others stay. `null` puts one back to its default, and removes a secret."""

    values: dict[str, Any]


class SettingRoutes:
    """The routes.

    Args:
        reader: reads requests.
        workspaces: where cards are.
        packages: what they declare.
        settings: what they are set to.
    """

    def __init__(self, reader: OwnerReader, workspaces: Workspaces, packages: Packages, settings: CardSettings) -> None:
        self._reader = reader
        self._workspaces = workspaces
        self._packages = packages
        self._settings = settings

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        path = "/api/v1/workspaces/{w}/cards/{c}/settings"
        return (Route(path, self.show, methods=["GET"]), Route(path, self.change, methods=["PUT"]))

    @described("oag", ShownSettings, errors="package_not_found", parameters=(LANGUAGE,))
    async def show(self, request: Request) -> Response:
        """What a card can be set to, and is; of secrets only whether they are set."""
        return self._answer(request, *self._card(request))

    @described("oag", ShownSettings, body=ChangedSettings, errors="package_not_found", parameters=(LANGUAGE,))
    async def change(self, request: Request) -> Response:
        """Set some of a card's settings; either all that are sent, or none where one does not fit."""
        workspace, card = self._card(request)
        package = self._package(workspace, card)
        body = await self._reader.body(request, ChangedSettings)
        if package is None and body.values:
            raise InvalidParam(f"card {card.id!r} has no settings", param="values")
        if package is not None:
            await self._settings.change(package, workspace.id, card.id, body.values)
        return self._answer(request, workspace, card)

    def _card(self, request: Request) -> tuple[Workspace, Card]:
        workspace = self._workspaces.get(self._reader.owner(request).owner, path_param(request, "w"))
        return workspace, workspace.card(path_param(request, "c"))

    def _package(self, workspace: Workspace, card: Card) -> Package | None:
        return None if card.package is None else self._packages.get(workspace.owner, card.package)

    def _answer(self, request: Request, workspace: Workspace, card: Card) -> Response:
        package = self._package(workspace, card)
        if package is None:
            return answer({"settings": [], "values": {}, "secrets": []})
        language = request.query_params.get("language", "en")
        found = self._settings.read(package, workspace.id, card.id)
        shown = [_shown(setting, language) for setting in declared_by(package)]
        return answer({"settings": shown, "values": found.values, "secrets": list(found.secrets)})


def _shown(setting: Setting, language: str) -> JsonObject:
    raw = setting.raw
    return {
        "key": setting.key,
        "type": setting.type,
        "label": worded(raw["label"], language),
        "description": worded(raw.get("description", ""), language),
        "placeholder": worded(raw.get("placeholder", ""), language),
        "default": setting.default,
        "required": setting.required,
        "scope": setting.scope,
        "max_length": setting.max_chars,
        "min": setting.least,
        "max": setting.most,
        "step": setting.step,
        "options": [{"value": one["value"], "label": worded(one["label"], language)} for one in raw.get("options", ())],
    }
