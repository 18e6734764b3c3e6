"""One remote server's tools as an agent's: named, graded, pinned to the definition that was shown; it keeps no others.

A definition is part of what a person or a rule agreed to. A call is refused when the tool is not any more what the
model was shown at the start of the turn, and a tool whose definition has changed is no longer "low".
"""

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import anyio
import msgspec
from anyio.abc import TaskGroup
from msgspec import Struct

from toolwire.core.call import Call, Caller
from toolwire.core.errors import ConsentRequired
from toolwire.core.event import Event, Progress
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result
from toolwire.core.tool import Tool
from toolwire.providers.remote import RemoteProvider
from toolwire.providers.remote_server import Patience
from toolwire.sdk.context import ToolContext
from toolwire.sdk.options import RemoteTool
from toolwire.sdk.remote.home import Home
from toolwire.sdk.remote.result import tool_result
from toolwire.sdk.remote.specs import TOOLBOX, McpSpec, full_name
from toolwire.sdk.result import ToolResult
from toolwire.sdk.tool import DecoratedTool, tool

LOGGER = logging.getLogger("toolwire.sdk")

MAX_DEFINITION_BYTES = 64 * 2**10
"""A tool whose definition is longer is not offered: it would stand in every request to the model."""
MAX_LISTED = 10
"""Changed and left-out tools that a record names one by one."""
MIN_PIN_CHARS = 16
SHOWN_DIGEST_CHARS = 16
CALLER = Caller(principal="local", owner="local", surface="sdk")


class Offer(Struct, frozen=True):
    """One server's tools in a turn, and what is recorded of it: never a credential."""

    tools: Sequence[RemoteTool]
    record: JsonObject


