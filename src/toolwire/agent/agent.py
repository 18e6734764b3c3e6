"""`Agent`: tools under a name, attached to a gateway; it does not serve callers itself."""

import logging
import os
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, TypeVar, Unpack, get_args, overload

import anyio

from toolwire.agent.answers import Sources
from toolwire.agent.attach import GRACE_S, Target, attached, open_journal, run_attached, target_of
from toolwire.agent.context import Ctx
from toolwire.agent.journal import Journal
from toolwire.agent.link import Link, OpenSocket
from toolwire.agent.offer import AgentOffer
from toolwire.agent.tools import AgentToolOptions, checked_tools
from toolwire.agent.worker import Body, Limits, Worker
from toolwire.core.change import Change
from toolwire.core.errors import ToolwireError
from toolwire.sdk.authoring.signature import Body as Function
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.offer import Offer
from toolwire.sdk.prompt import PromptOptions
from toolwire.sdk.resource import ResourceOptions
from toolwire.sdk.result import ToolResult
from toolwire.sdk.tool import DecoratedTool
from toolwire.wire.link import DeliveryMode, Message, Registration

if TYPE_CHECKING:
    from toolwire.sdk.messages import Provider
    from toolwire.sdk.options import HostConfig, Options

_F = TypeVar("_F", bound=Callable[..., Any])

JournalOrPath: TypeAlias = Journal | str | os.PathLike[str] | None


