"""What the files that come along with a call stand for, as its agent is told; it does not read arguments.

All of them are found before anything of the call is claimed or published. One that is unknown, somebody else's, expired
or not uploaded yet is refused in the same words, so that nobody learns which of these it is.
Spec: gateway.md 19-21, 24, 1H, D14, D15.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from toolwire.core.call import Attachment, Call
from toolwire.core.errors import InvalidParam
from toolwire.core.filenames import safe_filename
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock, Op
from toolwire.gateway.auth import Identity
from toolwire.gateway.extras import ATTACHMENTS, read_attachments
from toolwire.gateway.files import Files
from toolwire.wire.rest import rfc3339

MAX_ATTACHMENTS: Final = 16
BEYOND_DEADLINE_S: Final = 600.0
"""So much longer than its call may take an agent can read the files."""
TASK_URL_TTL_S: Final = 24 * 3600.0
"""How long the files of a task, or of a message that waits for its agents, can be read at least."""


class AttachmentRules(Struct, frozen=True):
    """Limits of attachments.

    `max_count` is how many one call may have; `keyed_deadline_s` is for how many seconds a call goes on that outlives
    its request. With `strict`, a key sends along only what it has uploaded or was given, not all of its owner (D14).
    """

    max_count: int = MAX_ATTACHMENTS
    keyed_deadline_s: float = 600.0
    strict: bool = False


class Attachments:
    """Finds the files of calls.

    Args:
        files: all files.
        clock: wall time.
        rules: limits.
    """

    def __init__(self, files: Files, clock: Clock, rules: AttachmentRules | None = None) -> None:
        self._files = files
        self._clock = clock
        self._rules = rules or AttachmentRules()

    async def attach(self, call: Call) -> Call:
        """The call with its files found; see `core.handler.Delegate.attach`.

        Raises:
            InvalidParam: there are too many, or one of them is no file of the caller's owner.
            StoreUnavailable: the store cannot be read.
        """
        caller = call.caller
        files = await self.found(caller.owner, caller.principal, call.attachments, self._needed_until(call))
        return msgspec.structs.replace(call, files=files)

    async def found(
        self, owner: str, principal: str, attachments: Sequence[Attachment], until: float
    ) -> tuple[JsonObject, ...]:
        """The files of an owner as a `chat_message` tells of them, to be read until `until` (Unix seconds).

        Raises:
            InvalidParam, StoreUnavailable: as `attach`.
        """
        if len(attachments) > self._rules.max_count:
            raise InvalidParam(
                f"{len(attachments)} attachments were sent; a call has at most {self._rules.max_count}",
                param="attachments",
            )
        return tuple(
            [
                await self._one((owner, principal), attachment, place, until)
                for place, attachment in enumerate(attachments)
            ]
        )

    async def told(self, identity: Identity, agent_ids: Sequence[str], payload: JsonObject) -> JsonObject:
        """The payload of a message that is no call's, its `attachments` found, and given to the agents it goes to.

        Raises:
            InvalidParam: they are malformed, or as `attach`; `param` names them.
            StoreUnavailable: the store cannot be used.
        """
        attachments = read_attachments(payload.get(ATTACHMENTS))
        until = self._clock.now() + self._message_url_ttl_s
        files = await self.found(identity.owner, identity.principal, attachments, until)
        for agent_id in agent_ids:
            await self._files.give(agent_id, [file["file_id"] for file in files])
        return {**payload, ATTACHMENTS: list(files)}

    def grants(self, agent_id: str, files: Sequence[JsonObject]) -> list[Op]:
        """What lets an agent ask for these files again by their ids, to be committed with the message that has them."""
        return [self._files.grant(agent_id, file["file_id"]) for file in files]

    async def _one(self, caller: tuple[str, str], attachment: Attachment, place: int, until: float) -> JsonObject:
        owner, principal = caller
        record = await self._files.find(attachment.file_id)
        strict = self._rules.strict and principal != owner
        if record is None or record.owner != owner or (strict and not await self._files.has(principal, record)):
            raise InvalidParam(
                "there is no such file for this call; upload it, then send the file_id that presign-upload gave",
                param=f"attachments[{place}].file_id",
            )
        if record.expires_at < until:
            await self._files.extend(record, until)
        return {
            "file_id": record.file_id,
            "filename": record.filename if attachment.filename is None else safe_filename(attachment.filename),
            "content_type": attachment.content_type or record.content_type,
            "size": record.size,
            "download_url": self._files.links.url("GET", record.file_id, until),
            "expires_at": rfc3339(int(until)),
        }

    @property
    def _message_url_ttl_s(self) -> float:
        return max(self._files.rules.download_url_ttl_s, TASK_URL_TTL_S)

    def _needed_until(self, call: Call) -> float:
        now, end = self._clock.now(), call.done_by
        if call.outlives_request and call.task is None:
            end = max(end, now + self._rules.keyed_deadline_s)
        ttl_s = self._files.rules.download_url_ttl_s if call.task is None else self._message_url_ttl_s
        return max(now + ttl_s, end + BEYOND_DEADLINE_S)
