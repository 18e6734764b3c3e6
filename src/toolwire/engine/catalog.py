"""The tools that one endpoint offers, each with everything a call needs prepared; it does not run them."""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from toolwire.core.errors import InvalidArguments, InvalidParam, ToolNotFound
from toolwire.core.handler import Delegate, Handler, Provider, is_prompt, may_ask
from toolwire.core.jsontypes import JsonObject
from toolwire.core.schema import Validator
from toolwire.core.tool import Tool

CompileSchema = Callable[[JsonObject], Validator]
"""Builds a validator once per tool.

Raises:
    InvalidParam: the schema itself is not usable.
"""

MAX_SHOWN_VIOLATIONS = 8


class Entry:
    """One tool, ready to be called: built once, so that a call only looks it up."""

    __slots__ = ("delegate", "handler", "is_prompt", "listing", "may_ask", "provider", "tool", "validator")

    def __init__(
        self,
        tool: Tool,
        provider: Provider,
        validator: Validator,
        delegate: Delegate | None = None,
        handler: Handler | None = None,
    ) -> None:
        self.tool = tool
        self.provider = provider
        self.delegate = delegate
        self.validator = validator
        self.handler: Handler = handler or provider.call
        self.is_prompt = is_prompt(self.handler)
        self.may_ask = may_ask(self.handler)
        self.listing = msgspec.json.encode(tool.listed())

    def serves(self, tool: Tool, provider: Provider, delegate: Delegate | None) -> bool:
        """Whether this is the very entry that would be built for these."""
        return self.tool == tool and self.provider is provider and self.delegate is delegate

    def check(self, arguments: JsonObject) -> JsonObject:
        """Check arguments before anybody sees them; what comes back is what the provider gets.

        A text is decoded where the schema refuses it and takes what it holds: models write `"3"` for `3` (mcp.md S27).
        Of a tool that is strict it is not.

        Raises:
            InvalidArguments: with `param` (the first wrong path) and `violations` in its data.
        """
        found = self.validator.check(arguments)
        if not found:
            return arguments
        repaired = None if self.tool.strict else self.validator.repaired(arguments)
        if repaired is not None:
            return repaired
        shown = found[:MAX_SHOWN_VIOLATIONS]
        words = "; ".join(f"{v.path or '(arguments)'}: {v.message}" for v in shown)
        raise InvalidArguments(
            f"arguments of {self.tool.name!r} do not fit its inputSchema: {words}",
            param="arguments" + shown[0].path,
            violations=[{"path": v.path, "message": v.message} for v in shown],
        )


class Catalog:
    """Tools by name, in the order in which they were offered.

    Attributes:
        version: rises with every change.
        key_ttl_s: how long a key of a call of theirs stands for it; `None` for as long as the engine's limits say.
    """

    def __init__(self, compile_schema: CompileSchema) -> None:
        self._compile = compile_schema
        self._entries: dict[str, Entry] = {}
        self._listing: bytes | None = None
        self.version = 0
        self.key_ttl_s: float | None = None

    def replace(
        self,
        tools: Iterable[Tool],
        provider: Provider,
        delegate: Delegate | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> bool:
        """Offer exactly `tools`; says whether a reader of the list would notice.

        Nothing changes when a schema cannot be compiled or a name stands twice.

        Args:
            tools: what is offered.
            provider: who runs their calls.
            delegate: the same, where it hands them on.
            handlers: by tool, what the provider would do with a call; without one it is asked each time.

        Raises:
            InvalidParam: a schema is not usable, or two tools have one name; `param` names the tool.
        """
        entries: dict[str, Entry] = {}
        for tool in tools:
            if tool.name in entries:
                raise InvalidParam(f"two tools are named {tool.name!r}; rename one of them", param=tool.name)
            known = self._entries.get(tool.name)
            asks = may_ask((handlers or {}).get(tool.name) or provider.call)
            if known is not None and known.may_ask == asks and known.serves(tool, provider, delegate):
                entries[tool.name] = known
            else:
                entries[tool.name] = Entry(
                    tool, provider, self._compile(tool.input_schema), delegate, (handlers or {}).get(tool.name)
                )
        changed = [e.listing for e in entries.values()] != [e.listing for e in self._entries.values()]
        self._entries = entries
        self._listing = None
        if changed:
            self.version += 1
        return changed

    def get(self, name: str) -> Entry | None:
        """The entry of a tool, or `None`."""
        return self._entries.get(name)

    def find(self, name: str) -> Entry:
        """The entry of a tool.

        Raises:
            ToolNotFound: nothing is offered under that name.
        """
        entry = self._entries.get(name)
        if entry is None:
            raise ToolNotFound(f"no tool is named {name!r} here; tools/list names what there is", param="name")
        return entry

    def listing(self) -> bytes:
        """The JSON array of all definitions, kept as bytes until the catalogue changes."""
        if self._listing is None:
            self._listing = b"[" + b",".join(entry.listing for entry in self._entries.values()) + b"]"
        return self._listing

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)
