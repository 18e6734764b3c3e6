"""What the wire owes its clients: each requirement with its source and with where it holds.

A test says with `@proves(...)` which requirement it proves and on which of its cells; test_requirements.py holds the
two against each other, in both directions. A cell is a transport with a revision.
"""

from collections.abc import Callable
from typing import TypeVar

from tests.interaction.requirement import (
    ALL,
    EVERYWHERE,
    GATEWAY,
    GATEWAY_2025,
    GATEWAY_2026,
    HTTP,
    HTTP_2025,
    HTTP_2026,
    NEW,
    OLD,
    SPEC_2025,
    SPEC_2026,
    STDIO,
    STDIO_2025,
    STDIO_2026,
    Cell,
    Requirement,
)
from tests.interaction.requirements_asking import ASKING_REQUIREMENTS
from tests.interaction.requirements_gateway import GATEWAY_REQUIREMENTS
from tests.interaction.requirements_oauth import OAUTH_REQUIREMENTS
from tests.interaction.requirements_streams import STREAM_REQUIREMENTS
from tests.interaction.requirements_tasks import TASK_REQUIREMENTS

__all__ = [
    "ALL",
    "EVERYWHERE",
    "GATEWAY",
    "GATEWAY_2025",
    "GATEWAY_2026",
    "HTTP",
    "HTTP_2025",
    "HTTP_2026",
    "NEW",
    "OLD",
    "REQUIREMENTS",
    "STDIO",
    "STDIO_2025",
    "STDIO_2026",
    "Cell",
    "Requirement",
    "proofs_of",
    "proves",
]

_F = TypeVar("_F", bound=Callable[..., object])


