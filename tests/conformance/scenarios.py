"""The scenarios that must pass, for each revision of the wire; how they are run is not said here."""

BOTH = (
    "completion-complete",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
)

SCENARIOS: dict[str, tuple[str, ...]] = {
    "2025-11-25": (
        "server-initialize",
        "server-session-lifecycle",
        "ping",
        "logging-set-level",
        "tools-call-with-logging",
        "resources-subscribe",
        "resources-unsubscribe",
        *BOTH,
    ),
    "2026-07-28": (
        "server-stateless",
        "caching",
        "http-header-validation",
        "http-custom-header-server-validation",
        "sep-2164-resource-not-found",
        "input-required-result-unsupported-methods",
        *BOTH,
    ),
}
