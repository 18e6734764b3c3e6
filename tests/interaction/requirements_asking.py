"""What is owed to clients that a server asks something: see requirements.py."""

from tests.interaction.requirement import (
    ALL,
    EVERYWHERE,
    HTTP_2025,
    HTTP_2026,
    NEW,
    OLD,
    SPEC_2025,
    SPEC_2026,
    STDIO_2025,
    Requirement,
)

MRTR = f"{SPEC_2026}/basic/mrtr; mcp.md 1.2, MRTR rules"

ASKING_REQUIREMENTS: dict[str, Requirement] = {
    "asking.each": Requirement(
        "Tools, prompts and resources ask for forms, pages, samples and roots, and go on with the answers.",
        f"{SPEC_2025}/client/elicitation, /client/sampling, /client/roots; {SPEC_2026}/basic/mrtr",
        EVERYWHERE,
    ),
    "asking.together": Requirement("Several things are asked at once.", MRTR, EVERYWHERE),
    "asking.declared": Requirement(
        "A client is asked for nothing that it has not declared; the call is refused with -32021 instead.",
        "mcp.md 1.2, missing client capability",
        EVERYWHERE,
    ),
    "asking.declined": Requirement(
        "No and never mind are answers, which the tool gets to see.", f"{SPEC_2025}/client/elicitation", EVERYWHERE
    ),
    "asking.checked": Requirement(
        "A tool sees no answer that is not what it asked for: it is asked again, or the call ends badly.",
        f"{SPEC_2025}/client/elicitation#security-considerations; mcp.md 1.2, MRTR rules",
        EVERYWHERE,
    ),
    "asking.thread": Requirement(
        "A body on a thread that asks hears when its call is over, and is not left to wait.", "mcp.md S20", ALL
    ),
    "asking.own-stream": Requirement(
        "On the older wire a question goes out on the stream of the request it belongs to, under an id of its own.",
        f"{SPEC_2025}/basic/transports#sending-messages-to-the-server",
        OLD,
    ),
    "asking.foreign": Requirement(
        "A response is taken from the session and the caller alone that were asked.",
        "mcp.md 1.2, server asks client",
        frozenset({HTTP_2025}),
    ),
    "asking.withdrawn": Requirement(
        "When a call ends before its question is answered, the question is withdrawn with notifications/cancelled.",
        f"{SPEC_2025}/basic/utilities/cancellation",
        OLD,
    ),
    "asking.refused": Requirement(
        "A client that answers with an error makes the call fail, and nothing else.", "JSON-RPC 2.0, 5", OLD
    ),
    "asking.page": Requirement(
        "A page to visit has an id that its end is told by; a client without a stream is sent there by -32042.",
        f"{SPEC_2025}/client/elicitation#url-mode; mcp.md 1.2, URL elicitation",
        frozenset({HTTP_2025, STDIO_2025}),
    ),
    "mrtr.once": Requirement("What a body did before it asked happens once.", "docs/adr/0016", NEW),
    "mrtr.rounds": Requirement("Each round has questions and a state of its own.", MRTR, NEW),
    "mrtr.again": Requirement(
        "Missing, partial and wrong answers are asked for again; unknown keys are ignored.", MRTR, NEW
    ),
    "mrtr.malformed": Requirement("Answers that are no object of objects are -32602.", MRTR, NEW),
    "mrtr.sealed": Requirement(
        "A state that is not ours, was changed, is too old or belongs to another request is -32602, in the same words.",
        MRTR,
        NEW,
    ),
    "mrtr.elsewhere": Requirement(
        "Where the body is not here any more, it begins anew with the answers in the state.",
        "mcp.md S37; docs/adr/0016",
        frozenset({HTTP_2026}),
    ),
    "mrtr.repeated": Requirement("The same repeat twice has the same answer, and no second effect.", MRTR, NEW),
    "mrtr.keyed": Requirement("A call under a key that asks stays the one call of its key.", "gateway.md 40", NEW),
    "mrtr.no-requests": Requirement(
        "No JSON-RPC request is sent to a client of 2026-07-28.", "mcp.md 1.2, server asks client", NEW
    ),
    "mrtr.request": Requirement(
        "The repeat hears progress under its own token, has its own time, and cancels the call when it goes away.",
        f"{SPEC_2026}/basic/utilities/progress, /cancellation; mcp.md 1.2",
        NEW,
    ),
    "mrtr.time": Requirement(
        "A body waits 600 s for its answers, however long its call may take otherwise, and is given up then.",
        "sealing, STATE_TTL_S",
        frozenset({HTTP_2026}),
    ),
    "mrtr.bounded": Requirement(
        "Bodies that wait are bounded in number; the one that has waited longest gives way.",
        "parking, MAX_PARKED",
        frozenset({HTTP_2026}),
    ),
    "mrtr.now": Requirement(
        "A client that can do less now than before is not asked for what it could do then.",
        f"{SPEC_2026}/basic/index#meta",
        frozenset({HTTP_2026}),
    ),
    "asking.clients": Requirement(
        "The official Python client answers questions on both wires.", "mcp 2.3 from PyPI", ALL
    ),
}
