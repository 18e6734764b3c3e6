"""The everything-server: what the official suite's scenarios call, with the names and texts it fixes (mcp.md 2.2).

It is served with `toolwire tools serve`, as any author's module would be, and knows nothing of the wire.
"""

from base64 import b64decode
from typing import Annotated, Any

import anyio

from tests.conformance.asking import asking
from tests.conformance.tasks import jobs
from toolwire import Server
from toolwire.core.jsontypes import JsonObject
from toolwire.core.result import Audio
from toolwire.sdk import Image, Resource, ToolContext, ToolError
from toolwire.server import ListChanged, ParamHeader, PromptMessage, from_user

# One red pixel.
PNG = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC")
# One silent sample.
WAV_TEXT = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
STEP_S = 0.05
"""How far apart the suite wants what is told on the way."""

server = Server("everything", "1.0.0", instructions="Call what the scenario names.")


@server.tool
async def test_simple_text() -> str:
    """Return one line of text."""
    return "This is a simple text response for testing."


@server.tool
async def test_image_content() -> Image:
    """Return a PNG image."""
    return Image(PNG, "image/png")


@server.tool
async def test_audio_content() -> Audio:
    """Return a WAV sound."""
    return Audio(data=WAV_TEXT, mime_type="audio/wav")


@server.tool
async def test_embedded_resource() -> Resource:
    """Return a resource with its body."""
    return Resource("test://embedded-resource", "This is an embedded resource content.", mime_type="text/plain")


@server.tool
async def test_multiple_content_types() -> list[Any]:
    """Return a text, an image and a resource."""
    body = '{"test":"data","value":123}'
    return [
        "Multiple content types test:",
        Image(PNG, "image/png"),
        Resource("test://mixed-content-resource", body, mime_type="application/json"),
    ]


@server.tool
async def test_error_handling() -> str:
    """Fail, so that a client can show how it treats that."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool
async def test_tool_with_progress(ctx: ToolContext) -> str:
    """Tell three times how far it is before it answers."""
    for done in (0, 50, 100):
        await ctx.progress(f"Completed step {done} of 100", done, 100)
        await anyio.sleep(STEP_S)
    return "All steps completed"


@server.tool
async def test_reconnection(ctx: ToolContext) -> str:
    """Let the client hang up, and answer when it has come back."""
    await ctx.close_stream(retry_after_s=0.1)
    await anyio.sleep(4 * STEP_S)
    return "Reconnection test completed"


async def _log_three_times(ctx: ToolContext) -> None:
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        ctx.log.info(said)
        await anyio.sleep(STEP_S)


@server.tool
async def test_tool_with_logging(ctx: ToolContext) -> str:
    """Log three times before it answers."""
    await _log_three_times(ctx)
    return "Logged three times"


@server.tool
async def test_logging_tool(ctx: ToolContext) -> str:
    """Log, which only a client that asked for it may hear of."""
    await _log_three_times(ctx)
    return "Logged three times"


@server.tool
async def test_missing_capability(ctx: ToolContext) -> str:
    """Need a client that can be asked to sample."""
    ctx.require_client("sampling")
    return "The client can sample"


@server.tool
async def test_streaming_elicitation(ctx: ToolContext) -> str:
    """Answer on a stream, on which the server asks nothing."""
    await ctx.progress("Half way", 1, 2)
    return "Answered on the stream"


@server.tool
def test_trigger_tool_change() -> str:
    """Say that the list of tools has changed."""
    server.tell(ListChanged("tools"))
    return "Told"


@server.tool
def test_trigger_prompt_change() -> str:
    """Say that the list of prompts has changed."""
    server.tell(ListChanged("prompts"))
    return "Told"


@server.tool
async def test_x_mcp_header(region: Annotated[str, ParamHeader("Region")] = "") -> str:  # noqa: PT028 -- no test
    """Tell the region, which clients repeat in a header."""
    return f"region={region}"


@server.tool(
    name="json_schema_2020_12_tool",
    version="1",
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    description="Take what a schema of JSON Schema 2020-12 describes.",
)
async def json_schema_2020_12_tool(arguments: JsonObject, ctx: ToolContext) -> str:
    """Tell which arguments came."""
    return f"arguments: {sorted(arguments)}"


@server.resource("test://static-text", mime_type="text/plain")
async def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
async def static_binary() -> bytes:
    """A picture that never changes."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
async def watched() -> str:
    """A text that may change."""
    return "Watched"


@server.resource("test://template/{id}/data", mime_type="application/json")
async def template_data(id: str) -> JsonObject:
    """Data of one id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@server.prompt
async def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@server.prompt
async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt that repeats its arguments.

    Args:
        arg1: the first.
        arg2: the second.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.complete("test_prompt_with_arguments", "arg1")
async def arg1_of(value: str) -> list[str]:
    """What the first argument may be."""
    return [word for word in ("test", "testing", "tested") if word.startswith(value)]


@server.prompt
async def test_prompt_with_embedded_resource(resourceUri: str) -> list[PromptMessage]:  # noqa: N803 -- the suite's
    """A prompt with a resource in it.

    Args:
        resourceUri: of the resource.
    """
    return [
        from_user(Resource(resourceUri, "Embedded resource content for testing.", mime_type="text/plain")),
        from_user("Please process the embedded resource above."),
    ]


@server.prompt
async def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt with an image in it."""
    return [from_user(Image(PNG, "image/png")), from_user("Please analyze the image above.")]


server.add(asking, jobs)
