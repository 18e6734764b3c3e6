"""The echo tool of this process behind the gateway's own door: `bak_` keys, its catalogue, its store and its record.

`toolwire up` has no tools of its own process, so the parts are put together here, each as the gateway has it; only who
runs the call is another. It prints one line once it is ready: `{"url", "path", "key"}`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import anyio

from benchmarks.servers import toolwire_echo
from toolwire.cli.listening import bind, event_loop, serving, set_up_logging, stop_signal, url_of
from toolwire.compose import open_data
from toolwire.config import Config
from toolwire.core.call import Call
from toolwire.core.errors import AgentOffline
from toolwire.core.handler import Emit
from toolwire.core.result import Result
from toolwire.gateway.agents import Agents
from toolwire.gateway.auth import Auth
from toolwire.gateway.door import GatewayDoor
from toolwire.gateway.keys import FIRST_OWNER, Keys
from toolwire.providers.function import FunctionProvider
from toolwire.providers.schema import compile_validator
from toolwire.surfaces.limits import Guard
from toolwire.surfaces.mcp_http import HttpSettings, McpHttp
from toolwire.surfaces.sessions import Sessions


class _NoAgent:
    """What of a `Delegate` is looked at before there is a call, and none comes here: the tools are of this process."""

    async def call(self, call: Call, emit: Emit) -> Result:
        raise AgentOffline("there is no agent here")


async def main(port: int, data: Path) -> None:
    """Serve until a signal."""
    no_agent: Any = _NoAgent()
    config = Config(data=str(data))
    async with open_data(config) as opened:
        store, clock, engine = opened.store, opened.clock, opened.engine
        keys = Keys(store, clock)
        await keys.load()
        await keys.ensure_first_owner()
        agents = Agents(store, clock, compile_validator, lambda record: no_agent, fallback_tool=False)
        agent = await agents.create(FIRST_OWNER, "bench")
        provider = FunctionProvider([toolwire_echo.echo, toolwire_echo.echo_waiting])
        agents.catalog(agent.agent_id).replace(provider.tools(), provider, handlers=provider.handlers)
        _, key = await keys.create("bak", FIRST_OWNER, agent.agent_id, "bench")
        door = GatewayDoor(Auth(keys), agents)
        sessions = Sessions(store, engine.recorder, clock, opened.secret, config.session_idle_ttl_s)
        http = McpHttp(engine, door, sessions, Guard(), HttpSettings())

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await http(scope, receive, send)

        with bind("127.0.0.1", port) as bound, stop_signal(lambda: None) as until_signal:
            async with engine.running(), http.running(), serving(app, bound):
                ready = {"url": url_of(bound), "path": f"/{agent.agent_id}/mcp", "key": key}
                print(json.dumps(ready), flush=True)
                await until_signal()


if __name__ == "__main__":
    set_up_logging()
    anyio.run(main, int(sys.argv[1]), Path(sys.argv[2]), **event_loop())
