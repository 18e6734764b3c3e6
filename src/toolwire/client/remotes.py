"""What a client asks about remote MCP servers and the definitions that wait for consent; it sends nothing.

Spec: gateway.md §6, REST.
"""

from collections.abc import Mapping, Sequence

from toolwire.client.asks import Ask, delete, get, part, post, present, put
from toolwire.client.doors import D, Group, Method
from toolwire.core.jsontypes import JsonObject
from toolwire.wire.answers.remotes import Answered, Consent, Remote


class RemoteCalls(Group[D]):
    """Remote MCP servers behind the gateway, by an owner's key. Each is an agent, called as any other."""

    @Method
    def add(
        self,
        alias: str,
        *,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        command: Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        sign_in: JsonObject | None = None,
    ) -> Ask[Remote]:
        """Put a server behind the gateway, at a `url` with `headers` or a `sign_in`, or as a `command` with `env`.

        Its tools as listed now are accepted with that.
        """
        words = None if command is None else list(command)
        return post(
            "/remotes", Remote, present(alias=alias, url=url, headers=headers, command=words, env=env, sign_in=sign_in)
        )

    @Method
    def list(self) -> Ask["list[Remote]"]:
        """The owner's remote servers."""
        return get("/remotes", list[Remote])

    @Method
    def sign_in(
        self,
        remote: str,
        tokens: JsonObject,
        *,
        expires_at: str | None = None,
        client: JsonObject | None = None,
        server: JsonObject | None = None,
        resource: JsonObject | None = None,
        proof_key: str | None = None,
    ) -> Ask[Remote]:
        """Have the gateway use what a sign-in at a server gave, in the words of OAuth; the time is RFC 3339."""
        body = present(tokens=tokens, expires_at=expires_at, client=client, server=server, resource=resource)
        return put(f"/remotes/{part(remote)}/sign-in", Remote, body | present(proof_key=proof_key))

    @Method
    def remove(self, remote: str) -> Ask[None]:
        """Forget a server, by its alias or its agent's id, and all that was accepted of it."""
        return delete(f"/remotes/{part(remote)}")


class ConsentCalls(Group[D]):
    """Definitions of remote servers that are held until their owner accepts them, by an owner's key."""

    @Method
    def list(self) -> Ask["list[Consent]"]:
        """What waits, and what was refused."""
        return get("/consents", list[Consent])

    @Method
    def get(self, consent: str) -> Ask[Consent]:
        """One definition that is held, with how it differs from the accepted one."""
        return get(f"/consents/{part(consent)}", Consent)

    @Method
    def answer(self, consent: str, accept: bool) -> Ask[Answered]:
        """Accept or refuse exactly the definition that was shown under this id."""
        return post(f"/consents/{part(consent)}", Answered, {"accept": accept})
