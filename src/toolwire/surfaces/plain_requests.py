"""Requests that bring a plain call, and the next ones with the same head; it says nothing of what is wrong with others.

A head that has brought a plain call is known from then on: the next request with it comes here before anybody else sees
it (`exchange.Serve`), and is let in again and answered without the way through the app. Spec: contract mcp.md 3.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from anyio.abc import TaskGroup

from toolwire.core.errors import ToolwireError
from toolwire.surfaces.accept import Accepted
from toolwire.surfaces.endpoint import Admission
from toolwire.surfaces.exchange import SERVE, Exchange, Receive, Send, Whole
from toolwire.surfaces.hop import Facts, Hop
from toolwire.surfaces.limits import check_size
from toolwire.surfaces.plain_calls import PlainCall, Ways, read_plain, serve_plain
from toolwire.surfaces.running import Watcher
from toolwire.surfaces.sessions import Sessions
from toolwire.wire.jsonrpc import Message, Posted, decode

App: TypeAlias = Callable[[Any, Receive, Send], Awaitable[None]]
NewExchange: TypeAlias = Callable[[Accepted, TaskGroup, Hop], Exchange]


class PlainRequests:
    """Answers them for a surface.

    Args:
        host: looks after those that take long.
        app: the surface as an app; whatever is not as it was before goes there.
        new_exchange: makes what an answer goes out on that cannot be sent at once.
        sessions: knows those that were found a moment ago.
        limit_bytes: the largest body that is taken.

    Attributes:
        tasks: of streams and watchers; `None` while the surface does not run, and then nothing is answered here.
    """

    def __init__(
        self, host: Watcher, app: App, new_exchange: NewExchange, sessions: Sessions, limit_bytes: int
    ) -> None:
        self._host = host
        self._sessions = sessions
        self._app = app
        self._new_exchange = new_exchange
        self._limit_bytes = limit_bytes
        self.tasks: TaskGroup | None = None

    async def answer(self, hop: Hop, facts: Facts, admission: Admission, message: Message | Posted) -> bool:
        """Answer a request that was let in, if it brings a plain call; says whether it does."""
        if not facts.plain or self.tasks is None or not isinstance(message, Message):
            return False
        plain = self._read(facts, admission, message)
        if plain is None:
            return False
        if hop.whole is not None and admission.again is not None:
            hop.whole.memo[SERVE] = partial(self._answer_again, facts, admission, admission.again)
        ways = Ways(lambda: hop, partial(self._new_exchange, facts.accepted, self.tasks))
        rest = serve_plain(self._host, plain, hop.whole, ways)
        if rest is not None:
            await rest
        return True

    def _answer_again(
        self, facts: Facts, admission: Admission, again: Callable[[], bool], whole: Whole
    ) -> Awaitable[None] | None:
        """See `exchange.Serve`. The order of the checks is another one, but what fails any of them goes to the app."""
        try:
            message = decode(check_size(whole.content, self._limit_bytes))
        except ToolwireError:
            return self._app(*whole.in_asgi())
        if self.tasks is None or not isinstance(message, Message):
            return self._app(*whole.in_asgi())
        plain = self._read(facts, admission, message)
        if plain is None or not again():
            return self._app(*whole.in_asgi())
        ways = Ways(partial(_let_in, whole, admission), partial(self._new_exchange, facts.accepted, self.tasks))
        return serve_plain(self._host, plain, whole, ways)

    def _read(self, facts: Facts, admission: Admission, message: Message) -> PlainCall | None:
        session = None
        if facts.session is not None:
            session = self._sessions.at_hand(facts.session, admission.caller, admission.endpoint.agent_id)
            if session is None or session.kept.log_level is not None:
                return None
        return read_plain(self._host.engine, facts, admission, message, session)


def _let_in(whole: Whole, admission: Admission) -> Hop:
    hop = Hop(*whole.in_asgi())
    hop.admission = admission
    return hop
