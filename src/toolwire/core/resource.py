"""What a server lets clients read, in MCP's words; it reads nothing."""

from collections.abc import Sequence
from typing import Protocol

import msgspec
from msgspec import Struct

from toolwire.core.call import Call
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import ResourceContents


class Resource(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The definition of one resource, as `resources/list` shows it. `size` is in bytes."""

    uri: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    size: int | None = None
    annotations: JsonObject | None = None
    icons: list[JsonObject] | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")


class ResourceTemplate(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """The definition of a family of resources, as `resources/templates/list` shows it."""

    uri_template: str
    name: str
    title: str | None = None
    description: str | None = None
    mime_type: str | None = None
    annotations: JsonObject | None = None
    icons: list[JsonObject] | None = None
    meta: JsonObject | None = msgspec.field(default=None, name="_meta")


class Resources(Protocol):
    """A source of resources. An endpoint that has one advertises `resources`; one that has none does not know them."""

    def resources(self) -> Sequence[Resource]:
        """The resources offered now, in their order."""
        ...

    def templates(self) -> Sequence[ResourceTemplate]:
        """The templates offered now, in their order."""
        ...

    async def read(self, uri: str, call: Call, emit: Emit) -> Sequence[ResourceContents]:
        """The contents of a resource; at least one.

        Args:
            uri: which, as the client spelled it.
            call: who asks, and until when; its `tool` is the URI.
            emit: takes progress and log lines.

        Raises:
            ResourceNotFound: there is no such resource.
            InternalError: it cannot be read; the message is for the client.
        """
        ...
