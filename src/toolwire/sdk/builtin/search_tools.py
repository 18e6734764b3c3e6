"""`Glob` and `Grep`: what they are asked, in the words of the search, and its reply in words for the model."""

import os
from typing import Any

from toolwire.sdk.builtin.calling import told
from toolwire.sdk.builtin.isolated.parent import NoReply, reply_to
from toolwire.sdk.builtin.isolated.request import FilterRequest, GlobRequest, GrepRequest, Reply, Target
from toolwire.sdk.builtin.services import Services
from toolwire.sdk.builtin.specs import GLOB, GREP
from toolwire.sdk.builtin.workspace import Workspace, shortened
from toolwire.sdk.context import ToolContext
from toolwire.sdk.result import ToolError, ToolResult
from toolwire.sdk.tool import tool

MAX_FILES = 250
"""Files that Glob names."""

HEAD_LIMIT = 250
BUDGET_S = 20.0
"""A search that has not seen everything by then tells what it has found."""


class SearchTools:
    """The two tools over one workspace."""

    def __init__(self, workspace: Workspace, services: Services) -> None:
        self._workspace = workspace
        del services  # a search remembers nothing

    @tool(**GLOB)
    async def glob(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Find files by name."""
        del ctx
        pattern, path = arguments["pattern"], arguments.get("path")
        with told("Glob", path or "."):
            _check_glob(pattern)
            target = self._directory(path)
            reply = await asked(GlobRequest(target, pattern, MAX_FILES, BUDGET_S))
        return _result(reply, "no files found")

    @tool(**GREP)
    async def grep(self, arguments: dict[str, Any], ctx: ToolContext) -> ToolResult:
        """Find lines in files."""
        del ctx
        path = arguments.get("path")
        with told("Grep", path or "."):
            request = _grep_request(arguments, self._target(path))
            reply = await asked(request)
        nothing = "no matches found" if request.offset == 0 else f"no further matches after offset={request.offset}"
        return _result(reply, nothing)

    def _directory(self, path: str | None) -> Target:
        target = self._target(path)
        if not os.path.isdir(target.path):
            raise ToolError(f"{shortened(path or '.')} is not a directory; give the directory to search")
        return target

    def _target(self, path: str | None) -> Target:
        real = os.path.realpath(self._workspace.locate(path)) if path is not None else self._workspace.root
        if not os.path.exists(real):
            raise FileNotFoundError
        shown = self._workspace.shown(real)
        return Target(real, "" if shown == "." else shown)


async def asked(request: GlobRequest | GrepRequest | FilterRequest) -> Reply:
    """The reply of a search that could be done.

    Raises:
        ToolError: it could not; the text says what to change.
    """
    try:
        reply = await reply_to(request)
    except NoReply as error:
        raise ToolError(
            f"{error}; a pattern with nested repetitions can take for ever: make it simpler, or search less"
        ) from None
    if reply.error:
        raise ToolError(reply.error)
    return reply


def _check_glob(pattern: str) -> None:
    if not pattern.strip():
        raise ToolError("the pattern is empty; use '**/*' for all files")
    if "\0" in pattern:
        raise ToolError("the pattern has a NUL character in it; remove it")
    if pattern.startswith("/"):
        raise ToolError(f"the pattern {shortened(pattern)} begins with /; give the directory as path instead")
    if ".." in pattern.split("/"):
        raise ToolError(f"the pattern {shortened(pattern)} has .. in it; give the directory as path instead")


def _grep_request(arguments: dict[str, Any], target: Target) -> GrepRequest:
    around = arguments.get("-C", arguments.get("context", 0))
    if not arguments["pattern"]:
        raise ToolError("the pattern is empty; give what to look for")
    return GrepRequest(
        target=target,
        pattern=arguments["pattern"],
        show=arguments.get("output_mode", "files_with_matches"),
        glob=arguments.get("glob"),
        file_type=arguments.get("type"),
        ignore_case=arguments.get("-i", False),
        numbers=arguments.get("-n", True),
        only_matching=arguments.get("-o", False),
        unrestricted=arguments.get("-u", False),
        before=arguments.get("-B", around),
        after=arguments.get("-A", around),
        head_limit=arguments.get("head_limit", HEAD_LIMIT),
        offset=arguments.get("offset", 0),
        multiline=arguments.get("multiline", False),
        budget_s=BUDGET_S,
    )


def _result(reply: Reply, nothing: str) -> ToolResult:
    lines = reply.lines or [nothing]
    return ToolResult(success=True, output="\n".join([*lines, *(f"({note})" for note in reply.notes)]))
