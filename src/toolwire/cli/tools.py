"""`toolwire tools list`: what an MCP server or an agent offers."""

from functools import partial
from typing import Annotated, Any

import anyio
from cyclopts import Parameter

from toolwire.cli.endpoints import Endpoint, endpoint_of
from toolwire.cli.failure import DONE, Failed
from toolwire.cli.mcp_client import connected
from toolwire.cli.output import print_json, print_table
from toolwire.cli.parameters import HostFlags, JsonFlag, Place
from toolwire.cli.sign_in import SignInFlags
from toolwire.providers.remote_lists import fetch
from toolwire.providers.remote_server import Listing

HERE = HostFlags()
BY_LINK = SignInFlags()
KEYS: dict[Listing, str] = {
    "tools": "tools",
    "prompts": "prompts",
    "resources": "resources",
    "templates": "resourceTemplates",
}


def list_tools(
    place: Place,
    /,
    *,
    everything: Annotated[bool, Parameter(name="--all", negative="", help="List resources and prompts, too.")] = False,
    host: HostFlags = HERE,
    sign_in: SignInFlags = BY_LINK,
    json: JsonFlag = False,
) -> int:
    """List the tools that can be called there, with their arguments.

    With `--json`: `{"tools": […]}`, each as the server shows it; with `--all`, also `prompts`, `resources` and
    `resourceTemplates`.
    """
    listed = anyio.run(partial(ask, endpoint_of(place, host, sign_in.header or (), sign_in=sign_in), everything))
    if json:
        print_json({KEYS[listing]: entries for listing, entries in listed.items()})
        return DONE
    print_table(("TOOL", "ARGUMENTS", "DESCRIPTION"), [_row(tool) for tool in listed["tools"]], "it offers no tools")
    if everything:
        resources = [(each.get("uri") or each["uriTemplate"], each) for each in _both(listed)]
        print()
        print_table(("RESOURCE", "NAME", "DESCRIPTION"), [_named(*each) for each in resources], "it has no resources")
        print()
        rows = [(prompt["name"], _arguments(prompt), _words(prompt)) for prompt in listed["prompts"]]
        print_table(("PROMPT", "ARGUMENTS", "DESCRIPTION"), rows, "it has no prompts")
    return DONE


async def ask(endpoint: Endpoint, everything: bool = False) -> dict[Listing, list[dict[str, Any]]]:
    """The tools of an endpoint, or everything it lists, page by page, as the JSON of MCP.

    Raises:
        Failed: it could not be asked, or its list does not end.
    """
    listed: dict[Listing, list[dict[str, Any]]] = {}
    async with connected(endpoint) as client:
        has = client.server_capabilities
        offered: dict[Listing, Any] = {"tools": True}
        if everything:
            offered |= {"prompts": has.prompts, "resources": has.resources, "templates": has.resources}
        for listing, is_there in offered.items():
            try:
                entries = (await fetch(client, listing)).entries if is_there else ()
            except ValueError as error:
                raise Failed(f"{endpoint.url}: {error}", "invalid_agent_response") from None
            listed[listing] = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in entries]
    return listed


def _both(listed: dict[Listing, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return listed["resources"] + listed["templates"]


def _row(tool: dict[str, Any]) -> tuple[str, str, str]:
    schema = tool["inputSchema"]
    required = schema.get("required", ())
    arguments = [name if name in required else f"[{name}]" for name in schema.get("properties", {})]
    return tool["name"], " ".join(arguments), _words(tool)


def _named(uri: str, resource: dict[str, Any]) -> tuple[str, str, str]:
    return uri, resource["name"], _words(resource)


def _arguments(prompt: dict[str, Any]) -> str:
    arguments = prompt.get("arguments", ())
    return " ".join(each["name"] if each.get("required") else f"[{each['name']}]" for each in arguments)


def _words(shown: dict[str, Any]) -> str:
    return " ".join(shown.get("description", "").split())
