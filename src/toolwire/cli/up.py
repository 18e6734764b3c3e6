"""`toolwire up`: runs the gateway in this process until a signal, and tells how to use it; it serves nothing itself."""

import os
import shlex
import shutil
import sys
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import anyio
import msgspec
from cyclopts import Parameter
from msgspec.structs import replace

from toolwire import __version__, config
from toolwire.cli.data_folder import DataFolder, HostInfo
from toolwire.cli.demo.keys import DEMO_KEY_FILE, DemoKeys, demo_keys
from toolwire.cli.failure import DONE
from toolwire.cli.host import open_host
from toolwire.cli.in_browser import open_in_browser
from toolwire.cli.listening import (
    DEFAULT_PATIENCE,
    bind,
    event_loop,
    serving,
    set_up_logging,
    stop_signal,
    url_of,
)
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.owner_key import keep_owner_key
from toolwire.cli.parameters import DataFlag, JsonFlag
from toolwire.config import Config
from toolwire.gateway.keys import FIRST_OWNER
from toolwire.gateway.oauth.sign_in import LINK_PATH


def up(
    *,
    host: Annotated[
        str | None, Parameter(help="Address to listen on (default: 127.0.0.1, this machine alone).")
    ] = None,
    port: Annotated[int | None, Parameter(help="Port to listen on (default: 8094); 0 takes a free one.")] = None,
    data: DataFlag = None,
    config_file: Annotated[
        Path | None, Parameter(name="--config", help="Configuration file (default: toolwire.toml, if it is there).")
    ] = None,
    demo: Annotated[
        bool, Parameter(negative="", help="Run an agent with four tools, too, and show it in a first workspace.")
    ] = False,
    in_browser: Annotated[
        bool, Parameter(name="--open", negative="", help="Open the canvas in a browser, signed in, once it is up.")
    ] = False,
    json: JsonFlag = False,
) -> int:
    """Run the gateway until SIGTERM or Ctrl-C.

    The first start makes an owner and writes its key to `owner.key` in the data folder, readable by you alone.
    With `--json` one line is printed once it is ready:
    `{"url", "owner_key", "data", "pid", "sign_in"}`, and with `--demo` also `{"agent_id", "agent_key", "bak"}`.
    """
    flags = {"host": host, "port": port, "data": None if data is None else str(data)}
    loaded = config.load(config_file, os.environ, flags)
    set_up_logging()
    anyio.run(partial(_up, loaded.config, demo=demo, as_json=json, in_browser=in_browser), **event_loop())
    return DONE


async def _up(settings: Config, *, demo: bool, as_json: bool, in_browser: bool) -> None:
    folder = DataFolder(Path(settings.data))
    folder.prepare()
    async with AsyncExitStack() as opened:
        opened.enter_context(folder.lock())
        bound = opened.enter_context(bind(settings.host, settings.port))
        url = url_of(bound)
        opened_host = await opened.enter_async_context(open_host(_placed(settings, bound.getsockname()[1], url)))
        gateway = opened_host.gateway
        owner_key = await keep_owner_key(folder, gateway.keys, gateway.owner_key)
        keys = await demo_keys(folder, gateway.agents, gateway.keys) if demo else None
        patience = replace(DEFAULT_PATIENCE, stuck_s=settings.write_timeout_s)
        await opened.enter_async_context(serving(opened_host.app, bound, patience))
        if keys is not None:
            from toolwire.cli.demo.agent import attached_demo
            from toolwire.cli.demo.board import make_first_workspace

            await opened.enter_async_context(attached_demo(url, keys))
            await make_first_workspace(url, owner_key, keys)
        host = HostInfo(url, os.getpid(), str(folder.owner_key_file.absolute()))
        until_signal = opened.enter_context(stop_signal(folder.withdraw))
        opened.enter_context(folder.announce(host))
        link = f"{settings.public_url or url}{LINK_PATH}?link={gateway.sign_ins.new_link(FIRST_OWNER)}"
        if as_json:
            print_json(_ready(host, owner_key, folder, keys, link))
        else:
            print_text(_welcome(settings, host, folder, keys, link))
        if in_browser:
            await open_in_browser(link)
        await until_signal()


def _placed(settings: Config, port: int, url: str) -> Config:
    """The settings with the port that was really taken and an address to be known by."""
    return msgspec.structs.replace(settings, port=port, public_url=settings.public_url or url)


def _ready(host: HostInfo, owner_key: str, folder: DataFolder, keys: DemoKeys | None, link: str) -> dict[str, Any]:
    """What a program is told (gateway.md §6)."""
    data = str(folder.path.absolute())
    ready = {"url": host.url, "owner_key": owner_key, "data": data, "pid": host.pid, "sign_in": link}
    return ready if keys is None else {**ready, **msgspec.to_builtins(keys)}


def _welcome(settings: Config, host: HostInfo, folder: DataFolder, keys: DemoKeys | None, link: str) -> str:
    """What a person is told: where it is, where the keys are, and a line to paste."""
    if settings.host not in ("127.0.0.1", "::1", "localhost"):
        say(f"note: it listens on {settings.host}, for other machines too; put TLS in front of it")
    lines = [
        f"Toolwire {__version__} is up at {settings.public_url or host.url}",
        "",
        f"  data       {folder.path}",
        f"  owner key  {folder.owner_key_file} (for the REST surface and the other commands)",
        f"  sign in    {link} (in a browser, once, within an hour)",
    ]
    if keys is None:
        lines += [
            "",
            f"Next, run an agent of your own:  {_typed()} agent run MODULE:NAME",
            f"or one to try it with:           {_typed()} up --demo",
            "",
            "Your agents, with curl:",
            "",
            f'  curl -s {host.url}/api/v1/agents -H "Authorization: Bearer $(cat {folder.owner_key_file})"',
        ]
    else:
        body = (
            '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
            '{"name":"web_search","arguments":{"query":"how do tides work","max_results":3}}}'
        )
        curl = (
            f'curl -s -X POST "{host.url}/{keys.agent_id}/mcp" '
            f'-H "X-Agent-API-Key: {keys.bak}" -H "Content-Type: application/json"'
        )
        lines += [
            f"  demo agent {keys.agent_id}, its keys in {folder.path / DEMO_KEY_FILE}",
            f"  MCP        {host.url}/{keys.agent_id}/mcp",
            "",
            "Call one of its tools:",
            "",
            f"  {curl} -d '{body}'",
            "",
            f'  {_typed()} call {keys.agent_id} web_search --args \'{{"query": "how do tides work"}}\'',
        ]
    return "\n".join([*lines, "", "Ctrl-C stops it."])


def _typed() -> str:
    """How to type our name in this folder: `make run` starts us by a path, because no environment is active there."""
    return "toolwire" if shutil.which("toolwire") else shlex.quote(sys.argv[0])
