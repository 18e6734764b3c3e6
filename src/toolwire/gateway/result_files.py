"""Files in what agents answer: those that they name, and what is too large to be answered as it is.

An agent names a file of its own by a link to `toolwire://files/<file_id>`. The caller gets a picture up to the limit
itself, and anything else as a link that needs no key. A result above the limit is not cut: its largest parts become
files of the caller's, with a link and the first lines in their place. Spec: gateway.md D17, §6 (Commands and settings).
"""

import logging
import mimetypes
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from toolwire.core.call import Call
from toolwire.core.errors import InvalidAgentResponse, ToolwireError
from toolwire.core.filenames import safe_filename
from toolwire.core.ids import new_id
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.core.result import Audio, Content, Embedded, Image, Link, Result, Text
from toolwire.gateway.file_record import FileRecord
from toolwire.gateway.files import Files
from toolwire.wire.link import FILE_URI
from toolwire.wire.rest import rfc3339

logger = logging.getLogger("toolwire.gateway")

FILES_KEY: Final = "toolwire/files"
"""In a result's `_meta`: the files that it links to, so that their addresses can be asked for again by id."""
SHOWN_CHARS: Final = 2_000
"""How much of a text that became a file stands in its place."""
_JSON: Final = "application/json"

_encode = msgspec.json.Encoder(order="sorted").encode


class ResultRules(Struct, frozen=True):
    """`inline_limit_bytes` is the largest result answered as it is; links in one hold for `url_ttl_s` at least."""

    inline_limit_bytes: int = 1024**2
    url_ttl_s: float = 24 * 3600.0


class _Part(Struct, frozen=True):
    """A part of a result that may become a file: what it would be called, its type and content, and its place."""

    place: int
    filename: str
    content_type: str
    data: bytes
    size: int


