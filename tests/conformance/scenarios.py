"""The scenarios that must pass, for each revision of the wire; how they are run is not said here."""

BOTH = (
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-error",
    "tools-call-with-progress",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)

SCENARIOS: dict[str, tuple[str, ...]] = {
    "2025-11-25": ("server-initialize", "ping", *BOTH),
    "2026-07-28": BOTH,
}
