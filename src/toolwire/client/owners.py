"""What a client asks about its owner and the host: sign-ins, grants of OAuth, the audit, health; it sends nothing.

Spec: gateway.md §6, REST.
"""

from msgspec.structs import replace

from toolwire.client.asks import Ask, delete, get, part, post
from toolwire.client.doors import D, Group, Method
from toolwire.wire.answers.agents import Browser, BrowserSession, Grant, Health, Readiness, SignInLink
from toolwire.wire.answers.records import AuditAnchor, AuditEntry


class GrantCalls(Group[D]):
    """What the owner has let clients of OAuth do, by an owner's key."""

    @Method
    def list(self) -> Ask["list[Grant]"]:
        """The owner's grants."""
        return get("/grants", list[Grant])

    @Method
    def revoke(self, grant_id: str) -> Ask[None]:
        """End a grant and its tokens."""
        return delete(f"/grants/{part(grant_id)}")


class BrowserCalls(Group[D]):
    """Browsers in which the owner is signed in, by an owner's key."""

    @Method
    def new_link(self) -> Ask[SignInLink]:
        """Make an address that signs the owner in with a browser, once."""
        return post("/sign-in-links", SignInLink)

    @Method
    def list(self) -> Ask["list[Browser]"]:
        """The browsers in which the owner is signed in, the latest first."""
        return get("/browser/sessions", list[Browser])

    @Method
    def end(self, session_id: str) -> Ask[None]:
        """Sign a browser out, from now on."""
        return delete(f"/browser/sessions/{part(session_id)}")

    @Method
    def who(self) -> Ask[BrowserSession]:
        """Whose key this is; a key has no session."""
        return get("/browser/session", BrowserSession)

    @Method
    def sign_out(self) -> Ask[None]:
        """Sign the browser out that asks; a key stays as it is."""
        return replace(post("/browser/sign-out", type(None)), idempotent=True)


class AuditCalls(Group[D]):
    """The owner's chain of calls that have ended, by an owner's key."""

    @Method
    def list(
        self, after: int | None = None, limit: int | None = None, *, before: int | None = None
    ) -> Ask["list[AuditEntry]"]:
        """Entries with a higher number than `after`, in order; the next page begins after the last one's `seq`.

        With `before`, the last `limit` entries with a lower number.
        """
        return replace(get("/audit", list[AuditEntry], {"after": after, "before": before, "limit": limit}), lines=True)

    @Method
    def anchor(self) -> Ask[AuditAnchor]:
        """The last entry that is not kept any more, which the first one that is kept follows."""
        return get("/audit/anchor", AuditAnchor)


class HostCalls(Group[D]):
    """How the host does; any key will do."""

    @Method
    def health(self) -> Ask[Health]:
        """Whether the process answers."""
        return replace(get("", Health), path="/healthz")

    @Method
    def readiness(self) -> Ask[Readiness]:
        """Whether calls are taken: the store can be written."""
        return replace(get("", Readiness), path="/readyz")
