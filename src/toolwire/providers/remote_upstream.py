"""One MCP server as what an endpoint offers: its definitions pinned, each call in its caller's session.

It serves nothing itself, and checks no arguments: whoever offers its tools has done so.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence

import anyio
from msgspec import Struct
from msgspec.structs import replace

from toolwire.core.call import Call, Caller
from toolwire.core.change import Change, ListChanged, Listed
from toolwire.core.errors import ConsentRequired, InvalidParam, ToolNotFound, ToolwireError
from toolwire.core.handler import Emit, Handler, mark_asking
from toolwire.core.prompt import Prompt
from toolwire.core.result import Result
from toolwire.core.tool import Tool
from toolwire.providers.remote import RemoteProvider
from toolwire.providers.remote_library import RemoteLibrary
from toolwire.providers.remote_pins import PROMPT, Definition, Held, Judged, PinStore, judge, key_of, pin_of
from toolwire.providers.remote_pool import RemotePool
from toolwire.providers.remote_values import needs_tasks
from toolwire.providers.schema import compile_validator

LOGGER = logging.getLogger("toolwire.remote")

MAX_NAME_CHARS = 128
MAX_DIFF_CHARS = 2000
RENEW_S = 60.0
"""How old a list gets of whose changes the server does not tell, and how often a server that is away is tried."""


class About(Struct, frozen=True):
    """What a server says of itself; `offers` names what it has, such as "resources"."""

    name: str
    version: str
    protocol: str
    title: str | None = None
    instructions: str | None = None
    offers: frozenset[str] = frozenset()


class Upstream:
    """One server, as its tools may be shown and called.

    Args:
        pool: the sessions with it.
        pins: what has been accepted of its definitions.
        lister: in whose session the lists are fetched.
        hold_new: what appears later than the first is held until it is accepted.
        max_age_s: how old a list may be at a call, where the server does not tell of changes.

    Attributes:
        library: its resources, prompts and completions; `remote_offer` holds the prompts against their pins.
    """

    def __init__(
        self,
        pool: RemotePool,
        pins: PinStore,
        lister: Caller,
        *,
        hold_new: bool = False,
        max_age_s: float = RENEW_S,
    ) -> None:
        self.library = RemoteLibrary(pool.lease, pool.name)
        self._pool = pool
        self._store = pins
        self._lister = lister
        self._hold_new = hold_new
        self._max_age_s = max_age_s
        self._listed: Sequence[Definition] = ()
        self._judged = Judged((), {}, {})
        self._judging = anyio.Lock()
        self._news = anyio.Event()
        self._tell: Callable[[Change], None] = lambda _: None

        async def handle(call: Call, emit: Emit) -> Result:
            return await self.call(call, emit)

        self._handle = mark_asking(handle)
        pool.heard(self._hear)

    def tools(self) -> Sequence[Tool]:
        """The tools as they may be shown now."""
        return self._judged.offered

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """What runs the calls of each tool; it may ask the client, for the server."""
        return dict.fromkeys((tool.name for tool in self._judged.offered), self._handle)

    @property
    def has_pins(self) -> bool:
        """Whether anything was ever accepted."""
        return bool(self._judged.pins)

    def prompts(self) -> Sequence[Prompt]:
        """The prompts as they may be shown now."""
        return self._judged.prompts

    @property
    def held(self) -> Mapping[str, Held]:
        """What is not used, because nobody has accepted what it is now."""
        return self._judged.held

    async def about(self) -> About:
        """What the server says of itself.

        Raises:
            ServiceUnavailable: it cannot be reached.
        """
        async with self._pool.lease(self._lister) as provider:
            await provider.current()
            return _about(provider, self._pool.name)

    async def renew(self, max_age_s: float = RENEW_S) -> frozenset[Listed]:
        """Have all lists as new as they must be; says which are shown otherwise than before.

        Raises:
            ServiceUnavailable: the server cannot be reached, or does not list what it says it has.
        """
        changed: set[Listed] = set()
        async with self._pool.lease(self._lister) as provider:
            tools = [_offered(tool) for tool in await provider.current(max_age_s) if self._fits(tool)]
            offers = _about(provider, self._pool.name).offers
            if "resources" in offers and await self.library.renew(provider, "resources", max_age_s):
                changed.add("resources")
            if "prompts" in offers:
                await self.library.renew(provider, "prompts", max_age_s)
            changed |= await self._judge((*tools, *self.library.prompts()))
        return frozenset(changed)

    async def look(self) -> frozenset[Listed]:
        """As `renew`, for somebody who is about to use what is listed; whoever follows is told of what has changed."""
        changed = await self.renew(self._max_age_s)
        for which in sorted(changed):
            self._tell(ListChanged(which))
        return changed

    async def follow(self, tell: Callable[[Change], None]) -> None:
        """Renew the lists whenever the server says that they have changed, and `tell` of it; it does not end.

        A server that does not say so is asked again from time to time.
        """
        self._tell = tell
        while True:
            with anyio.move_on_after(RENEW_S):
                await self._news.wait()
            self._news = anyio.Event()
            try:
                changed = await self.renew()
            except ToolwireError as error:
                LOGGER.warning("%s", error.message)
                continue
            for which in sorted(changed):
                tell(ListChanged(which))

    async def watch(self, uri: str) -> None:
        """Tell of changes of a resource from now on, too.

        Raises:
            ServiceUnavailable: the server cannot be reached.
        """
        async with self._pool.lease(self._lister) as provider:
            await provider.current()
            provider.watch(uri)

    async def call(self, call: Call, emit: Emit) -> Result:
        """Run `call` on the server, in the session of its caller.

        Raises:
            ConsentRequired: the definition is another than the accepted one; `diff` in its data shows how.
            ToolwireError: as `RemoteProvider.call`.
        """
        held = await self._held_now(call.tool)
        if held is None:
            result = await self._called(call, emit)
            if isinstance(result, Result) and needs_tasks(result):  # then they are followed for a client without
                result = await self._called(call, emit, tasks=True)
            if isinstance(result, Result):
                return result
            await self.renew()
            held = result
            self._news.set()
        raise self._not_accepted(f"tool {call.tool!r}", held)

    async def _called(self, call: Call, emit: Emit, tasks: bool = False) -> Result | Held:
        """What a call gives; or why it was not made."""
        async with self._pool.lease(call.caller, emit, tasks=tasks) as provider:
            now = await self._found(provider, call.tool)
            pin = self._judged.pins.get(call.tool)
            if pin is not None and pin.digest == now.digest():
                return await provider.call(call, emit)
        return Held(now, None if pin is None else pin.tool)

    async def check_prompt(self, name: str) -> None:
        """Look whether a prompt is what was accepted.

        Raises:
            InvalidParam: there is no prompt of that name.
            ConsentRequired: its definition is another than the accepted one; `diff` in its data shows how.
            ServiceUnavailable: as `renew`.
        """
        await self.look()
        held = await self._held_now(PROMPT + name)
        if held is not None:
            raise self._not_accepted(f"prompt {name!r}", held)
        if all(prompt.name != name for prompt in self._judged.prompts):
            words = f"{self._pool.name} has no prompt {name!r} (any more); list its prompts to see what there is"
            raise InvalidParam(words, param="name")

    async def accept(self, names: Iterable[str]) -> None:
        """Accept definitions as the server lists them now, by `remote_pins.key_of`.

        Raises:
            ToolNotFound: it lists no such tool.
            ServiceUnavailable: that cannot be kept.
        """
        now = {key_of(each): each for each in self._listed}
        async with self._judging:
            pins = dict(await self._store.load())
            for name in names:
                if name not in now:
                    raise ToolNotFound(f"{self._pool.name} lists no tool {name!r}")
                pins[name] = pin_of(now[name])
            await self._store.save(pins)
        await self._judge_again()

    def _not_accepted(self, what: str, held: Held) -> ConsentRequired:
        return ConsentRequired(
            f"{self._pool.name} has changed the definition of its {what}, and the change has not been "
            "accepted; it was not called",
            diff=held.diff()[:MAX_DIFF_CHARS],
        )

    async def _found(self, provider: RemoteProvider, name: str) -> Tool:
        try:
            return await provider.find(name, self._max_age_s)
        except ToolNotFound:
            self._news.set()
            raise

    async def _held_now(self, name: str) -> Held | None:
        if name in self._judged.held:  # it may have been accepted meanwhile
            await self._judge_again()
        return self._judged.held.get(name)

    async def _judge_again(self) -> None:
        for which in sorted(await self._judge(None)):
            self._tell(ListChanged(which))

    async def _judge(self, listed: Sequence[Definition] | None) -> set[Listed]:
        """Hold what is listed (`None`: as before) against what is accepted now; says what is shown otherwise."""
        async with self._judging:
            before, self._listed = self._judged, self._listed if listed is None else listed
            pins = await self._store.load()
            judged = judge(self._listed, pins, hold_new=self._hold_new)
            if judged.pins != pins:
                await self._store.save(judged.pins)
            self._judged = judged
        for name in judged.held.keys() - before.held.keys():
            LOGGER.warning(
                "%s has changed the definition of its %r; it is not used until that is accepted:\n%s",
                *(self._pool.name, name, judged.held[name].diff()[:MAX_DIFF_CHARS]),
            )
        changed: set[Listed] = set()
        if judged.offered != before.offered:
            changed.add("tools")
        if judged.prompts != before.prompts:
            changed.add("prompts")
        return changed

    def _fits(self, tool: Tool) -> bool:
        """Whether a tool can be offered at all; one that cannot is left out, and the others are not."""
        fits = tool.name.isprintable() and not tool.name.startswith(PROMPT)
        if not tool.name or len(tool.name) > MAX_NAME_CHARS or not fits:
            LOGGER.warning("%s lists a tool named %r, which is left out", self._pool.name, tool.name[:MAX_NAME_CHARS])
            return False
        try:
            compile_validator(tool.input_schema)
        except InvalidParam as error:
            LOGGER.warning("%s: its tool %r is left out: %s", self._pool.name, tool.name, error.message)
            return False
        return True

    def _hear(self, change: Change) -> None:
        if isinstance(change, ListChanged):
            self._news.set()
        else:
            self._tell(change)


def _offered(tool: Tool) -> Tool:
    """A tool as our clients have it: where it has to be a task there, those wait that know none."""
    return replace(tool, task="maybe") if tool.task == "required" else tool


def _about(provider: RemoteProvider, name: str) -> About:
    client = provider.client
    if client is None:
        return About(name, "", "")
    said, has = client.server_info, client.server_capabilities
    offers = frozenset(what for what in ("resources", "prompts", "completions") if getattr(has, what) is not None)
    return About(
        said.name if said is not None and said.name else name,
        said.version if said is not None else "",
        client.protocol_version,
        None if said is None else said.title,
        client.session.instructions,
        offers,
    )