class Agent:
    """An agent: what it can do, to be attached to a gateway that publishes it.

    Args:
        name: what people call it.
        version: of what it does.
        delivery: how many calls the gateway lets it have at once: "push" for many, "queue" for one after the other
            within a session, "busy_reject" for one, the next being refused. It cannot change once the agent has
            registered; `None` takes whatever is registered.
        description: what it is for.
        tools: tools made by `toolwire.sdk.tool`; more come by `@agent.tool` and `agent.add`.
        limits: how much it does at once: by default 100 async bodies, and of each sync tool 40 calls on threads.

    Raises:
        TypeError: a tool is none.
        ValueError: no name, an unknown delivery mode, or two tools of one name.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "",
        delivery: DeliveryMode | None = "push",
        description: str = "",
        tools: Iterable[DecoratedTool] = (),
        limits: Limits | None = None,
    ) -> None:
        if not name.strip():
            raise ValueError("an agent needs a name")
        if delivery is not None and delivery not in get_args(DeliveryMode):
            raise ValueError(f"delivery must be one of {', '.join(get_args(DeliveryMode))}, got {delivery!r}")
        self.name = name
        self.version = version
        self.delivery: DeliveryMode | None = delivery
        self.description = description
        self.limits = limits or Limits()
        self._tools = checked_tools(tools)
        self._offer = AgentOffer(self._tools, self.__repr__)
        self._open: Callable[[], AbstractAsyncContextManager[None]] = nullcontext

    @classmethod
    def from_options(
        cls,
        options: "Options",
        *,
        provider: "Provider | None" = None,
        model: str | None = None,
        workspace_dir: str | os.PathLike[str] | None = None,
        host_config: "HostConfig | None" = None,
        description: str = "",
        delivery: DeliveryMode | None = "queue",
        callers_approve: bool = True,
    ) -> Self:
        """Make an SDK agent one that can be attached: a message to it becomes a turn, a session a conversation.

        Callers see one tool, `message`. The answer comes in pieces as it is written; the calls that the agent makes
        come as progress. A call that needs an approval which `options.can_use_tool` does not give is asked about with
        `agent.input_required`, and the turn rests until the caller decides, or a `user.continue` of the owner's. With
        `HostConfig(storage_path=…)` conversations survive the process, and what they ask with a journal in a file, too.

        Args:
            options: what the agent is; its name is the one it is attached under.
            provider: the model, instead of `options.provider`.
            model: the model's name, instead of `options.model`.
            workspace_dir: where it works, instead of `options.cwd`. All callers share it.
            host_config: what its conversations stand on; by default memory, which forgets old ones.
            description: what it is for, as callers read it.
            delivery: as of `Agent`; by default one turn after the other within a conversation, and many beside it.
            callers_approve: whoever calls the agent may approve its calls; otherwise the owner of the channel alone.

        Raises:
            KeyError, TypeError, ValueError: something in `options` cannot be, or there is no provider.
            WorkspaceEscape: the workspace is not there.
        """
        from toolwire.agent.from_options import Conversations  # noqa: PLC0415 -- keeps the runtime out of the import of tools
        from toolwire.sdk.async_client import AsyncClient  # noqa: PLC0415 -- the same

        def make_client() -> AsyncClient:
            where = None if workspace_dir is None else os.fspath(workspace_dir)
            return AsyncClient(options, provider=provider, workspace_dir=where, model=model, host_config=host_config)

        durable = host_config is not None and host_config.storage_path is not None
        conversations = Conversations(make_client, durable=durable, ask_callers=callers_approve)

        async def message(message: str, ctx: Ctx) -> ToolResult:
            return await conversations.answer(message, ctx)

        agent = cls(options.name, delivery=delivery, description=description)
        agent._tools.set_on_message(message, repeatable=durable)
        agent._open = conversations.open
        return agent

    def __repr__(self) -> str:
        return f"<Agent {self.name!r}>"

    def opened(self) -> AbstractAsyncContextManager[None]:
        """What has to be held while the agent answers; `connect`, `serve` and `run` do."""
        return self._open()

    @overload
    def tool(self, function: Function, /, **options: Unpack[AgentToolOptions]) -> DecoratedTool: ...
    @overload
    def tool(self, /, **options: Unpack[AgentToolOptions]) -> Callable[[Function], DecoratedTool]: ...
    def tool(
        self, function: Any = None, /, **options: Unpack[AgentToolOptions]
    ) -> DecoratedTool | Callable[[Function], DecoratedTool]:
        """Make a function a tool of this agent: `@agent.tool`, or `@agent.tool(…)` with options.

        Its name, description and schema come from the function, its docstring and its hints, unless the options say
        otherwise; a hand-written `input_schema` goes with a typed function as well as with one of `(arguments, ctx)`.
        A parameter `ctx: Ctx` gets the context. A `def` runs on a thread, an `async def` on the event loop.

        Raises:
            TypeError: an option is unknown or of the wrong type, or a parameter has no JSON Schema.
            ValueError: a name or time-out that cannot be, or a name that is taken.
        """
        if function is None:
            return partial(self._add_tool, options=options)
        return self._add_tool(function, options)

    def _add_tool(self, function: Function, options: AgentToolOptions) -> DecoratedTool:
        tool = self._tools.build(function, options)
        self._offer.changed()
        return tool

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[_F], _F]:
        """Make a function the resource at `uri`, or a template of resources; as `toolwire.Server.resource`.

        Raises:
            TypeError: the function cannot be one, or its parameters are not the variables.
            ValueError: the URI cannot be used, or is taken.
        """
        return self._offer.resource(uri, **options)

    @overload
    def prompt(self, fn: _F, /, **options: Unpack[PromptOptions]) -> _F: ...
    @overload
    def prompt(self, /, **options: Unpack[PromptOptions]) -> Callable[[_F], _F]: ...
    def prompt(self, fn: Any = None, /, **options: Unpack[PromptOptions]) -> Any:
        """Make a function a prompt, whose arguments are its parameters; as `toolwire.Server.prompt`.

        Raises:
            TypeError: the function cannot be one.
            ValueError: there is another prompt of that name.
        """
        return self._offer.prompt(fn, **options)

    def complete(self, ref: str, argument: str) -> Callable[[_F], _F]:
        """Make a function say what an argument of a prompt or template may be; as `toolwire.Server.complete`.

        Raises:
            ValueError: there is no such prompt, template or argument yet.
        """
        return self._offer.complete(ref, argument)

    def add(self, *items: "DecoratedTool | SdkMcpServer | Offer") -> None:
        """Offer tools that exist already, those of a bundle, or all that a `toolwire.Server` offers, now and later.

        Raises:
            TypeError: one of `items` is none of these.
            ValueError: a name or a URI is taken by something else, or models do not take a tool's name.
        """
        self._offer.add(*items)

    def tell(self, change: Change) -> None:
        """Tell clients that listen of a change that nobody sees by itself, `ResourceUpdated(uri)`; from any thread.

        What is added while the agent is attached is told by itself.
        """
        self._offer.tell(change)

    def on_message(self, function: Function, /) -> DecoratedTool:
        """Answer plain messages with this function: it takes the text, and a context if it has a parameter `ctx`.

        Raises:
            TypeError: it takes something else.
            ValueError: there is one already.
        """
        return self._tools.set_on_message(function)

    def registration(self) -> Registration:
        """What the agent says it is when it attaches, and again when something is added later."""
        return Registration(
            self.name,
            self.version,
            self.description,
            self.delivery,
            self._tools.skills,
            self._offer.listed_resources(),
            self._offer.listed_prompts(),
            self._offer.sources().completions is not None,
        )

    def sources(self) -> Sources:
        """What it offers beside tools."""
        return self._offer.sources()

    @asynccontextmanager
    async def worker(self, journal: Journal) -> AsyncGenerator[Worker]:
        """What answers for the agent until the block ends, registered anew when something is added; for runtimes."""
        worker = Worker(self.registration(), self.choose, journal, self.limits, self.sources)
        with self._offer.heard(_Registrar(self, worker)):
            async with self.opened():
                yield worker

    def choose(self, message: Message) -> Body:
        """What answers a `chat_message`."""
        return self._tools.choose(message)

    @asynccontextmanager
    async def connect(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        journal: JournalOrPath = None,
        grace_s: float = GRACE_S,
    ) -> AsyncGenerator[Link]:
        """Be attached inside the block, which begins once the gateway has taken the agent.

        When the link breaks it is opened again, for ever. At the end of the block what was taken is finished.

        Args:
            url: the gateway; by default `TOOLWIRE_URL`, else `http://127.0.0.1:8094`.
            key: the agent's key, `agk_…`; by default `TOOLWIRE_AGENT_KEY`.
            journal: what remembers the answers: a path keeps them in a file, over restarts.
            grace_s: for how long what was taken may be finished at the end.

        Raises:
            ToolwireError: the gateway refuses the agent or its key, or the journal is somebody else's.
        """
        target = target_of(url, key, grace_s)
        async with (
            _prepared(self, target, journal) as (worker, open_socket),
            attached(worker, open_socket, target) as link,
        ):
            yield link

    async def serve(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        journal: JournalOrPath = None,
        grace_s: float = GRACE_S,
    ) -> NoReturn:
        """Be attached until cancelled; the parameters are those of `connect`.

        Raises:
            ToolwireError: as `connect`.

        Cancellation: what was taken is finished first, for at most `grace_s`.
        """
        async with self.connect(url, key, journal=journal, grace_s=grace_s):
            await anyio.sleep_forever()
        raise AssertionError("the agent stopped without being told to")

    def run(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        journal: JournalOrPath = None,
        grace_s: float = GRACE_S,
    ) -> None:
        """Be this process: attached until SIGTERM or Ctrl-C; the parameters are those of `connect`.

        Raises:
            SystemExit: the gateway refuses the agent or its key; the text says why.
        """
        if not logging.getLogger().handlers:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
        try:
            code = run_agent(self, url, key, journal=journal, grace_s=grace_s)
        except ToolwireError as error:
            raise SystemExit(f"{self.name}: {error.message}") from None
        if code:
            raise SystemExit(code)


def run_agent(
    agent: Agent,
    url: str | None = None,
    key: str | None = None,
    *,
    journal: JournalOrPath = None,
    grace_s: float = GRACE_S,
) -> int:
    """Run `agent` until SIGTERM or Ctrl-C, and return the exit code; what `toolwire agent run` calls.

    The parameters are those of `Agent.connect`. Logging is left as it is; the logger is `toolwire.agent`.

    Raises:
        ToolwireError: the gateway refuses the agent or its key, or the journal is somebody else's.
    """
    target = target_of(url, key, grace_s)
    return run_attached(lambda: _prepared(agent, target, journal), target)


class _Registrar:
    """Has an agent registered anew when it has changed."""

    def __init__(self, agent: Agent, worker: Worker) -> None:
        self._agent = agent
        self._worker = worker

    def offer_changed(self) -> None:
        self._worker.presented.register(self._agent.registration())

    def tell(self, change: Change) -> None:
        self._worker.presented.tell(change)


@asynccontextmanager
async def _prepared(agent: Agent, target: Target, journal: JournalOrPath) -> AsyncGenerator[tuple[Worker, OpenSocket]]:
    """A worker for `agent`, and what opens its links; a journal that is opened for it is closed at the end."""
    # These keep HTTP and WebSockets out of the import of tools.
    from toolwire.agent.gateway_files import GatewayFiles  # noqa: PLC0415
    from toolwire.agent.websocket import websocket_opener  # noqa: PLC0415

    open_socket = websocket_opener(target.url, target.key)
    memory = open_journal(journal)
    try:
        async with agent.worker(memory) as worker:
            worker.files = GatewayFiles(target.url, target.key)
            yield worker, open_socket
    finally:
        if memory is not journal:
            with anyio.CancelScope(shield=True):
                await memory.close()
