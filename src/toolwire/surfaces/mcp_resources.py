"""The methods of resources, on either wire; where no resources are offered, there are none (mcp.md S36)."""

from toolwire.core.errors import MethodNotFound
from toolwire.core.resource import Resources
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.mcp_asking import reply_directly
from toolwire.wire.mcp.library import contents_result, read_uri, resources_result, templates_result
from toolwire.wire.mcp.requests import read_cursor


async def list_resources(engine: Engine, asked: Asked) -> Reply:
    """`resources/list`."""
    offered = _offered(asked)
    read_cursor(asked.message)
    if (look := asked.endpoint.library.look) is not None:
        await look()
    return result_reply(asked, resources_result(offered.resources(), asked.modern))


async def list_templates(engine: Engine, asked: Asked) -> Reply:
    """`resources/templates/list`."""
    offered = _offered(asked)
    read_cursor(asked.message)
    if (look := asked.endpoint.library.look) is not None:
        await look()
    return result_reply(asked, templates_result(offered.templates(), asked.modern))


async def read_resource(engine: Engine, asked: Asked) -> Reply:
    """`resources/read`."""
    offered = _offered(asked)
    uri = read_uri(asked.message)
    return await reply_directly(
        engine,
        asked,
        uri,
        {},
        lambda call, emit: offered.read(uri, call, emit),
        lambda contents: result_reply(asked, contents_result(contents, asked.modern)),
    )


def _offered(asked: Asked) -> Resources:
    offered = asked.endpoint.library.resources
    if offered is None:
        raise MethodNotFound(f"{asked.message.method!r}: no resources are offered here")
    return offered
