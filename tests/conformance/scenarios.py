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
        "server-sse-polling",
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

TASKS = (
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-request-headers",
    "tasks-required-task-error",
)
"""Of the extension `io.modelcontextprotocol/tasks`, which no revision requires; they speak 2026-07-28."""

SCENARIOS["2026-07-28"] += TASKS

UNDECIDED = ("tasks-status-notifications",)
"""Scenarios that this version of the suite skips whatever the server does; tests/interaction proves what they name."""

CLIENT_BOTH = (
    "tools_call",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
    "json-schema-2020-12-preservation",
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
)

CLIENT_SCENARIOS: dict[str, tuple[str, ...]] = {
    "2025-11-25": ("initialize", "elicitation-sep1034-client-defaults", "sse-retry", *CLIENT_BOTH),
    "2026-07-28": (
        "request-metadata",
        "auth/resource-mismatch",
        "auth/offline-access-scope",
        "auth/offline-access-not-supported",
        "auth/authorization-server-migration",
        "auth/iss-supported",
        "auth/iss-not-advertised",
        "auth/iss-supported-missing",
        "auth/iss-wrong-issuer",
        "auth/iss-unexpected",
        "auth/iss-normalized",
        "auth/metadata-issuer-mismatch",
        "sep-2322-client-request-state",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "json-schema-ref-no-deref",
        *CLIENT_BOTH,
    ),
}
