"""What the wire owes its clients of streams, going away and coming back; see requirements.py for the rest."""

from tests.interaction.requirement import (
    ALL,
    HTTP,
    HTTP_2025,
    HTTP_2026,
    SPEC_2025,
    STDIO_2025,
    STDIO_2026,
    Requirement,
)

STREAM_REQUIREMENTS: dict[str, Requirement] = {
    # JSON or a stream
    "sse.choice": Requirement(
        "SSE only where Accept names it: at once if JSON is not taken, else once a notification goes out.",
        "gateway.md D20",
        HTTP,
    ),
    "sse.headers": Requirement("A stream is neither cached nor held back by proxies.", "gateway.md D20", HTTP),
    "sse.silence": Requirement(
        "After 15 s of silence a stream begins and a comment goes out, and then every 15 s.",
        "mcp.md 1.3, S17; gateway.md D20",
        HTTP,
    ),
    "sse.status": Requirement("An error before the first event keeps its own status.", "mcp.md 1.3", HTTP),
    "sse.slow-reader": Requirement(
        "A client that does not read gets the result when it reads; progress may be lost.",
        "exchange, BUFFERED_FRAMES",
        HTTP,
    ),
    "progress.told": Requirement(
        "Progress goes out on the caller's own answer, rising, with the token and its type.", "mcp.md S11", ALL
    ),
    "progress.asked": Requirement(
        "Without a token there is no progress, and none for a client that takes JSON alone.", "gateway.md D20", ALL
    ),
    # Going away, cancelling, stopping
    "gone.cancels": Requirement(
        "On 2026-07-28 a client that goes away cancels its call, whether JSON or SSE.",
        "gateway.md D21; mcp.md S12",
        frozenset({HTTP_2026}),
    ),
    "gone.keeps": Requirement(
        "Up to 2025-11-25 a client that goes away cancels nothing.", "gateway.md D21", frozenset({HTTP_2025})
    ),
    "gone.keyed": Requirement(
        "A call under a key goes on without its client.", "gateway.md D21", frozenset({HTTP_2026})
    ),
    "gone.harmless": Requirement(
        "Telling a client that is gone is no fault, and none of others' concern.", "mcp.md S14", HTTP
    ),
    "cancel.silence": Requirement(
        "After notifications/cancelled the call stops and nothing more is said of it.",
        f"{SPEC_2025}/basic/utilities/cancellation; mcp.md S10",
        frozenset({HTTP_2025, STDIO_2025, STDIO_2026}),
    ),
    "cancel.own": Requirement(
        "Only the session's own request can be cancelled, by an id that names exactly one.",
        "mcp.md S7, S10",
        frozenset({HTTP_2025, STDIO_2025, STDIO_2026}),
    ),
    "stop.answered": Requirement(
        "When the server stops, who still waits gets an error and no stream stays open.", "mcp.md S8, S16", ALL
    ),
    "memory.released": Requirement("Nothing is kept of a request that has ended.", "mcp.md S3, S6", HTTP),
    # Streams that are gone on with
    "resume.primed": Requirement(
        "A stream begins with an event that has an id and no data, and with retry; older clients get neither.",
        f"{SPEC_2025}/basic/transports#sending-messages-to-the-server",
        frozenset({HTTP_2025}),
    ),
    "resume.rest": Requirement(
        "Who comes back with Last-Event-ID gets what it has missed of that stream, and what is still to come.",
        f"{SPEC_2025}/basic/transports#resumability-and-redelivery",
        frozenset({HTTP_2025}),
    ),
    "resume.asked": Requirement(
        "A request of ours that is not answered is sent again to a client that has missed it.",
        f"{SPEC_2025}/basic/transports#resumability-and-redelivery",
        frozenset({HTTP_2025}),
    ),
    "resume.own": Requirement(
        "An id of another principal, session or agent, and one that nobody was given, is 400.",
        f"{SPEC_2025}/basic/transports#resumability-and-redelivery",
        frozenset({HTTP_2025}),
    ),
    "resume.bounded": Requirement(
        "What is kept for clients that come back is bounded in number, bytes and time, and who comes too late is told.",
        "streams, ResumeLimits",
        frozenset({HTTP_2025}),
    ),
    "resume.restart": Requirement(
        "A call that has a record is answered after a restart too.", "ARCHITECTURE.md 4", frozenset({HTTP_2025})
    ),
    "resume.changes": Requirement(
        "Who opens its session's stream again is told what has changed meanwhile, or that all may have.",
        f"{SPEC_2025}/basic/transports#resumability-and-redelivery",
        frozenset({HTTP_2025}),
    ),
    "resume.clients": Requirement(
        "The official clients come back by themselves when their connection breaks.",
        "mcp 2.3 from PyPI; npm",
        frozenset({HTTP_2025}),
    ),
    "stream.closed": Requirement(
        "A tool may close its call's stream, and the client comes back for the rest; elsewhere that changes nothing.",
        "SEP-1699; mcp.md 1.2, resumability",
        ALL,
    ),
    "unread.dropped": Requirement(
        "A client that takes nothing of its answer is given up after write_timeout_s, and its memory freed.",
        "exchange, WRITE_TIMEOUT_S",
        HTTP,
    ),
}
