"""The client under test: does with our client what a scenario of the official suite wants of one, then ends.

The suite starts it with the URL of its server, and says in the environment which scenario it is. What to do there
stands in `client_tasks`; here is how it connects and signs in.
"""

import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2

from tests.conformance.client_tasks import TASKS, call_all
from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote import open_remote
from toolwire.providers.remote_auth import Assertion, Auth, Credentials, Enterprise, SignIn
from toolwire.providers.remote_forms import completing
from toolwire.providers.remote_oauth_store import MemoryTokens
from toolwire.providers.remote_server import Callbacks, HttpServer, Patience
from toolwire.providers.remote_sign_in import auth_of

MODERN = "2026-07-28"
LIMIT_S = 60.0
METADATA_URL = "https://conformance-test.local/client-metadata.json"
"""Of the document that the suite takes for the client's."""


async def visit(link: str) -> None:
    """Be the person: open the link, and go where it leads."""
    async with httpx2.AsyncClient(follow_redirects=True, timeout=LIMIT_S) as browser:
        await browser.get(link)


async def accept(_question: JsonObject) -> JsonObject:
    """Accept a form as it is."""
    return {"action": "accept", "content": {}}


async def sample(_question: JsonObject) -> JsonObject:
    """Answer for a model."""
    return {"role": "assistant", "content": {"type": "text", "text": "Sampled"}, "model": "scripted"}


async def no_roots(_question: JsonObject) -> JsonObject:
    """Give away nothing."""
    return {"roots": []}


def auth_for(scenario: str, given: JsonObject) -> Auth:
    """How to sign in with what the suite gives."""
    client: dict[str, Any] = {key: given[key] for key in ("client_id", "client_secret", "issuer") if key in given}
    match given:
        case {"private_key_pem": key, "signing_algorithm": algorithm}:
            return Credentials(**client, private_key=key, algorithm=algorithm)
        case {"valid_jwt": token}:
            return Assertion(**client, assertion=token)
        case {"idp_id_token": token}:
            idp = {key: given[key] for key in ("idp_client_id", "idp_token_endpoint")}
            return Enterprise(**client, **idp, id_token=token)
        case {"client_id": _} if "client-credentials" in scenario:
            return Credentials(**client)
        case _:
            return SignIn(show=visit, metadata_url=METADATA_URL, **client)


async def main(url: str) -> None:
    """Do what the scenario wants."""
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    modern = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION") == MODERN
    given: JsonObject = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    auth = auth_of(url, auth_for(scenario, given), MemoryTokens(url))
    server = HttpServer(url, protocol="auto" if modern else "legacy", auth=auth)
    callbacks = Callbacks(elicit=completing(accept), sample=sample, roots=no_roots)
    task: Callable[..., Awaitable[None]] = TASKS.get(scenario, call_all)
    with anyio.fail_after(LIMIT_S):
        async with open_remote(server, "suite", Patience(connect_s=LIMIT_S), callbacks=callbacks) as provider:
            await task(provider, given)


if __name__ == "__main__":
    try:
        anyio.run(main, sys.argv[-1])
    except ToolwireError as error:
        sys.exit(f"{error.code}: {error.message}")
