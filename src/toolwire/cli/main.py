"""The commands' names and where each is found; the entry point `toolwire`. It does nothing by itself.

Commands are imported when they are used: `toolwire call` does not load the gateway, nor `up` the MCP client.
"""

import difflib
import os
import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError, UnknownCommandError

from toolwire import __version__
from toolwire.cli.failure import DONE, INTERRUPTED, USAGE, Failed, debugging, failure_of, misused
from toolwire.cli.output import print_failure

HELP: Final = "Tools for agents: write a tool once, run it in your own agent, publish it over MCP."


def make_app() -> App:
    """The command line as cyclopts wants it."""
    app = App(
        name="toolwire",
        help=HELP,
        version=__version__,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        help_format="markdown",
    )
    app.command("toolwire.cli.up:up", help="Run the gateway, and with --demo an agent to try it with.")
    agent = App(name="agent", help="Register agents, run one, list them.")
    agent.command("toolwire.cli.agents:create", help="Register an agent; prints its id and its key.")
    agent.command("toolwire.cli.agent_run:run", help="Run an agent written in Python and attach it.")
    agent.command("toolwire.cli.agents:list_agents", name="list", help="List your agents.")
    app.command(agent)
    key = App(name="key", help="Make, list and revoke keys.")
    key.command("toolwire.cli.keys:create", help="Make a key; it is shown this once.")
    key.command("toolwire.cli.keys:list_keys", name="list", help="List your keys, without their secrets.")
    key.command("toolwire.cli.keys:revoke", help="Make a key open nothing any more.")
    app.command(key)
    owner = App(name="owner", help="Make another owner.")
    owner.command("toolwire.cli.owners:create", help="Make another owner, with agents and keys apart from yours.")
    app.command(owner)
    tools = App(name="tools", help="Serve tools over MCP, or list those of a server.")
    tools.command("toolwire.cli.serve:serve", help="Serve the tools of a Python module over MCP, without a gateway.")
    tools.command("toolwire.cli.tools:list_tools", name="list", help="List the tools of an MCP server or an agent.")
    app.command(tools)
    app.command("toolwire.cli.call:call", help="Call a tool of an MCP server or an agent.")
    app.command("toolwire.cli.doctor:doctor", help="Say what is wrong here, and what to do about it.")
    config = App(name="config", help="See the settings.")
    config.command("toolwire.cli.explain:explain", help="Show each setting, its value and where that comes from.")
    app.command(config)
    return app


def main(tokens: Sequence[str] | None = None) -> None:
    """Do what the command line says and end the process."""
    sys.exit(execute(sys.argv[1:] if tokens is None else list(tokens)))


def execute(tokens: Sequence[str]) -> int:
    """Do what the words of a command line say; the exit code."""
    as_json = "--json" in tokens
    try:
        code = make_app()(tokens)
    except CycloptsError as error:
        print_failure(_misused(error), as_json)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _silence_stdout()
        return DONE
    except Exception as error:  # the outermost frame: whatever it is, a person gets one line
        if debugging():
            raise
        failed = failure_of(error)
        print_failure(failed, as_json)
        return failed.exit_code
    return code if isinstance(code, int) else DONE


def _misused(error: CycloptsError) -> Failed:
    if isinstance(error, UnknownCommandError):  # its own words would have every command imported
        known = [name for name in error.app or () if not name.startswith("-")]
        word = error.unused_tokens[0] if error.unused_tokens else ""
        close = difflib.get_close_matches(word, known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
        return misused(f"unknown command {word!r}; {hint}")
    return misused(f"{str(error).rstrip('.')}; `--help` says how")


def _silence_stdout() -> None:
    """Whoever read our output has gone, as `head` does; else the interpreter would complain of that at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
