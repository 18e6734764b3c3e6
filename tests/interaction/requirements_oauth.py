"""What a gateway owes clients that sign in with OAuth; see requirements.py for the rest."""

from tests.interaction.requirement import GATEWAY, SPEC_2025, SPEC_2026, Requirement

OAUTH_REQUIREMENTS: dict[str, Requirement] = {
    "oauth.challenge": Requirement(
        "A request without a good token is 401 and leads to metadata on the very endpoint that was asked.",
        f"{SPEC_2025}/basic/authorization#protected-resource-metadata-discovery-requirements; RFC 9728, 3.3 and 5.1",
        GATEWAY,
    ),
    "oauth.metadata": Requirement(
        "The endpoint's metadata names its authorization server, and that says that it does S256, sends `iss` and "
        "takes documents on clients.",
        f"{SPEC_2026}/basic/authorization#authorization-server-metadata-discovery; RFC 8414; RFC 9207",
        GATEWAY,
    ),
    "oauth.token-use": Requirement(
        "A token counts in the Authorization header alone, and with each request anew, in a session or not.",
        f"{SPEC_2025}/basic/authorization#access-token-usage",
        GATEWAY,
    ),
    "oauth.audience": Requirement(
        "A token opens the endpoints that it was given for and no other; an unknown resource gets none.",
        f"{SPEC_2025}/basic/authorization#token-audience-binding-and-validation; RFC 8707",
        GATEWAY,
    ),
    "oauth.code": Requirement(
        "A code needs its S256 verifier, its client and its redirect URI, and is good once.",
        f"{SPEC_2025}/basic/authorization#authorization-code-protection; OAuth 2.1, 4.1.3",
        GATEWAY,
    ),
    "oauth.redirect": Requirement(
        "A browser is sent to registered addresses alone, compared character by character but for a loopback port.",
        f"{SPEC_2025}/basic/authorization#open-redirection; RFC 8252, 7.3",
        GATEWAY,
    ),
    "oauth.rotation": Requirement(
        "A refresh token is good once, and the second use of one ends all that came of it.",
        f"{SPEC_2025}/basic/authorization#token-theft; OAuth 2.1, 4.3.1",
        GATEWAY,
    ),
}