class RemoteServer:
    """One server by its spec; all its methods are for the loop of `home`, where its connection is.

    `seen` has the digests of the alias's tools as they were last offered.
    """

    def __init__(self, spec: McpSpec, tasks: TaskGroup, patience: Patience, seen: dict[str, str], home: Home) -> None:
        self.spec = spec
        self._home = home
        self.source = "the toolbox" if spec.alias == TOOLBOX else f"MCP server {spec.alias!r}"
        self._provider = RemoteProvider(
            spec.server,
            tasks,
            self.source,
            msgspec.structs.replace(patience, connect_s=spec.connect_timeout_s, call_s=spec.call_timeout_s),
            spec.trust_annotations,
        )
        self._seen = seen
        self._changed: set[str] = set()
        self._made: dict[str, tuple[str, DecoratedTool]] = {}
        self._active = 0
        self._idle = anyio.Event()

    async def offer(self) -> Offer:
        """Its tools now.

        Raises:
            ServiceUnavailable: it cannot be reached.
        """
        listed = await self._provider.current()
        wanted = [each for each in listed if self.spec.tool_subset is None or each.name in self.spec.tool_subset]
        left_out = [
            {"tool": name[:100], "reason": "the server does not list it"}
            for name in self.spec.tool_subset or ()
            if all(name != each.name for each in listed)
        ]
        changed: list[JsonObject] = []
        tools: list[RemoteTool] = []
        for each in wanted:
            reason = self._unfit(each) or self._add(each, changed, tools)
            if reason is not None:
                left_out.append({"tool": each.name[:100], "reason": reason})
        return Offer(tools, self._record(tools, changed, left_out))

    async def aclose(self) -> None:
        """Close its connection; calls under way fail."""
        await self._provider.aclose()

    async def retire(self) -> None:
        """Close its connection once no call is under way."""
        while self._active:
            await self._idle.wait()
        await self.aclose()

    def _unfit(self, each: Tool) -> str | None:
        """Why a tool is not offered."""
        size = len(msgspec.json.encode(each.definition()))
        if size > MAX_DEFINITION_BYTES:
            return f"its definition has {size} bytes, more than {MAX_DEFINITION_BYTES}"
        if self.spec.pins is None:
            return None
        pin = dict(cast("Iterable[tuple[str, str]]", self.spec.pins)).get(each.name)
        if pin is None:
            return f"it is not pinned; its digest is {each.digest()}"
        if len(pin) < MIN_PIN_CHARS or not each.digest().startswith(pin.lower()):
            return f"its digest is {each.digest()} and not the pinned one"
        return None

    def _add(self, each: Tool, changed: list[JsonObject], tools: list[RemoteTool]) -> str | None:
        """Add the tool, made anew if its definition is new; or say why it cannot be one."""
        digest = each.digest()
        before = self._seen.get(each.name, digest)
        if before != digest:
            was, now = before[:SHOWN_DIGEST_CHARS], digest[:SHOWN_DIGEST_CHARS]
            LOGGER.warning(
                "%s has changed the definition of its tool %r: %s is now %s", self.source, each.name, was, now
            )
            changed.append({"tool": full_name(self.spec.alias, each.name), "was": was, "now": now})
            self._changed.add(each.name)
        made = self._made.get(each.name)
        if made is None or made[0] != digest:
            try:
                made = self._made[each.name] = digest, self._tool(each, digest)
            except (TypeError, ValueError) as error:
                return str(error)[:300]
        self._seen[each.name] = digest
        tools.append(RemoteTool(made[1], f"{self.source} (its tool {each.name[:100]!r})"))
        return None

    def _tool(self, each: Tool, digest: str) -> DecoratedTool:
        async def call(arguments: JsonObject, ctx: ToolContext) -> ToolResult:
            def emit(event: Event) -> None:
                if isinstance(event, Progress):
                    ctx.progress(event.message or "", event.progress, event.total)

            sent = Call(ctx.call_id, CALLER, each.name, arguments, ctx.deadline)
            relayed = self._home.relayed(emit)
            result = await self._home.run(lambda: self._call(sent, digest, relayed))
            return tool_result(result, ctx.artifact_store)

        risk = "medium" if each.risk_level == "low" and each.name in self._changed else each.risk_level
        return tool(
            call,
            name=full_name(self.spec.alias, each.name),
            version=each.version,
            input_schema=each.input_schema,
            risk_level=risk,
            description=each.description or f"The tool {each.name[:100]!r} of {self.source}.",
            timeout=self.spec.call_timeout_s,
            annotations=each.annotations,
        )

    async def _call(self, call: Call, digest: str, emit: Emit) -> Result:
        self._active += 1
        try:
            if (await self._provider.find(call.tool)).digest() != digest:
                raise ConsentRequired(
                    f"{self.source} has changed the definition of its tool {call.tool!r} since the turn began; "
                    "it was not called, and is offered anew in the next turn"
                )
            return await self._provider.call(call, emit)
        finally:
            self._active -= 1
            if not self._active:
                self._idle.set()
                self._idle = anyio.Event()

    def _record(self, tools: list[RemoteTool], changed: list[JsonObject], left_out: list[Any]) -> JsonObject:
        whole = hashlib.sha256()
        for entry in tools:
            whole.update(f"{entry.tool.name} {entry.tool.version}\n".encode())
        record: JsonObject = {
            "alias": self.spec.alias,
            **self._provider.about(),
            "tools": [entry.tool.name for entry in tools],
            "digest": whole.hexdigest()[:SHOWN_DIGEST_CHARS],
        }
        for key, entries in (("changed", changed), ("left_out", left_out)):
            if entries:
                record[key] = entries[:MAX_LISTED]
                if len(entries) > MAX_LISTED:
                    record[f"more_{key}"] = len(entries) - MAX_LISTED
        return record


def fitted(records: Sequence[JsonObject], max_bytes: int) -> list[JsonObject]:
    """The records, with tools counted rather than named where all together would be longer than `max_bytes`."""
    kept = list(records)
    if _size(kept) <= max_bytes:
        return kept
    kept = [{**record, "tools": len(record["tools"])} for record in kept]
    if _size(kept) <= max_bytes:
        return kept
    kept = [{key: record[key] for key in ("alias", "tools", "digest")} for record in kept]
    while _size(kept) > max_bytes:
        kept.pop()
    return kept


def _size(records: Sequence[Mapping[str, Any]]) -> int:
    return len(msgspec.json.encode(records))
