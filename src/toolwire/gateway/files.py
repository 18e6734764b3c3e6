"""The gateway's files: announced, uploaded once, read by signed addresses, swept; it does not know calls or HTTP.

A file's record lies in the store, its content in a blob under a name of ours. What an owner's files take together is
counted in the same transactions, so that the count is right after a crash. Spec: gateway.md 22-24, D14, D15.
"""

import logging
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterable, Iterable
from contextlib import suppress
from typing import Final

import anyio
import msgspec
from msgspec import Struct

from toolwire.core.errors import (
    Conflict,
    FileNotFound,
    StoreConflict,
    StoreUnavailable,
    ToolwireError,
    WaitTimeout,
)
from toolwire.core.filenames import safe_filename
from toolwire.core.ids import new_id
from toolwire.core.ports import Ack, Blobs, Clock, Del, Enqueue, Leased, Op, Put, Store, Stored
from toolwire.engine.offload import EXPIRING_BLOBS
from toolwire.gateway.auth import Identity
from toolwire.gateway.file_links import FileLinks
from toolwire.gateway.file_record import FileRecord, decode_file, encode_file
from toolwire.gateway.file_room import Arriving, no_room

logger = logging.getLogger("toolwire.gateway")

EXPIRING_FILES: Final = "expiring_files"
"""The queue of files to be forgotten, each due when it expires."""
OWNED: Final = "owned_file"
"""The kind of the records that list an owner's uploaded files, by their ids."""
SWEEP_EVERY_S: Final = 60.0
FILES_AT_ONCE: Final = 100
LEASE_S: Final = 60.0
UPLOAD_S: Final = 3600.0
"""How long an upload may take; what is left of one that a crash broke off goes after this."""
MAX_TRIES: Final = 20


class FileRules(Struct, frozen=True):
    """Limits of files: sizes in bytes, times in seconds; see the settings of the same names (gateway.md 1J)."""

    file_limit_bytes: int = 100 * 1024**2
    owner_files_limit_bytes: int = 1024**3
    upload_url_ttl_s: float = 900.0
    download_url_ttl_s: float = 3600.0
    file_ttl_s: float = 30 * 24 * 3600.0


