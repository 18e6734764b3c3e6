"""What an MCP server asks of its client, given to `Callbacks` in MCP's words; it decides no answer."""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pydantic
from mcp import Client, MCPError, types
from mcp.client.session import ClientRequestContext

from toolwire.core.errors import ToolwireError
from toolwire.core.jsontypes import JsonObject
from toolwire.providers.remote_changes import MODERN
from toolwire.providers.remote_server import Ask, Callbacks

LOGGER = logging.getLogger("toolwire.remote")

T = TypeVar("T")

_ELICITED = pydantic.TypeAdapter[types.ElicitResult](types.ElicitResult)
_SAMPLED = pydantic.TypeAdapter[types.CreateMessageResult | types.CreateMessageResultWithTools](
    types.CreateMessageResult | types.CreateMessageResultWithTools
)
_ROOTS = pydantic.TypeAdapter[types.ListRootsResult](types.ListRootsResult)


def client_options(callbacks: Callbacks) -> dict[str, Any]:
    """The arguments of the official client that let `callbacks` answer, and declare no more than they can."""
    options: dict[str, Any] = {}
    if callbacks.elicit is not None:
        options["elicitation_callback"] = _answering(callbacks.elicit, _ELICITED)
    if callbacks.sample is not None:
        options["sampling_callback"] = _answering(callbacks.sample, _SAMPLED)
        options["sampling_capabilities"] = types.SamplingCapability.model_validate(callbacks.sampling or {})
    if callbacks.roots is not None:
        ask_roots = _answering(callbacks.roots, _ROOTS)

        async def list_roots(context: ClientRequestContext) -> types.ListRootsResult | types.ErrorData:
            return await ask_roots(context, None)

        options["list_roots_callback"] = list_roots
    if callbacks.log is not None:
        hear = callbacks.log

        async def log(params: types.LoggingMessageNotificationParams) -> None:
            hear(_plain(params))

        options["logging_callback"] = log
        options["log_level"] = callbacks.log_level
    return options


async def hear_logs(client: Client, callbacks: Callbacks) -> None:
    """Ask a server of the initialize wire for its log messages; on 2026-07-28 each request asks for its own."""
    if callbacks.log is None or client.protocol_version == MODERN or client.server_capabilities.logging is None:
        return
    level = types.SetLevelRequest(params=types.SetLevelRequestParams(level=callbacks.log_level))
    with contextlib.suppress(MCPError):  # then there are none
        await client.session.send_request(level, types.EmptyResult)


def _answering(
    ask: Ask, answers: pydantic.TypeAdapter[T]
) -> Callable[[ClientRequestContext, Any], Awaitable[T | types.ErrorData]]:
    async def answer(_context: ClientRequestContext, params: Any) -> T | types.ErrorData:
        try:
            return answers.validate_python(await ask({} if params is None else _plain(params)), by_name=False)
        except ToolwireError as error:
            return types.ErrorData(code=error.row.jsonrpc, message=error.told)
        except pydantic.ValidationError:
            LOGGER.exception("the answer to a question of a server is none")
            return types.ErrorData(code=types.INTERNAL_ERROR, message="the client has no answer to that")

    return answer


def _plain(params: pydantic.BaseModel) -> JsonObject:
    """The params as sent, without `_meta`, which is between the server and this connection."""
    return params.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta"})
