"""REST: files by `oag_`, `bak_` and `agk_` keys, and their contents by signed addresses; it keeps nothing.

Spec: gateway.md 22-24, D14, D15.
"""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from toolwire.core.errors import FileNotFound, UnsupportedMediaType
from toolwire.core.jsontypes import JsonObject
from toolwire.core.ports import Clock
from toolwire.gateway.file_answers import content_answer
from toolwire.gateway.file_record import FileRecord, check_content_type, check_filename
from toolwire.gateway.files import Files
from toolwire.gateway.rest import Reader
from toolwire.surfaces.described import Answers, Described, described, marked, query
from toolwire.surfaces.rest import answer, body_pieces, done, query_number
from toolwire.wire.answers.files import AnnouncedFile, File, FilePage, UploadedFile
from toolwire.wire.rest import rfc3339

MAX_LISTED: Final = 1000
LISTED: Final = 100
SIGNED = (query("expires", "as the address has it"), query("signature", "as the address has it"))


class NewFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The body of `POST /api/v1/files/presign-upload`."""

    filename: str
    content_type: str


class FileRoutes:
    """The routes of files.

    Args:
        reader: reads requests.
        files: all files.
        clock: wall time.
    """

    def __init__(self, reader: Reader, files: Files, clock: Clock) -> None:
        self._reader = reader
        self._files = files
        self._clock = clock

    def routes(self) -> Sequence[Route]:
        """What to mount."""
        return (
            Route("/api/v1/files", self.list, methods=["GET"]),
            Route("/api/v1/files/presign-upload", self.presign, methods=["POST"]),
            Route("/api/v1/files/{file}", self.show, methods=["GET"]),
            Route("/api/v1/files/{file}", self.remove, methods=["DELETE"]),
            Route("/api/v1/files/{file}/content", self.upload, methods=["PUT"]),
            Route("/api/v1/files/{file}/content", self.download, methods=["GET"]),
        )

    @described(
        "oag",
        FilePage,
        parameters=(
            query("after", "only files after the one with this id"),
            query("limit", "how many", Annotated[int, Meta(ge=1, le=MAX_LISTED)]),
        ),
    )
    async def list(self, request: Request) -> Response:
        """The owner's uploaded files, the oldest first, and how much room they take."""
        owner = self._reader.identify(request, "oag").owner
        limit = query_number(request, "limit", LISTED, 1, MAX_LISTED)
        records, more = await self._files.page(owner, request.query_params.get("after", ""), limit)
        return answer(
            {
                "files": [_shown(record) for record in records],
                "more": more,
                "stored_bytes": await self._files.stored_bytes(owner),
                "limit_bytes": self._files.rules.owner_files_limit_bytes,
            }
        )

    @described("oag bak agk", AnnouncedFile, body=NewFile, errors="conflict")
    async def presign(self, request: Request) -> Response:
        """Announce a file; whoever has the `upload_url` may upload it, once."""
        identity = self._reader.identify(request, "oag", "bak", "agk")
        body = await self._reader.body(request, NewFile)
        check_filename(body.filename, "filename")
        check_content_type(body.content_type, "content_type")
        record = await self._files.announce(identity.owner, identity.principal, body.filename, body.content_type)
        rules, now = self._files.rules, self._clock.now()
        return answer(
            {
                "file_id": record.file_id,
                "filename": record.filename,
                "content_type": record.content_type,
                "upload_url": self._url(request, "PUT", record.file_id, record.expires_at),
                "upload_expires_in": int(rules.upload_url_ttl_s),
                "download_url": self._url(request, "GET", record.file_id, now + rules.download_url_ttl_s),
                "download_expires_in": int(rules.download_url_ttl_s),
                "max_bytes": rules.file_limit_bytes,
            }
        )

    @described("oag bak agk", File)
    async def show(self, request: Request) -> Response:
        """What is known of a file, with a fresh `download_url`."""
        identity = self._reader.identify(request, "oag", "bak", "agk")
        record = await self._files.readable(identity, str(request.path_params["file"]))
        expires_at = min(self._clock.now() + self._files.rules.download_url_ttl_s, record.expires_at)
        shown = _shown(record)
        shown["download_url"] = self._url(request, "GET", record.file_id, expires_at)
        shown["download_expires_in"] = int(expires_at - self._clock.now())
        return answer(shown)

    @described("oag bak agk")
    async def remove(self, request: Request) -> Response:
        """Forget a file, which makes room for others."""
        identity = self._reader.identify(request, "oag", "bak", "agk")
        await self._files.remove(identity, str(request.path_params["file"]))
        return done()

    @marked(
        Described(
            UploadedFile,
            200,
            body=bytes,
            body_media="*/*",
            parameters=SIGNED,
            errors=("forbidden", "conflict", "payload_too_large", "unsupported_media_type"),
        )
    )
    async def upload(self, request: Request) -> Response:
        """Take the content; the address is the credential."""
        file_id = self._checked(request)
        record = await self._files.announced(file_id)
        sent = request.headers.get("content-type", "").strip()
        if sent != record.content_type:
            raise UnsupportedMediaType(
                f"Content-Type is {sent[:80]!r}; send the one that was announced, {record.content_type!r}"
            )
        if request.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
            raise UnsupportedMediaType("compressed bodies are not taken; send the file without Content-Encoding")
        declared = request.headers.get("content-length", "")
        size = int(declared) if declared.isascii() and declared.isdigit() and len(declared) < 19 else None
        return answer(_shown(await self._files.upload(file_id, body_pieces(request), size)))

    @marked(
        Described(
            parameters=SIGNED,
            errors=("forbidden",),
            others={
                200: Answers("the content", {"*/*": None}),
                206: Answers("the part of the content that Range asks for", {"*/*": None}),
                416: Answers("the content has no such part"),
            },
            enveloped=False,
        )
    )
    async def download(self, request: Request) -> Response:
        """Give the content; the address is the credential."""
        file_id = self._checked(request)
        record = await self._files.find(file_id)
        if record is None:
            raise FileNotFound(f"no file {file_id!r} any more; it was not uploaded, was removed, or has expired")
        return await content_answer(self._files, record, request)

    def _checked(self, request: Request) -> str:
        file_id, query = str(request.path_params["file"]), request.query_params
        self._files.links.check(request.method, file_id, query.get("expires", ""), query.get("signature", ""))
        return file_id

    def _url(self, request: Request, method: str, file_id: str, expires_at: float) -> str:
        """An address; without a `public_url` it is where this request came to."""
        url = self._files.links.url(method, file_id, expires_at)
        return url if "://" in url else f"{request.url.scheme}://{request.url.netloc}{url}"


def _shown(record: FileRecord) -> JsonObject:
    return {
        "file_id": record.file_id,
        "filename": record.filename,
        "content_type": record.content_type,
        "size": record.size,
        "created_at": rfc3339(record.created_at),
        "expires_at": rfc3339(record.expires_at),
    }
