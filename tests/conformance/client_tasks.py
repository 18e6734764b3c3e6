"""What scenarios of the official suite want a connected client to do; most want every tool called once."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from toolwire.core.call import Call, Caller
from toolwire.core.handler import Emit
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Result
from toolwire.providers.remote import RemoteProvider
from toolwire.providers.remote_library import RemoteLibrary

CALLER = Caller("suite", "suite", "cli")
CALL_S = 60.0
FILLING: dict[str, Any] = {"string": "text", "integer": 5, "number": 5, "boolean": True, "array": [], "object": {}}


async def call(provider: RemoteProvider, tool: str, arguments: JsonObject) -> Result:
    """Call a tool; a tool that fails is no failure here."""
    made = Call("call_suite", CALLER, tool, arguments, time.time() + CALL_S)
    return await provider.call(made, lambda _: None)


async def call_all(provider: RemoteProvider, _given: JsonObject) -> None:
    """Call every tool with what its schema asks for."""
    for tool in await provider.current():
        await call(provider, tool.name, filled(tool.input_schema))


async def call_given(provider: RemoteProvider, given: JsonObject) -> None:
    """Call what the suite says, with the arguments that it says."""
    for wanted in given["toolCalls"]:
        await call(provider, wanted["name"], wanted["arguments"])


async def echo_schema(provider: RemoteProvider, _given: JsonObject) -> None:
    """Send the schema of one tool, as it is known here, to the other one."""
    focal, echo = await provider.current()
    await call(provider, echo.name, {"schema": focal.input_schema})


async def use_all(provider: RemoteProvider, given: JsonObject) -> None:
    """Call every tool, read every resource and get every prompt."""
    await call_all(provider, given)

    @asynccontextmanager
    async def lease(_caller: Caller, _emit: Emit | None) -> AsyncGenerator[RemoteProvider]:
        yield provider

    library = RemoteLibrary(lease, "suite")
    await library.renew(provider, "resources", 0)
    await library.renew(provider, "prompts", 0)
    request = Call("call_suite", CALLER, "", {}, time.time() + CALL_S)
    for resource in library.resources():
        await library.read(resource.uri, request, lambda _: None)
    for prompt in library.prompts():
        await library.get(prompt.name, request, lambda _: None)


def filled(schema: JsonObject) -> JsonObject:
    """Arguments that have what a simple schema requires."""
    fields: JsonObject = schema.get("properties", {})
    return {name: FILLING.get(fields.get(name, {}).get("type"), "text") for name in schema.get("required", ())}


TASKS: dict[str, Callable[[RemoteProvider, JsonObject], Awaitable[None]]] = {
    "http-custom-headers": call_given,
    "http-standard-headers": use_all,
    "json-schema-2020-12-preservation": echo_schema,
}
