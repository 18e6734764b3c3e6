"""`toolwire tools list`: what an MCP server or an agent offers."""

from functools import partial
from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from toolwire.cli.endpoints import Endpoint, endpoint_of
from toolwire.cli.failure import DONE
from toolwire.cli.mcp_client import connected
from toolwire.cli.output import print_json, print_table
from toolwire.cli.parameters import HostFlags, JsonFlag
from toolwire.cli.sign_in import SignInFlags

HERE = HostFlags()
BY_LINK = SignInFlags()


def list_tools(
    place: Annotated[str, Parameter(help="URL of an MCP endpoint, or the name or id of an agent of the host here.")],
    /,
    *,
    host: HostFlags = HERE,
    sign_in: SignInFlags = BY_LINK,
    json: JsonFlag = False,
) -> int:
    """List the tools that can be called there, with their arguments.

    With `--json`: `{"tools": […]}`, each as the server shows it.
    """
    tools = anyio.run(partial(ask, endpoint_of(place, host, sign_in.header or (), sign_in=sign_in)))
    if json:
        print_json({"tools": tools})
    else:
        print_table(("TOOL", "ARGUMENTS", "DESCRIPTION"), [_row(tool) for tool in tools], "it offers no tools")
    return DONE


async def ask(endpoint: Endpoint) -> list[dict[str, Any]]:
    """All tools of an endpoint, page by page, as the JSON of MCP.

    Raises:
        Failed: it could not be asked.
    """
    tools: list[dict[str, Any]] = []
    async with connected(endpoint) as client:
        cursor: str | None = None
        while True:
            page = await client.list_tools(cursor=cursor)
            tools += [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in page.tools]
            cursor = page.next_cursor
            if cursor is None:
                return tools


def _row(tool: dict[str, Any]) -> tuple[str, str, str]:
    schema = tool["inputSchema"]
    required = schema.get("required", ())
    arguments = [name if name in required else f"[{name}]" for name in schema.get("properties", {})]
    return tool["name"], " ".join(arguments), " ".join(tool.get("description", "").split())