REQUIREMENTS: dict[str, Requirement] = {
    # The ladder of an HTTP request
    "ladder.host": Requirement("A Host that is not ours is 421.", "mcp.md 1.3 step 1; gateway.md D22", HTTP),
    "ladder.origin": Requirement(
        "A page of another origin is 403; our own and programs without one are let in.",
        f"{SPEC_2025}/basic/transports#security-warning",
        HTTP,
    ),
    "ladder.media-type": Requirement("A body that is not application/json is 415.", "mcp.md 1.3 step 1", HTTP),
    "ladder.method": Requirement("GET, PUT and the like are 405 with Allow.", "mcp.md 1.3 step 2", HTTP),
    "ladder.accept": Requirement("An Accept that takes neither form is 406.", "mcp.md 1.3 step 3", HTTP),
    "ladder.size": Requirement("A body over the limit is 413, declared or streamed.", "gateway.md 52", HTTP),
    "ladder.json": Requirement("What is not JSON is 400, -32700, id null.", "mcp.md 1.3 step 4", HTTP),
    "ladder.one-message": Requirement(
        "A batch, a bad id and what is no message are 400, -32600.", "mcp.md 1.3 step 5", HTTP
    ),
    "ladder.posted-response": Requirement(
        "A posted response is 202 on the older wire and 400 on the newer.", "mcp.md 1.2, 1.3 step 5", HTTP
    ),
    "ladder.notification": Requirement("A notification is 202 without a body.", "mcp.md 1.2", HTTP),
    "ladder.header-twice": Requirement(
        "A routing header that stands twice is -32020 before anything of _meta is looked at.",
        "mcp.md 1.3 step 6",
        frozenset({HTTP_2026}),
    ),
    "ladder.meta": Requirement(
        "A request without version or capabilities in _meta is -32602 and names the key.",
        f"{SPEC_2026}/basic/index#meta; mcp.md 1.3 step 7",
        NEW,
    ),
    "ladder.headers-match": Requirement(
        "Version, method and name stand in headers and body alike, else -32020.",
        f"{SPEC_2026}/basic/transports#standard-headers; mcp.md 1.3 step 8",
        frozenset({HTTP_2026}),
    ),
    "ladder.version": Requirement(
        "A version that is not ours is -32022 with supported and requested.", "mcp.md 1.3 step 9", NEW
    ),
    "ladder.wrong-wire": Requirement(
        "A body of the newer wire under a header of the older one is -32020 and names both.",
        "mcp.md S28",
        frozenset({HTTP_2025}),
    ),
    "ladder.lenient": Requirement(
        "A server that is told to be lenient believes such a body, and is as strict as ever in everything else.",
        "mcp.md S28",
        frozenset({HTTP_2025}),
    ),
    "ladder.method-unknown": Requirement(
        "A method that does not exist is -32601: 200 on the older wire, 404 on the newer, which has lost five.",
        "mcp.md 1.2, 1.3 step 11",
        ALL,
    ),
    "ladder.path": Requirement("What is not served at a path is a 404.", "RFC 9110, 15.5.5", HTTP),
    "ladder.order": Requirement("Of two faults the earlier rung answers.", "mcp.md 1.3", HTTP),
    "errors.body": Requirement(
        "Every answer that is not 2xx has a JSON-RPC error with our code.", "gateway.md D16, §6", HTTP
    ),
    "errors.no-internals": Requirement(
        "A mistake of ours is -32603 under the request's id and tells nothing of the inside.", "gateway.md D16", ALL
    ),
    "ids.exact": Requirement("The answer repeats the id byte for byte.", "JSON-RPC 2.0, 5", ALL),
    "ids.doubled": Requirement("Two requests under one id at once are both answered rightly.", "mcp.md S7", ALL),
    "answers.one": Requirement("A request is answered exactly once.", "JSON-RPC 2.0, 5", ALL),
    # Pages in a browser
    "pages.preflight": Requirement(
        "A named page may send every header of MCP, any Mcp-Param among them, with every method there is.",
        "Fetch, 3.2; mcp.md S30",
        HTTP,
    ),
    "pages.read": Requirement(
        "A named page may read every answer, errors and streams too, and Mcp-Session-Id of it.",
        "Fetch, 3.2; mcp.md S30",
        HTTP,
    ),
    "pages.others": Requirement(
        "Without being named no page is told anything, and programs see no difference.", "Fetch, 3.2; mcp.md S30", HTTP
    ),
    **STREAM_REQUIREMENTS,
    **ASKING_REQUIREMENTS,
    **GATEWAY_REQUIREMENTS,
    **OAUTH_REQUIREMENTS,
    **TASK_REQUIREMENTS,
    # Sessions
    "session.minted": Requirement(
        "initialize, and nothing else, gives a session id of visible ASCII.",
        f"{SPEC_2025}/basic/transports#session-management; gateway.md D12",
        frozenset({HTTP_2025}),
    ),
    "session.offered": Requirement(
        "No request needs a session, also before initialize.",
        "mcp.md, sessions; gateway.md D12",
        frozenset({HTTP_2025}),
    ),
    "session.unknown": Requirement(
        "An unknown, tampered, foreign, ended or idle id is 404 with words that say initialize.",
        "mcp.md S1, S2; gateway.md D12",
        frozenset({HTTP_2025}),
    ),
    "session.ended": Requirement("DELETE ends a session at once and for good.", "mcp.md S5", frozenset({HTTP_2025})),
    "session.idle": Requirement(
        "A session that is idle for too long ends.", "mcp.md S3; gateway.md 1J", frozenset({HTTP_2025})
    ),
    "session.refused": Requirement(
        "A request that is refused creates no session.", "mcp.md S6", frozenset({HTTP_2025})
    ),
    "session.none": Requirement(
        "2026-07-28 has no sessions: the header is neither sent nor looked at, DELETE is 405.",
        f"{SPEC_2026}/basic/transports; mcp.md 1.2",
        frozenset({HTTP_2026}),
    ),
    # Methods
    "initialize": Requirement(
        "initialize agrees on a version and says capabilities and name; initialized is 202.",
        f"{SPEC_2025}/basic/lifecycle#initialization",
        OLD,
    ),
    "ping": Requirement("ping is answered with an empty result.", f"{SPEC_2025}/basic/utilities/ping", OLD),
    "discover": Requirement(
        "server/discover lists versions and capabilities, cacheable by nobody.", f"{SPEC_2026}/server/discover", NEW
    ),
    "identity": Requirement("Every result of 2026-07-28 says that it is complete and who we are.", "mcp.md 1.2", NEW),
    "tools.list": Requirement(
        "tools/list is whole, in order, with caching hints on the newer wire; no cursor is ours.",
        f"{SPEC_2025}/server/tools#listing-tools; mcp.md 1.2",
        ALL,
    ),
    "tools.call": Requirement(
        "tools/call answers with content, and structured content where there is some.",
        f"{SPEC_2025}/server/tools#calling-tools",
        ALL,
    ),
    "tools.unknown": Requirement("An unknown tool is -32602, not a result.", "mcp.md S21, S22", ALL),
    "tools.bad-arguments": Requirement(
        "Arguments that do not fit a known tool are a result that says so in words.", "mcp.md S21", ALL
    ),
    "tools.repaired": Requirement(
        "A text is decoded only where the schema refuses it and takes what it holds, and never for a strict tool.",
        "mcp.md S27",
        ALL,
    ),
    "tools.failed": Requirement("A tool that fails is a result with isError.", "gateway.md D18; mcp.md S23", ALL),
    "tools.deadline": Requirement(
        "A call ends at its deadline: 60 s, or what the caller gives, up to ten minutes.", "gateway.md D19", ALL
    ),
    "tools.links": Requirement(
        "A client of before 2025-06-18 gets an address as text instead of a link.", "gateway.md D17", OLD
    ),
    "tools.blocking": Requirement(
        "Blocking tools overlap, and the rest stays answerable meanwhile.", "mcp.md S20", ALL
    ),
    "tools.keyed": Requirement(
        "The same call under the same key runs once and says that it is a replay.", "gateway.md D9", HTTP
    ),
    # Beside tools
    "capabilities.offered": Requirement(
        "What is offered is advertised and answered; what is not is neither, and -32601.", "mcp.md S36", EVERYWHERE
    ),
    "resources.list": Requirement(
        "resources/list is whole and in order, with caching hints on the newer wire.",
        f"{SPEC_2025}/server/resources#listing-resources; mcp.md 1.2",
        EVERYWHERE,
    ),
    "resources.templates": Requirement(
        "resources/templates/list is whole and in order, with caching hints on the newer wire.",
        f"{SPEC_2025}/server/resources#resource-templates; mcp.md 1.2",
        EVERYWHERE,
    ),
    "resources.read": Requirement(
        "resources/read gives texts and bytes, of a URI of its own or of a template whose variables have types.",
        f"{SPEC_2025}/server/resources#reading-resources; mcp.md 1.2",
        EVERYWHERE,
    ),
    "resources.unknown": Requirement(
        "What is not there is -32002, on the newer wire -32602, with the URI; contents are never empty.",
        "mcp.md 1.2, resource not found",
        EVERYWHERE,
    ),
    "resources.failed": Requirement(
        "A resource that fails is -32603 with its author's words or nothing of the inside.",
        f"{SPEC_2025}/server/resources#error-handling",
        EVERYWHERE,
    ),
    "prompts.list": Requirement(
        "prompts/list is whole and in order, with arguments, and with caching hints on the newer wire.",
        f"{SPEC_2025}/server/prompts#listing-prompts; mcp.md 1.2",
        EVERYWHERE,
    ),
    "prompts.get": Requirement(
        "prompts/get gives messages of either role with texts, pictures and resources.",
        f"{SPEC_2025}/server/prompts#getting-a-prompt",
        EVERYWHERE,
    ),
    "prompts.bad": Requirement(
        "An unknown prompt, and an argument that is missing, unknown or does not fit, is -32602 and named.",
        f"{SPEC_2025}/server/prompts#error-handling",
        EVERYWHERE,
    ),
    "prompts.failed": Requirement(
        "A prompt that fails is -32603 and tells nothing of the inside.",
        f"{SPEC_2025}/server/prompts#error-handling",
        EVERYWHERE,
    ),
    "completion": Requirement(
        "completion/complete gives up to 100 values and counts all; what there is nothing to complete of is -32602.",
        f"{SPEC_2025}/server/utilities/completion",
        EVERYWHERE,
    ),
    "direct.told": Requirement(
        "Who reads or asks for a prompt may hear of progress.", "mcp.md 1.2, progress", EVERYWHERE
    ),
    "direct.others": Requirement("Reading holds up nobody else.", "mcp.md S20", EVERYWHERE),
    "direct.cancelled": Requirement(
        "Reading ends when it is cancelled, on 2026-07-28 over HTTP by going away.",
        "mcp.md 1.2, cancellation",
        EVERYWHERE,
    ),
    "direct.deadline": Requirement("Reading ends after 60 s with -32003.", "gateway.md D19", HTTP),
    "logging.levels": Requirement(
        "Log messages go out from the level on that was asked for; a level that does not exist is -32602.",
        f"{SPEC_2025}/server/utilities/logging; mcp.md 1.2",
        EVERYWHERE,
    ),
    "logging.asked": Requirement(
        "Without being asked nobody gets log messages: a level holds for its session, or for its request.",
        "mcp.md 1.2, log messages",
        EVERYWHERE,
    ),
    "capabilities.missing": Requirement(
        "What needs a client that can do more is -32021 and names what, as the session or the request has declared.",
        f"{SPEC_2026}/basic/index#meta; mcp.md 1.2, missing client capability",
        EVERYWHERE,
    ),
    "params.match": Requirement(
        "An annotated argument and its Mcp-Param header are both there and equal or both absent, else -32020.",
        f"{SPEC_2026}/basic/transports#custom-headers; mcp.md 1.2, 1.3 step 10",
        frozenset({HTTP_2026}),
    ),
    "params.none": Requirement(
        "Elsewhere such arguments need no header.", "mcp.md 1.2", frozenset({HTTP_2025, STDIO_2025, STDIO_2026})
    ),
    # Changes
    "changes.listen": Requirement(
        "subscriptions/listen is acknowledged first with what is honoured, and then told of that and of nothing else.",
        f"{SPEC_2026}/basic/utilities/subscriptions; mcp.md 1.2, change notifications",
        NEW | {GATEWAY_2026},
    ),
    "changes.ended": Requirement(
        "A subscription ends with its client; the server ends it with a result, on stdio with cancelled.",
        f"{SPEC_2026}/basic/utilities/subscriptions; mcp.md 1.2",
        NEW,
    ),
    "changes.told": Requirement(
        "Who is there is told of changed lists, and of resources it subscribed to, until it unsubscribes.",
        f"{SPEC_2025}/server/resources#subscriptions; mcp.md 1.2",
        OLD | {GATEWAY_2025},
    ),
    "changes.stream": Requirement(
        "GET opens the one stream of a session; what it subscribed to outlives that, and it ends with the session.",
        f"{SPEC_2025}/basic/transports#listening-for-messages-from-the-server",
        frozenset({HTTP_2025}),
    ),
    "changes.live": Requirement(
        "What is added to a server that is open is served and told of, from any thread.",
        f"{SPEC_2025}/server/tools#list-changed-notification",
        EVERYWHERE,
    ),
    # stdio
    "stdio.lines": Requirement(
        "One message a line: blank lines are passed over, the last may lack its end, bad bytes cost that line alone.",
        f"{SPEC_2025}/basic/transports#stdio",
        STDIO,
    ),
    "stdio.private": Requirement(
        "print, child processes and what is still held back at the end reach neither our output nor our input.",
        "mcp.md S33",
        STDIO,
    ),
    "stdio.large": Requirement(
        "A line of 10 MB is answered; one over the limit is refused alone.", "stdio_pipe, MAX_LINE_BYTES", STDIO
    ),
    "stdio.era": Requirement(
        "The first request decides for a wire; server/discover alone does not, and initialize may follow it.",
        "mcp.md 1.1, S32",
        STDIO,
    ),
    "stdio.eof": Requirement(
        "At the end of input what is under way is finished and written, then we end.",
        f"{SPEC_2025}/basic/lifecycle#shutdown",
        STDIO,
    ),
    "stdio.unread": Requirement(
        "A client that does not read is not fed without bound, and SIGTERM ends us all the same.",
        "stdio_pipe, MAX_UNSENT_BYTES",
        STDIO,
    ),
    "faults.tested": Requirement("Every fault that was reported of other servers has tests here.", "mcp.md 5", ALL),
    # Clients as they are
    "clients.scenario": Requirement(
        "Every official client goes through one scenario, unmodified, and sees the same everywhere.",
        "PyPI and npm",
        ALL,
    ),
    "clients.python": Requirement(
        "The official Python client lists, calls, sees progress and errors.", "mcp 2.3 from PyPI", ALL
    ),
    "clients.typescript": Requirement(
        "The official TypeScript clients list, call, see progress and errors.", "npm", ALL
    ),
}

_PROOFS = "__proves__"


def proves(requirement: str, *cells: Cell) -> Callable[[_F], _F]:
    """Say of a test which requirement it proves, and on which cells; by default on all of the requirement's.

    Raises:
        KeyError: there is no such requirement.
    """
    wanted = frozenset(cells) or REQUIREMENTS[requirement].cells

    def mark(test: _F) -> _F:
        found: list[tuple[str, frozenset[Cell]]] = getattr(test, _PROOFS, [])
        setattr(test, _PROOFS, [*found, (requirement, wanted)])
        return test

    return mark


def proofs_of(test: object) -> list[tuple[str, frozenset[Cell]]]:
    """What a test says that it proves."""
    return getattr(test, _PROOFS, [])
