"""REST: keys and owners, by `oag_` keys; it keeps nothing.

Spec: gateway.md 46, §6 (Commands and settings).
"""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import Forbidden, InvalidParam
from toolwire.core.jsontypes import JsonObject
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Identity
from toolwire.gateway.keys import KeyKind, KeyRecord, Keys, Owner
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import described, query
from toolwire.surfaces.rest import answer, done
from toolwire.wire.answers.agents import CreatedKey, CreatedOwner, Key
from toolwire.wire.answers.agents import Owner as ShownOwner
from toolwire.wire.rest import rfc3339

MAX_NAME_LEN = 128


class NewKey(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/keys`.

    `kind` is `bak` unless said otherwise; `agent_id` (an id or a name) is needed for `bak` and `agk`. `name` is a word
    for people.
    """

    kind: KeyKind = "bak"
    agent_id: str | None = None
    name: str = ""


class NewOwner(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/owners`."""

    name: str


class KeyRoutes:
    """The routes of keys and owners.

    Args:
        reader: reads requests.
        agents: finds the agent that a key is for.
        keys: all keys and owners.
    """

    def __init__(self, reader: Reader, agents: Agents, keys: Keys) -> None:
        self._reader = reader
        self._agents = agents
        self._keys = keys

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/keys", self.create, methods=["POST"]),
            Route("/api/v1/keys", self.list, methods=["GET"]),
            Route("/api/v1/keys/{key_id}", self.revoke, methods=["DELETE"]),
            Route("/api/v1/owners", self.create_owner, methods=["POST"]),
            Route("/api/v1/owners", self.list_owners, methods=["GET"]),
        )

    @described("oag", CreatedKey, 201, body=NewKey, errors="agent_not_found")
    async def create(self, request: Request) -> Response:
        """Make a key, which is shown this once."""
        identity = self._reader.identify(request, "oag")
        body = await self._reader.body(request, NewKey)
        _check_name(body.name)
        agent_id = self._agent_id(identity, body)
        record, secret = await self._keys.create(body.kind, identity.owner, agent_id, body.name)
        return answer({**_shown_key(record), "key": secret}, 201)

    @described(
        "oag", list[Key], errors="agent_not_found", parameters=(query("agent_id", "only the keys of this agent"),)
    )
    async def list(self, request: Request) -> Response:
        """The owner's keys, revoked ones too; with `?agent_id=` only those of that agent."""
        identity = self._reader.identify(request, "oag")
        named = request.query_params.get("agent_id")
        agent_id = None if named is None else self._agents.find(identity.owner, named).agent_id
        return answer([_shown_key(record) for record in self._keys.list(identity.owner, agent_id)])

    @described("oag")
    async def revoke(self, request: Request) -> Response:
        """Make a key open nothing any more."""
        identity = self._reader.identify(request, "oag")
        await self._keys.revoke(identity.owner, str(request.path_params["key_id"]))
        return done()

    @described("oag", CreatedOwner, 201, body=NewOwner)
    async def create_owner(self, request: Request) -> Response:
        """Make another owner and its `oag_` key, which is shown this once; the first owner may."""
        self._first_owner(request)
        body = await self._reader.body(request, NewOwner)
        name = body.name.strip()
        if not name:
            raise InvalidParam("an owner's name must not be empty", param="name")
        _check_name(name)
        owner, secret = await self._keys.create_owner(name)
        return answer({**_shown_owner(owner), "owner_key": secret}, 201)

    @described("oag", Sequence[ShownOwner])
    async def list_owners(self, request: Request) -> Response:
        """All owners; the first owner may."""
        self._first_owner(request)
        return answer([_shown_owner(owner) for owner in self._keys.owners()])

    def _first_owner(self, request: Request) -> None:
        if not self._reader.identify(request, "oag").first_owner:
            raise Forbidden("only the first owner makes and lists owners; use the key in owner.key")

    def _agent_id(self, identity: Identity, body: NewKey) -> str | None:
        if body.kind == "oag":
            if body.agent_id is not None:
                raise InvalidParam("an oag_ key opens all agents of its owner; leave agent_id out", param="agent_id")
            return None
        if body.agent_id is None:
            raise InvalidParam(f"a {body.kind}_ key is for one agent; send agent_id", param="agent_id")
        record = self._agents.find(identity.owner, body.agent_id)
        if record.owner != identity.owner:
            raise Forbidden(f"agent {record.agent_id!r} belongs to another owner")
        return record.agent_id


def _check_name(name: str) -> None:
    if len(name) > MAX_NAME_LEN or not name.isprintable():
        raise InvalidParam(f"a name has at most {MAX_NAME_LEN} printable characters, not {name!r}", param="name")


def _shown_key(record: KeyRecord) -> JsonObject:
    shown: dict[str, Any] = {
        "key_id": record.key_id,
        "kind": record.kind,
        "prefix": record.prefix,
        "name": record.name,
        "agent_id": record.agent_id,
        "created_at": rfc3339(record.created_at),
        "revoked_at": None if record.revoked_at is None else rfc3339(record.revoked_at),
    }
    return shown


def _shown_owner(owner: Owner) -> JsonObject:
    return {"owner_id": owner.owner_id, "name": owner.name, "created_at": rfc3339(owner.created_at)}
