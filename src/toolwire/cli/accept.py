"""`toolwire tools accept`: what of an MCP server's tools has changed since it was accepted, and accepting it.

It calls no tool. A proxy that runs meanwhile sees what was accepted at its next look.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
from cyclopts import Parameter

from toolwire.cli.failure import DONE, TOOL_FAILED, misused
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import JsonFlag, Place
from toolwire.cli.proxy import pin_store, server_of
from toolwire.cli.remote_places import known_as
from toolwire.cli.sign_in import SignInFlags
from toolwire.core.errors import ToolNotFound
from toolwire.providers.remote import open_remote
from toolwire.providers.remote_library import prompts_of
from toolwire.providers.remote_pins import Held, PinStore, differing, key_of, pin_of
from toolwire.providers.remote_server import Server

BY_LINK = SignInFlags()


def accept(
    place: Place,
    /,
    *names: Annotated[str, Parameter(help="Tools to accept as they are now; a prompt is `prompt:NAME`.")],
    pins: Annotated[Path, Parameter(help="File that keeps which tool definitions are accepted.")],
    everything: Annotated[bool, Parameter(name="--all", negative="", help="Accept all tools as they are now.")] = False,
    sign_in: SignInFlags = BY_LINK,
    json: JsonFlag = False,
) -> int:
    """Show which tools and prompts of an MCP server are not what was accepted, and accept them.

    Without names and without `--all` nothing is accepted, and it ends with 1 if there is something to accept.
    With `--json`: `{"held": [{"tool", "diff"}], "accepted": […]}`.
    """
    if names and everything:
        raise misused("give either the names of tools or --all")
    server = server_of(place, sign_in)
    held, accepted = anyio.run(partial(ask, server, pin_store(pins, server), None if everything else names))
    if json:
        shown = [{"tool": name, "diff": each.diff()} for name, each in held.items()]
        print_json({"held": shown, "accepted": accepted})
    else:
        for name, each in held.items():
            print_text(f"{name} ({'changed' if each.accepted else 'new'})\n{each.diff()}\n")
        say(f"accepted: {', '.join(accepted)}" if accepted else "nothing was accepted")
        if held:
            say("accept them by their names, or all of them with --all")
    return TOOL_FAILED if held else DONE


async def ask(server: Server, store: PinStore, names: Sequence[str] | None) -> tuple[dict[str, Held], list[str]]:
    """Accept the tools `names`, or all that there are; what is still not accepted, and what now is.

    Raises:
        ToolNotFound: the server lists no such tool.
        ServiceUnavailable: the server cannot be reached, or the pins cannot be read or written.
    """
    async with open_remote(server, known_as(server)) as provider:
        listed = {key_of(each): each for each in (*provider.tools(), *await prompts_of(provider))}
    pins = dict(await store.load())
    held = differing(listed.values(), pins)
    accepted = list(held) if names is None else list(names)
    for name in accepted:
        if name not in listed:
            raise ToolNotFound(f"{known_as(server)} lists no tool {name!r}; it lists {list(listed)!r}")
        pins[name] = pin_of(listed[name])
        held.pop(name, None)
    if accepted:
        await store.save(pins)
    return held, accepted
