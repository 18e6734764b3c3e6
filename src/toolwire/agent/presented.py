"""What a gateway is told an agent is and offers beside calls, link after link; it does not know who attaches it."""

import logging
from collections.abc import Callable
from itertools import count

from anyio.abc import TaskGroup

from toolwire.agent.answers import Answers, Sources
from toolwire.agent.outgoing import Outgoing
from toolwire.core.change import Change, ListChanged
from toolwire.wire.link import Ask, Changed, Continue, Forget, FromGateway, Refused, Register, Registered, Registration

_log = logging.getLogger("toolwire.agent")


class Presented:
    """An agent as its gateway knows it.

    Args:
        registration: what it is.
        sources: what it offers beside tools.
        outgoing: where frames go.
        refs: the numbers for the frames that want an answer.
    """

    def __init__(
        self, registration: Registration, sources: Callable[[], Sources], outgoing: Outgoing, refs: "count[int]"
    ) -> None:
        self._registration = registration
        self._told = registration
        self._outgoing = outgoing
        self._refs = refs
        self._open: set[int] = set()
        self._answers = Answers(sources, outgoing)

    def begin(self) -> Registration:
        """What the first frame of a new link says."""
        self._told = self._registration
        self._open.clear()
        return self._registration

    def catch_up(self) -> None:
        """Say on the link, if one is attached, what has changed since its first frame."""
        if self._outgoing.is_open and self._told != self._registration:
            self._told = self._registration
            frame = Register(next(self._refs), self._registration)
            self._open.add(frame.ref)
            self._outgoing.put(frame)

    def register(self, registration: Registration) -> None:
        """The agent is something else than before."""
        self._registration = registration
        self.catch_up()

    def tell(self, change: Change) -> None:
        """Something is another than before that the registration does not show; nobody is told while no link is."""
        is_list = isinstance(change, ListChanged)
        self._outgoing.put(Changed(which=change.which) if is_list else Changed(uri=change.uri))

    def take(self, frame: FromGateway, tasks: TaskGroup | None) -> None:
        """Act on a frame about this; answers are made in `tasks`, while there are some."""
        match frame:
            case Ask() if tasks is not None:
                self._answers.take(frame, tasks)
            case Forget():
                self._answers.forget(frame.ref)
            case Continue():
                self._answers.go_on(frame)
            case Registered():
                self._open.discard(frame.ref)
            case _:
                _log.debug("a frame came that was not expected: %s", type(frame).__name__)

    def refused(self, frame: Refused) -> bool:
        """The gateway does not take what was said; `False` if `frame` is not about that."""
        if frame.ref not in self._open:
            return False
        self._open.discard(frame.ref)
        _log.error("the gateway goes on with what the agent was before: %s: %s", frame.code, frame.message)
        return True

    def detached(self) -> None:
        """The link is gone, and with it its questions."""
        self._answers.forget_all()
