"""`Edit` and `Write`: changes to files in the workspace, applied at once and as a whole; approval is not their part."""

import re
import threading
from typing import Any

from toolwire.sdk.builtin.calling import told
from toolwire.sdk.builtin.diffing import lines_of, snippet, unified
from toolwire.sdk.builtin.fence import MAX_BYTES, Current, Place, open_place, read_current, replace
from toolwire.sdk.builtin.reads import FileReads
from toolwire.sdk.builtin.services import Services
from toolwire.sdk.builtin.specs import EDIT, WRITE
from toolwire.sdk.builtin.textfile import Decoded, decode, is_text
from toolwire.sdk.builtin.workspace import Workspace, shortened
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.tool import tool

DIFF = "text/x-diff"
MAX_NAMED = 10
"""Places that an error names when a text is found more than once."""

_LINE_NUMBER = re.compile(r"^ *\d+\t", re.MULTILINE)


class EditTools:
    """The two tools over one workspace; changes of one client come one after the other."""

    def __init__(self, workspace: Workspace, services: Services) -> None:
        self._workspace = workspace
        self._services = services
        self._lock = threading.Lock()

    @tool(**EDIT)
    def edit(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Replace a piece of text in a file."""
        path, old, new = arguments["file_path"], arguments["old_string"], arguments["new_string"]
        reads = self._services.task(ctx).reads
        with told("Edit", path), self._lock:
            _check_strings(old, new)
            with open_place(self._workspace, path, create=False) as place:
                current = read_current(place, path)
                if current is None:
                    raise FileNotFoundError
                _check_seen(reads, place, path, current)
                decoded = _editable(path, current)
                after, count = _replaced(decoded.text, old, new, arguments.get("replace_all", False))
                body = _encoded(decoded, after)
                replace(place, path, body, current)
                reads.note(place.real, body)
                shown = self._workspace.shown(place.real)
                times = "" if count == 1 else f" in {count} places"
                text = f"{shown} was changed{times}:\n{snippet(decoded.text, after)}"
                return _result(ctx, shown, "edit", text, (decoded.text, after))

    @tool(**WRITE)
    def write(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Create a file, or replace all of an existing one."""
        path, content = arguments["file_path"], arguments["content"]
        reads = self._services.task(ctx).reads
        with told("Write", path), self._lock:
            body = _utf8(content)
            with open_place(self._workspace, path, create=True) as place:
                current = read_current(place, path)
                if current is not None:
                    _check_seen(reads, place, path, current)
                replace(place, path, body, current)
                reads.note(place.real, body)
                shown = self._workspace.shown(place.real)
                before = "" if current is None else decode(current.body).text
                done = "was created" if current is None else "was replaced"
                lines = len(lines_of(content))
                text = f"{shown} {done}: {lines} {'line' if lines == 1 else 'lines'}, {len(body)} bytes"
                return _result(ctx, shown, "create" if current is None else "replace", text, (before, content))


def _result(ctx: ToolContext, shown: str, kind: str, text: str, versions: tuple[str, str]) -> ToolResult:
    diff = unified(shown, *versions)
    change = {"path": shown, "kind": kind, "added": diff.added, "removed": diff.removed}
    artifacts = [ctx.artifact_store.put(diff.text.encode("utf-8", "replace"), media_type=DIFF)] if diff.text else []
    summary = f"{shown} +{diff.added} -{diff.removed}"
    return ToolResult(success=True, output=text, summary=summary, artifacts=artifacts, file_changes=[change])


def _check_strings(old: str, new: str) -> None:
    if not old:
        raise ToolError("old_string is empty; give the text to replace, or use Write to create a file")
    if old == new:
        raise ToolError("old_string and new_string are the same; nothing would change")


def _check_seen(reads: FileReads, place: Place, path: str, current: Current) -> None:
    if not reads.knows(place.real):
        raise ToolError(f"{shortened(path)} was not read yet; Read it first, then try again")
    if not reads.is_current(place.real, current.body):
        raise ToolError(f"{shortened(path)} has changed since it was read; Read it again, then try again")


def _editable(path: str, current: Current) -> Decoded:
    decoded = decode(current.body) if is_text(current.body) else None
    if decoded is None or not decoded.exact:
        raise ToolError(f"{shortened(path)} is not a text in UTF-8 or UTF-16; change it with a command in Bash")
    return decoded


def _replaced(text: str, old: str, new: str, everywhere: bool) -> tuple[str, int]:
    if "\r\n" not in text:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    found = _positions(text, old)
    if not found:
        raise ToolError(f"old_string is not in the file; nothing was changed.{_hint(text, old)}")
    if len(found) > 1 and not everywhere:
        named = ", ".join(str(text.count("\n", 0, at) + 1) for at in found[:MAX_NAMED])
        more = ", …" if len(found) > MAX_NAMED else ""
        times = f"more than {MAX_NAMED}" if more else str(len(found))
        raise ToolError(
            f"old_string is in the file {times} times (in lines {named}{more}); nothing was changed. Give "
            "more of the text around the one you mean, or set replace_all"
        )
    return text.replace(old, new), text.count(old)


def _positions(text: str, old: str) -> list[int]:
    """The first places where `old` begins, overlapping ones too: which is meant is not clear with those either."""
    found: list[int] = []
    at = text.find(old)
    while at != -1 and len(found) <= MAX_NAMED:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _hint(text: str, old: str) -> str:
    """Why `old` may not have been found."""
    bare = _LINE_NUMBER.sub("", old)
    if bare != old and bare in text:
        return " It is without the line numbers at the beginning of its lines: leave them out"
    wanted = [" ".join(line.split()) for line in old.strip().split("\n")]
    lines = [" ".join(line.split()) for line in text.split("\n")]
    for at in range(len(lines) - len(wanted) + 1):
        if lines[at] == wanted[0] and lines[at : at + len(wanted)] == wanted:
            return f" Line {at + 1} differs from it in whitespace only: copy the text exactly as Read shows it"
    return " Read the file again and copy the text exactly"


def _encoded(decoded: Decoded, text: str) -> bytes:
    try:
        body = decoded.encode(text)
    except UnicodeEncodeError:
        raise ToolError("new_string has characters that cannot be written (lone surrogates); remove them") from None
    return _small(body)


def _utf8(content: str) -> bytes:
    try:
        return _small(content.encode())
    except UnicodeEncodeError:
        raise ToolError("content has characters that cannot be written (lone surrogates); remove them") from None


def _small(body: bytes) -> bytes:
    if len(body) > MAX_BYTES:
        raise ToolError(f"the file would have {len(body)} bytes and the limit is {MAX_BYTES}; write it with Bash")
    return body
