"""Has the files resolved that a call brings along, before anything of it is claimed; it does not know what a file is.

Spec: gateway.md D14 and §6, order: tool, arguments, attachments, then whether the agent is there.
"""

from toolwire.core.call import Call
from toolwire.core.errors import InvalidParam
from toolwire.engine.catalog import Catalog


async def attached(call: Call, catalog: Catalog) -> Call:
    """The call with what its attachments stand for in `files`; the same call when it has none.

    Raises:
        ToolNotFound, InvalidArguments: as for a call without attachments; these come first.
        InvalidParam: one of them cannot be had, or the tool takes none.
    """
    if not call.attachments:
        return call
    entry = catalog.find(call.tool)
    entry.check(call.arguments)
    if entry.delegate is None:
        raise InvalidParam(f"the tool {call.tool!r} takes no attachments; call it without them", param="attachments")
    return await entry.delegate.attach(call)
