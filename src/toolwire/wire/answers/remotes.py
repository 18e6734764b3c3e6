"""Answers on remote servers and consents; they carry no credential.

Spec: gateway.md §6, REST.
"""

from typing import Literal

from msgspec import Struct

from toolwire.wire.answers.times import Time


class Remote(Struct, frozen=True, kw_only=True):
    """A remote MCP server, which is an agent: `server` is its URL without credentials and query, or its program.

    `sign_in` is "wanted" where its owner has to sign in, and "done" where that was done.
    """

    agent_id: str
    alias: str
    server: str
    connected: bool
    mcp_url: str
    tools: list[str]
    held: int
    sign_in: Literal["none", "wanted", "done"]
    created_at: Time | None = None


class Consent(Struct, frozen=True, kw_only=True):
    """A definition that is held; `diff` shows it against the accepted one, a line each."""

    consent_id: str
    agent_id: str
    agent: str
    tool: str
    kind: Literal["new", "changed"]
    state: Literal["waiting", "refused"]
    diff: str


class Answered(Struct, frozen=True, kw_only=True):
    """What was answered to a consent."""

    consent_id: str
    accepted: bool