class Files:
    """All files. Keep `keep` running while serving.

    Args:
        store: for the records.
        blobs: for the contents.
        clock: wall time.
        links: makes the signed addresses.
        rules: limits.
    """

    def __init__(
        self, store: Store, blobs: Blobs, clock: Clock, links: FileLinks, rules: FileRules | None = None
    ) -> None:
        self._store = store
        self._blobs = blobs
        self._clock = clock
        self.links = links
        self.rules = rules or FileRules()
        self._arriving: Counter[str] = Counter()

    async def announce(self, owner: str, uploader: str, filename: str, content_type: str) -> FileRecord:
        """Make a file that may be uploaded once, until it expires; its name is made safe.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        now = self._clock.now()
        expires_at = now + self.rules.upload_url_ttl_s
        record = FileRecord(new_id("file"), owner, uploader, safe_filename(filename), content_type, now, expires_at)
        await self._store.tx([_put(record, 0), Enqueue(EXPIRING_FILES, record.file_id, expires_at + UPLOAD_S, b"")])
        return record

    async def announced(self, file_id: str) -> FileRecord:
        """A file that waits for its upload.

        Raises:
            FileNotFound: there is none, or its time is over.
            Conflict: it is uploaded already.
        """
        record, _ = await self._awaiting(file_id)
        return record

    async def upload(self, file_id: str, pieces: AsyncIterable[bytes], declared_bytes: int | None = None) -> FileRecord:
        """Take the content of an announced file: the first whole upload stays, and there is no second one.

        Args:
            file_id: the file.
            pieces: its content. When they raise, nothing has happened.
            declared_bytes: how large the sender says it is.

        Raises:
            FileNotFound, Conflict: as `announced`; or another upload was faster.
            PayloadTooLarge: it is larger than a file may be, or than what its owner has left.
            StoreUnavailable: store or blobs cannot be written.
        """
        record, version = await self._awaiting(file_id)
        limited = await self._limited(record.owner, pieces, declared_bytes or 0)
        blob = f"files/{new_id('blob')}"
        await self._store.tx([Enqueue(EXPIRING_BLOBS, blob, self._clock.now() + 2 * UPLOAD_S, b"")])
        try:
            with anyio.fail_after(UPLOAD_S):
                await self._blobs.write(blob, limited)
            expires_at = self._clock.now() + self.rules.file_ttl_s
            uploaded = msgspec.structs.replace(record, blob=blob, size=limited.size, expires_at=expires_at)
            with anyio.CancelScope(shield=True):  # a cancelled sender would not know whether the file is there
                await self._keep(uploaded, version)
        except BaseException as error:
            await self._discard(blob)
            if isinstance(error, TimeoutError):
                raise WaitTimeout(f"the upload took longer than {UPLOAD_S:.0f} s; send it again") from None
            raise
        finally:
            limited.over()
        return uploaded

    async def add(self, record: FileRecord, data: bytes) -> FileRecord:
        """Keep a file of our own making: `record` without content, expiring when it says.

        Raises:
            PayloadTooLarge: as `upload`.
            StoreUnavailable: store or blobs cannot be written.
        """
        await self._limited(record.owner, _one(data), len(data))
        blob = f"files/{new_id('blob')}"
        await self._store.tx([Enqueue(EXPIRING_BLOBS, blob, self._clock.now() + 2 * UPLOAD_S, b"")])
        try:
            await self._blobs.put(blob, data)
            kept = msgspec.structs.replace(record, blob=blob, size=len(data))
            with anyio.CancelScope(shield=True):
                await self._keep(kept, 0)
        except BaseException:
            await self._discard(blob)
            raise
        return kept

    async def find(self, file_id: str) -> FileRecord | None:
        """A file that is uploaded and has not expired.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        stored = await self._stored(file_id)
        record = None if stored is None else decode_file(stored.value)
        return None if record is None or record.blob is None or record.expires_at <= self._clock.now() else record

    async def readable(self, identity: Identity, file_id: str) -> FileRecord:
        """A file, for one who may read it: its owner, who uploaded it, and who was given it (`grant`).

        Raises:
            FileNotFound: there is none for this identity.
        """
        record = await self.find(file_id)
        if record is not None:
            own = identity.kind == "oag" and record.owner == identity.owner
            if own or await self.has(identity.principal, record):
                return record
        raise _not_found(file_id)

    async def has(self, principal: str, record: FileRecord) -> bool:
        """Whether a principal has uploaded a file or was given it."""
        if record.uploader == principal:
            return True
        return await self._store.get("file_grant", principal, record.file_id) is not None

    def grant(self, principal: str, file_id: str) -> Op:
        """What lets a principal read a file: the agent that it was sent to, the caller it was returned to."""
        return Put("file_grant", principal, file_id, b"", None, self._clock.now() + self.rules.file_ttl_s)

    async def give(self, principal: str, file_ids: Iterable[str]) -> None:
        """Let a principal read these files, from now on.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        await self._store.tx([self.grant(principal, file_id) for file_id in file_ids])

    async def extend(self, record: FileRecord, until: float) -> FileRecord:
        """Keep a file at least `until` (Unix seconds): somebody was promised it for so long.

        Raises:
            StoreUnavailable: the store cannot be written.
        """
        for _ in range(MAX_TRIES):
            stored = await self._stored(record.file_id)
            if stored is None or (current := decode_file(stored.value)).expires_at >= until:
                return record
            longer = msgspec.structs.replace(current, expires_at=until)
            with suppress(StoreConflict):
                await self._store.tx(
                    [_put(longer, stored.version), Enqueue(EXPIRING_FILES, record.file_id, until, b"")]
                )
                return longer
        return record

    async def remove(self, identity: Identity, file_id: str) -> None:
        """Forget a file, for its owner and for who uploaded it; links to it lead nowhere from then on.

        Raises:
            FileNotFound: there is none for this identity.
            StoreUnavailable: store or blobs cannot be written.
        """
        stored = await self._stored(file_id)
        record = None if stored is None else decode_file(stored.value)
        if stored is None or record is None or record.expires_at <= self._clock.now():
            raise _not_found(file_id)
        if record.uploader != identity.principal and not (identity.kind == "oag" and record.owner == identity.owner):
            raise _not_found(file_id)
        await self._forget(record, stored.version)

    def content(self, record: FileRecord, start: int = 0, end: int | None = None) -> AsyncGenerator[bytes]:
        """The content of an uploaded file, or a part of it.

        Raises:
            BlobNotFound, StoreUnavailable: as `Blobs.open`.
        """
        return self._blobs.open(record.blob or "", start, end)

    async def page(self, owner: str, after: str, limit: int) -> tuple[list[FileRecord], bool]:
        """An owner's uploaded files after the one with the id `after`, the oldest first; and whether there are more.

        Raises:
            StoreUnavailable: the store cannot be read.
        """
        found: list[FileRecord] = []
        while rows := await self._store.scan(OWNED, owner, after, limit + 1):
            for row in rows:
                record = await self.find(row.key)
                if record is not None:
                    found.append(record)
                if len(found) > limit:
                    return found[:limit], True
            after = rows[-1].key
        return found, False

    async def stored_bytes(self, owner: str) -> int:
        """What an owner's files take together."""
        return (await self._usage(owner))[0]

    async def keep(self) -> None:
        """Forget what has expired, now and then, until cancelled."""
        while True:
            await anyio.sleep(SWEEP_EVERY_S)
            try:
                await self.sweep()
            except ToolwireError as error:
                logger.warning("cannot sweep expired files: %s", error.message)

    async def sweep(self) -> None:
        """Forget the files that have expired, and those that were announced and never uploaded.

        Raises:
            StoreUnavailable: store or blobs cannot be written; what is left goes the next time.
        """
        while due := await self._store.claim(EXPIRING_FILES, "files", FILES_AT_ONCE, LEASE_S):
            for entry in due:
                await self._expire(entry)

    async def _expire(self, entry: Leased) -> None:
        stored = await self._stored(entry.id)
        if stored is None:
            await self._store.tx([Ack(EXPIRING_FILES, entry.id)])
            return
        record = decode_file(stored.value)
        if record.expires_at > self._clock.now():  # it was uploaded or extended meanwhile
            await self._store.tx([Enqueue(EXPIRING_FILES, entry.id, record.expires_at, b"")])
            return
        await self._forget(record, stored.version)

    async def _forget(self, record: FileRecord, version: int) -> None:
        gone: list[Op] = [
            Del("file", "", record.file_id, expect=version),
            Del(OWNED, record.owner, record.file_id),
            Ack(EXPIRING_FILES, record.file_id),
        ]
        for _ in range(MAX_TRIES):
            ops = gone
            if record.blob is not None:  # the blob goes by its own queue, so that a crash in between leaves nothing
                ops = [*gone, *await self._counted(record.owner, -record.size)]
                ops.append(Enqueue(EXPIRING_BLOBS, record.blob, self._clock.now(), b""))
            try:
                await self._store.tx(ops)
            except StoreConflict:
                current = await self._stored(record.file_id)
                if current is None or current.version != version:
                    return
                continue
            if record.blob is not None:
                await self._blobs.delete(record.blob)
            return
        raise StoreUnavailable(f"the files of owner {record.owner!r} change too fast; try again later")

    async def _awaiting(self, file_id: str) -> tuple[FileRecord, int]:
        stored = await self._stored(file_id)
        record = None if stored is None else decode_file(stored.value)
        if stored is None or record is None or record.expires_at <= self._clock.now():
            raise _not_found(file_id)
        if record.blob is not None:
            raise Conflict(f"file {file_id!r} is uploaded already; ask for another upload_url for another file")
        return record, stored.version

    async def _keep(self, record: FileRecord, version: int) -> None:
        """Commit a file whose content is written, and count it."""
        assert record.blob is not None
        for _ in range(MAX_TRIES):
            counted = await self._counted(record.owner, record.size)
            due = Enqueue(EXPIRING_FILES, record.file_id, record.expires_at, b"")
            try:
                listed = Put(OWNED, record.owner, record.file_id, b"")
                await self._store.tx([_put(record, version), listed, *counted, due, Ack(EXPIRING_BLOBS, record.blob)])
                return
            except StoreConflict:
                current = await self._stored(record.file_id)
                if version and (current is None or current.version != version):
                    raise Conflict(f"file {record.file_id!r} was uploaded by another request meanwhile") from None
        raise StoreUnavailable(f"the files of owner {record.owner!r} change too fast; try again later")

    async def _discard(self, blob: str) -> None:
        """Remove the content of a file that came to nothing; if that fails, the queue still has it."""
        with anyio.CancelScope(shield=True), suppress(StoreUnavailable):
            await self._blobs.delete(blob)
            await self._store.tx([Ack(EXPIRING_BLOBS, blob)])

    async def _limited(self, owner: str, pieces: AsyncIterable[bytes], declared: int) -> "Arriving":
        room = max(0, self.rules.owner_files_limit_bytes - await self.stored_bytes(owner))
        limited = Arriving(pieces, self.rules.file_limit_bytes, room, self._arriving, owner)
        limited.check(declared)
        return limited

    async def _counted(self, owner: str, change: int) -> list[Op]:
        used, version = await self._usage(owner)
        if change > 0 and used + change > self.rules.owner_files_limit_bytes:
            raise no_room(self.rules.owner_files_limit_bytes)
        return [Put("file_usage", owner, "bytes", b"%d" % max(0, used + change), version)]

    async def _usage(self, owner: str) -> tuple[int, int]:
        stored = await self._store.get("file_usage", owner, "bytes")
        return (0, 0) if stored is None else (int(stored.value), stored.version)

    async def _stored(self, file_id: str) -> Stored | None:
        return await self._store.get("file", "", file_id)


async def _one(data: bytes) -> AsyncGenerator[bytes]:
    yield data


def _put(record: FileRecord, expect: int) -> Put:
    return Put("file", "", record.file_id, encode_file(record), expect=expect)


def _not_found(file_id: str) -> FileNotFound:
    return FileNotFound(f"no file {file_id[:128]!r} of yours; upload it first, with an upload_url")
