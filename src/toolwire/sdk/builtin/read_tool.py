"""`Read`: a file of any kind that a model can look at, from anywhere on this machine; it changes nothing."""

import errno
import os
import stat
from typing import Any, BinaryIO

from toolwire.sdk.builtin.calling import told
from toolwire.sdk.builtin.diffing import numbered
from toolwire.sdk.builtin.fence import MAX_BYTES
from toolwire.sdk.builtin.services import Services
from toolwire.sdk.builtin.specs import READ
from toolwire.sdk.builtin.textfile import MAX_LINES, SNIFFED_BYTES, Window, decode, is_text, window_of, window_of_file
from toolwire.sdk.builtin.workspace import Workspace, shortened
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.tool import tool

MAX_IMAGE_BYTES = 5 * 1024 * 1024
"""What models take of one picture."""

MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


class ReadTool:
    """The tool over one workspace."""

    def __init__(self, workspace: Workspace, services: Services) -> None:
        self._workspace = workspace
        self._services = services

    @tool(**READ)
    def read(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Show a file."""
        path = arguments["file_path"]
        with told("Read", path):
            real = os.path.realpath(self._workspace.locate(path))
            with _opened(real, path) as file:
                head = file.read(SNIFFED_BYTES)
                file.seek(0)
                kind = image_type(head)
                if kind:
                    return _image(file, path, kind, ctx)
                if head.startswith(b"%PDF-"):
                    return self._pdf(file, path, arguments, ctx)
                if not is_text(head):
                    raise ToolError(f"{shortened(path)} is a binary file; look at it with a command in Bash")
                if real.endswith(".ipynb") and not arguments.keys() & {"offset", "limit"}:
                    return self._notebook(file, real, path, ctx)
                return self._text(file, real, arguments, ctx)

    def _text(self, file: BinaryIO, real: str, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        offset, limit = arguments.get("offset", 1), arguments.get("limit", MAX_LINES)
        body = file.read(MAX_BYTES + 1)
        if len(body) > MAX_BYTES:
            file.seek(0)
            window, exact = window_of_file(file, offset, limit), True
        else:
            self._services.task(ctx).reads.note(real, body)
            decoded = decode(body)
            window, exact = window_of(decoded.text, offset, limit), decoded.exact
        return ToolResult(success=True, output=_shown(window, arguments["file_path"], exact))

    def _notebook(self, file: BinaryIO, real: str, path: str, ctx: ToolContext) -> ToolResult:
        from toolwire.sdk.builtin.notebook import NotANotebook, read_notebook  # noqa: PLC0415 - seldom needed

        body = _whole(file, path)
        self._services.task(ctx).reads.note(real, body)
        try:
            notebook = read_notebook(body)
        except NotANotebook as error:
            raise ToolError(f"{shortened(path)} is not a Jupyter notebook: {error}; read it with offset=1") from None
        images = [ctx.artifact_store.put(picture, media_type=kind) for picture, kind in notebook.pictures]
        return ToolResult(success=True, output=notebook.text, images=images)

    def _pdf(self, file: BinaryIO, path: str, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        from toolwire.sdk.builtin.pdf import UnreadablePdf, read_pdf  # noqa: PLC0415 - seldom needed

        try:
            pages = read_pdf(_whole(file, path), arguments.get("pages"))
        except UnreadablePdf as error:
            raise ToolError(f"{shortened(path)}: {error}") from None
        images = [ctx.artifact_store.put(page.picture, media_type="image/png") for page in pages]
        text = "\n\n".join(f"--- page {page.number} of {page.total} ---\n{page.text}" for page in pages)
        return ToolResult(success=True, output=text, images=images)


def image_type(head: bytes) -> str | None:
    """The media type of a picture that models can see, by how it begins; `None` for anything else."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head.startswith(b"RIFF") and head[8:12] == b"WEBP" else None


def _opened(real: str, path: str) -> BinaryIO:
    """The regular file at `real`; what would block or never end is not opened for reading."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
    try:
        _check_kind(os.stat(real), path)  # to open a device may be to wait for it
        file = os.open(real, flags)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ToolError(f"{shortened(path)} is a symbolic link that leads to itself") from None
        raise
    try:
        _check_kind(os.fstat(file), path)  # it may have been replaced since
    except ToolError:
        os.close(file)
        raise
    return os.fdopen(file, "rb")


def _check_kind(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(f"{shortened(path)} is a directory; list it with Glob")
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(f"{shortened(path)} is not a regular file; name another one")


def _whole(file: BinaryIO, path: str) -> bytes:
    body = file.read(MAX_DOCUMENT_BYTES + 1)
    if len(body) > MAX_DOCUMENT_BYTES:
        raise ToolError(f"{shortened(path)} is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB; take a part with Bash")
    return body


def _image(file: BinaryIO, path: str, kind: str, ctx: ToolContext) -> ToolResult:
    body = file.read(MAX_IMAGE_BYTES + 1)
    if len(body) > MAX_IMAGE_BYTES:
        raise ToolError(f"{shortened(path)} is larger than {MAX_IMAGE_BYTES // 2**20} MiB; make it smaller with Bash")
    ref = ctx.artifact_store.put(body, media_type=kind)
    return ToolResult(success=True, output=f"{path}: a picture, {kind}, {len(body)} bytes", images=[ref])


def _shown(window: Window, path: str, exact: bool) -> str:
    """The lines, and below them what the model should know about them."""
    if window.total == 0:
        return f"({path} is empty)"
    if not window.lines:
        count = f" has {window.total} lines" if window.total is not None else " ends before that"
        raise ToolError(f"line {window.first} is past the end: {shortened(path)}{count}; use a smaller offset")
    notes: list[str] = []
    last = window.next - 1
    if window.first > 1 or window.total is None or last < window.total:
        total = "" if window.total is None else f" of {window.total} total lines"
        onward = "" if window.total is not None and last >= window.total else f" Use offset={window.next} to go on."
        notes.append(f"(Showing lines {window.first}-{last}{total}.{onward})")
    if not exact:
        notes.append("(The file is not valid text in its encoding; \ufffd stands for what could not be read.)")
    text = numbered(window.lines, window.first)
    return "\n\n".join([text, *notes])