class ResultFiles:
    """Settles the results of one agent.

    Args:
        files: all files.
        agent: the owner and the id of the agent.
        clock: wall time.
        rules: limits.
        has_schema: whether a tool says what its structured content is, so that this cannot be left out.
        key_ttl_s: how long the agent's calls are known by their keys now; `None` for no longer than `rules` says.
    """

    def __init__(
        self,
        files: Files,
        agent: tuple[str, str],
        clock: Clock,
        rules: ResultRules,
        has_schema: Callable[[str], bool],
        key_ttl_s: Callable[[], float | None] = lambda: None,
    ) -> None:
        self._files = files
        self._owner, self._agent_id = agent
        self._clock = clock
        self._rules = rules
        self._has_schema = has_schema
        self._key_ttl_s = key_ttl_s

    def concerns(self, result: Result) -> bool:
        """Whether there is anything to do; quick for the small texts that most results are."""
        limit, room = self._rules.inline_limit_bytes, 0
        for block in result.content:
            if type(block) is Text:
                room += 4 * len(block.text)
            elif type(block) is Link:
                if block.uri.startswith(FILE_URI):
                    return True
                room += 4 * len(block.uri)
            elif isinstance(block, Image | Audio):
                room += len(block.data)
            elif isinstance(block, Embedded):
                room += 4 * len(block.resource.text or "") + len(block.resource.blob or "")
        return room > limit or (result.structured is not UNSET and len(_encode(result.structured)) + room > limit)

    async def settle(self, call: Call, result: Result) -> Result:
        """The result as the call's caller gets it; as it is where store or blobs fail, because the work is done.

        Raises:
            InvalidAgentResponse: it names a file that is not the agent's.
        """
        try:
            return await self._settled(call, result)
        except InvalidAgentResponse:
            raise
        except ToolwireError as error:
            logger.warning("files in the result of call %s stay as they are: %s", call.id, error.message)
            return result

    async def _settled(self, call: Call, result: Result) -> Result:
        linked: list[FileRecord] = []
        content = [await self._named(call, block, linked) for block in result.content]
        settled = replace(result, content=tuple(content))
        if _size(settled) > self._rules.inline_limit_bytes:
            settled = await self._offloaded(call, settled, linked)
        if not linked:
            return settled
        await self._files.give(call.caller.principal, [record.file_id for record in linked])
        meta = {**(settled.meta or {}), FILES_KEY: [self._told(record) for record in linked]}
        return replace(settled, meta=meta)

    async def _named(self, call: Call, block: Content, linked: list[FileRecord]) -> Content:
        if type(block) is not Link or not block.uri.startswith(FILE_URI):
            return block
        file_id = block.uri.removeprefix(FILE_URI)
        record = await self._files.find(file_id)
        came_along = any(file["file_id"] == file_id for file in call.files)
        mine = record is not None and (record.owner, record.uploader) == (self._owner, self._agent_id)
        if record is None or not (mine or came_along):
            raise InvalidAgentResponse(f"the agent's answer names a file {file_id[:128]!r} that is none of its own")
        if record.content_type.startswith("image/") and record.size * 4 // 3 <= self._rules.inline_limit_bytes:
            data = b"".join([piece async for piece in self._files.content(record)])
            return Image(data=b64encode(data).decode(), mime_type=record.content_type, annotations=block.annotations)
        record = await self._files.extend(record, self._until())
        linked.append(record)
        return replace(self._link(record), title=block.title, description=block.description)

    async def _offloaded(self, call: Call, result: Result, linked: list[FileRecord]) -> Result:
        """The result with its largest parts in files, as many as it takes; as it is where they cannot be kept."""
        content: list[tuple[Content, ...]] = [(block,) for block in result.content]
        parts = [part for place, block in enumerate(result.content) if (part := _part(place, block)) is not None]
        structured = result.structured
        if structured is not UNSET and not self._has_schema(call.tool):
            data = _encode(structured)
            parts.append(_Part(-1, "result.json", _JSON, data, len(data)))
        left, kept = _size(result), dict[tuple[str, bytes], FileRecord]()
        try:
            for part in sorted(parts, key=lambda part: -part.size):
                if left <= self._rules.inline_limit_bytes:
                    break
                record = kept.get(same := (part.content_type, part.data))
                if record is None:
                    record = kept[same] = await self._kept(call, part)
                    linked.append(record)
                left -= part.size
                if part.place < 0:
                    structured = UNSET
                    content.append((self._link(record),))
                else:
                    content[part.place] = self._in_place_of(result.content[part.place], record)
        except ToolwireError as error:
            logger.warning("a result of call %s stays whole, it cannot be kept in files: %s", call.id, error.message)
        blocks = [block for blocks in content for block in blocks]
        return replace(result, content=tuple(_once(blocks)), structured=structured)

    async def _kept(self, call: Call, part: _Part) -> FileRecord:
        now, caller = self._clock.now(), call.caller
        expires_at = max(now + self._files.rules.file_ttl_s, self._until())
        filename = safe_filename(f"{call.tool}-{part.filename}")
        record = FileRecord(
            new_id("file"), caller.owner, caller.principal, filename, part.content_type, now, expires_at
        )
        return await self._files.add(record, part.data)

    def _in_place_of(self, block: Content, record: FileRecord) -> tuple[Content, ...]:
        link = replace(self._link(record), annotations=block.annotations)
        if type(block) is not Text:
            return (link,)
        shown = block.text[:SHOWN_CHARS]
        words = f"{shown}…\n\n[{record.size} bytes in all; the whole text is in the file {record.filename!r}]"
        return (Text(words), link)

    def _link(self, record: FileRecord) -> Link:
        uri = self._files.links.url("GET", record.file_id, self._until())
        return Link(uri=uri, name=record.filename, mime_type=record.content_type, size=record.size)

    def _told(self, record: FileRecord) -> JsonObject:
        return {
            "file_id": record.file_id,
            "filename": record.filename,
            "content_type": record.content_type,
            "size": record.size,
            "expires_at": rfc3339(record.expires_at),
        }

    def _until(self) -> float:
        return self._clock.now() + max(self._rules.url_ttl_s, self._key_ttl_s() or 0.0)


def _size(result: Result) -> int:
    structured = 0 if result.structured is UNSET else len(_encode(result.structured))
    return structured + sum(len(_encode(block)) for block in result.content)


def _part(place: int, block: Content) -> _Part | None:
    size = len(_encode(block))
    if isinstance(block, Text):
        return _Part(place, *_text_file(block.text), size)
    if isinstance(block, Image | Audio):
        word = "image" if isinstance(block, Image) else "audio"
        ending = mimetypes.guess_extension(block.mime_type) or ""
        return _Part(place, f"{word}-{place + 1}{ending}", block.mime_type, b64decode(block.data), size)
    if isinstance(block, Embedded):
        resource = block.resource
        data = b64decode(resource.blob) if resource.blob is not None else (resource.text or "").encode()
        name = safe_filename(resource.uri.rstrip("/").rpartition("/")[2])
        return _Part(place, name, resource.mime_type or "application/octet-stream", data, size)
    return None


def _text_file(text: str) -> tuple[str, str, bytes]:
    data = text.encode(errors="replace")
    if text[:1] in "{[":
        try:
            return "result.json", _JSON, _encode(msgspec.json.decode(data))
        except (msgspec.DecodeError, RecursionError, ValueError):
            pass
    return "result.txt", "text/plain; charset=utf-8", data


def _once(blocks: Sequence[Content]) -> list[Content]:
    """The blocks without a second link to the same file: a text and structured content often say the same."""
    seen: set[str] = set()
    kept: list[Content] = []
    for block in blocks:
        if type(block) is Link:
            if block.uri in seen:
                continue
            seen.add(block.uri)
        kept.append(block)
    return kept
