"""The child process: one request as JSON on its standard input, one reply on its standard output; it loops over none.

It is started with its parent's packages stood in for by empty ones, so that none of what they load is loaded here.
"""

import json
import sys

from toolwire.sdk.builtin.isolated.content import filter_lines, grep
from toolwire.sdk.builtin.isolated.globs import BadPattern
from toolwire.sdk.builtin.isolated.names import glob
from toolwire.sdk.builtin.isolated.request import (
    FilterRequest,
    GlobRequest,
    GrepRequest,
    MarkdownRequest,
    Reply,
    Request,
    from_json,
)


def answer(request: Request) -> Reply:
    """The reply to a request, errors of its author included."""
    try:
        match request:
            case GlobRequest():
                return glob(request)
            case GrepRequest():
                return grep(request)
            case FilterRequest():
                return filter_lines(request)
            case MarkdownRequest():
                from toolwire.sdk.builtin.isolated.markdown import to_markdown  # noqa: PLC0415 - searches start faster

                return Reply([to_markdown(request.html, request.base, request.max_chars)], [])
    except BadPattern as error:
        return Reply([], [], str(error))
    except (RecursionError, MemoryError) as error:
        return Reply([], [], f"this needs too much memory ({type(error).__name__}); ask for less")


def main() -> None:
    """Answer the request that stands on standard input."""
    request = from_json(json.loads(sys.stdin.buffer.read()))
    sys.stdout.write(json.dumps(answer(request)._asdict()))
