"""`toolwire call`: calls one tool over MCP and prints what it answers; how the answer looks is `results`' matter."""

import math
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
from cyclopts import Parameter

from toolwire.cli.endpoints import Endpoint, endpoint_of
from toolwire.cli.failure import DONE, TOOL_FAILED, Failed, misused
from toolwire.cli.mcp_client import connected
from toolwire.cli.output import print_json
from toolwire.cli.parameters import HostFlags, JsonFlag, Place
from toolwire.cli.progress import ProgressLine
from toolwire.cli.results import print_result
from toolwire.cli.sign_in import SignInFlags

HERE = HostFlags()
BY_LINK = SignInFlags()
TIMEOUT_META = "toolwire/timeout_ms"
PATIENCE_S = 5.0
"""How much longer than the time-out we wait for the server to say that it is over."""


def call(
    place: Place,
    tool: Annotated[str, Parameter(help="The tool's name, as `tools list` shows it.")],
    /,
    *,
    args: Annotated[
        str, Parameter(allow_leading_hyphen=True, help="Arguments, a JSON object; `-` reads it from stdin.")
    ] = "{}",
    timeout: Annotated[float | None, Parameter(help="Seconds after which to give up.")] = None,
    output: Annotated[Path | None, Parameter(help="File for the picture, or whatever else is no text.")] = None,
    host: HostFlags = HERE,
    sign_in: SignInFlags = BY_LINK,
    json: JsonFlag = False,
) -> int:
    """Call a tool, show on stderr how far it is, and print its text.

    Ends with 0, with 1 when the tool says that it failed, with 2 when the command was misused, and with 3 when the tool
    could not be asked.

    With `--json` the whole result is printed as the server sent it, an error as `{"error": {…}}`.
    """
    arguments = read_arguments(args)
    if timeout is not None and not 0 < timeout < 1e7:
        raise misused(f"--timeout is a number of seconds above 0, not {timeout:g}")
    endpoint = endpoint_of(place, host, sign_in.header or (), sign_in=sign_in)
    result = anyio.run(partial(ask, endpoint, tool, arguments, timeout))
    if json:
        print_json(result)
    if output is not None or not json:
        print_result(result, output, quiet=json)
    return TOOL_FAILED if result.get("isError") else DONE


def read_arguments(text: str) -> dict[str, Any]:
    """The arguments that `--args` gives.

    Raises:
        Failed: they are no JSON object.
    """
    try:
        arguments = msgspec.json.decode(sys.stdin.read() if text == "-" else text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise misused(f'--args is not JSON: {error}; it looks like \'{{"name": "value"}}\'') from None
    if not isinstance(arguments, dict):
        raise misused(f"--args must be a JSON object, not {text.strip()!r}")
    return arguments  # pyright: ignore[reportUnknownVariableType] -- the keys of a JSON object are strings


async def ask(endpoint: Endpoint, tool: str, arguments: dict[str, Any], timeout_s: float | None) -> dict[str, Any]:
    """Call the tool once; the result as the JSON of MCP.

    Raises:
        Failed: it could not be asked, or did not answer in time.
    """
    line = ProgressLine(tool)
    meta: Any = None if timeout_s is None else {TIMEOUT_META: round(timeout_s * 1000)}
    with endpoint.clocks.limit(math.inf if timeout_s is None else timeout_s + PATIENCE_S):
        async with connected(endpoint) as client, line.shown():
            result = await client.call_tool(tool, arguments, progress_callback=line.update, meta=meta)
        return result.model_dump(mode="json", by_alias=True, exclude_none=True)
    raise Failed(f"{tool!r} has not answered within {timeout_s:g} s; give it a longer --timeout", "service_timeout")
