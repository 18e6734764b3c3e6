"""`logging/setLevel`, and who wants which log messages; it logs nothing itself.

Nobody is told what a tool logs who has not asked: on the older wire for the session, on 2026-07-28 with the request.
"""

from toolwire.core.errors import MethodNotFound
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.engine import Engine
from toolwire.surfaces.asked import Asked, Reply, result_reply
from toolwire.surfaces.sessions import Kept
from toolwire.wire.mcp.logging import level_in, read_level


async def set_level(engine: Engine, asked: Asked) -> Reply:
    """Remember the level for the session; a request without one has nothing that it could hold for."""
    if not asked.endpoint.logs:
        raise MethodNotFound("log messages are not sent here; `initialize` says what is")
    level = read_level(asked.message)
    if asked.keep is not None:
        await asked.keep(lambda kept: Kept(level, kept.uris))
    return result_reply(asked, {})


def wanted_level(asked: Asked, meta: JsonObject) -> str | None:
    """The level from which on a request's client wants log messages; `None` if it wants none.

    Raises:
        InvalidParam: the level in `meta` is none.
    """
    if not asked.endpoint.logs:
        return None
    if asked.modern:
        return level_in(meta)
    return (asked.kept if asked.session is None else asked.session.kept).log_level
