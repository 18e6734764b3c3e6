"""The methods of prompts and completions, on either wire; where none are offered, there are none (mcp.md S36)."""

from toolwire.core.errors import MethodNotFound
from toolwire.core.prompt import Prompts
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.direct import ask
from toolwire.surfaces.mcp_asking import reply_directly
from toolwire.wire.mcp.library import (
    completion_result,
    prompt_result,
    prompts_result,
    read_completing,
    read_prompt_get,
)
from toolwire.wire.mcp.requests import read_cursor


async def list_prompts(engine: Engine, asked: Asked) -> Reply:
    """`prompts/list`."""
    offered = _offered(asked)
    read_cursor(asked.message)
    if (look := asked.endpoint.library.look) is not None:
        await look()
    return result_reply(asked, prompts_result(offered.prompts(), asked.modern))


async def get_prompt(engine: Engine, asked: Asked) -> Reply:
    """`prompts/get`."""
    offered = _offered(asked)
    params = read_prompt_get(asked.message)
    arguments = dict(params.arguments)
    return await reply_directly(
        engine,
        asked,
        params.name,
        arguments,
        lambda call, emit: offered.get(params.name, call, emit),
        lambda result: result_reply(asked, prompt_result(result, asked.version)),
    )


async def complete(engine: Engine, asked: Asked) -> Reply:
    """`completion/complete`."""
    offered = asked.endpoint.library.completions
    if offered is None:
        raise MethodNotFound("'completion/complete': nothing is completed here")
    params = read_completing(asked.message)
    found = await ask(
        engine,
        asked,
        params.ref.name,
        dict(params.given),
        lambda call, emit: offered.complete(params.ref, params.argument, params.value, call, emit),
    )
    return result_reply(asked, completion_result(found))


def _offered(asked: Asked) -> Prompts:
    offered = asked.endpoint.library.prompts
    if offered is None:
        raise MethodNotFound(f"{asked.message.method!r}: no prompts are offered here")
    return offered
