"""The commands' names and where each is found; the entry point `toolwire`. It does nothing by itself.

Commands are imported when they are used: `toolwire call` does not load the gateway, nor `up` the MCP client.
"""

import difflib
import os
import sys
from collections.abc import Sequence
from typing import Final

from cyclopts import App, CycloptsError, Parameter, UnknownCommandError

from toolwire import __version__
from toolwire.cli.failure import DONE, INTERRUPTED, USAGE, Failed, debugging, failure_of, misused
from toolwire.cli.output import print_failure

HELP: Final = "Tools for agents: write a tool once, run it in your own agent, publish it over MCP."

GROUPS: Final = {
    "agent": "Register agents, run one, list and pin them.",
    "key": "Make, list and revoke keys.",
    "grant": "See and end what OAuth clients may do.",
    "owner": "Make another owner.",
    "file": "Upload, download and remove files.",
    "remote": "Put MCP servers behind the gateway.",
    "consent": "See and accept what of their tools has changed.",
    "tools": "Serve tools over MCP, or list those of a server.",
    "card": "Write, check and install cards of the canvas.",
    "calls": "See the calls of your agents, as they happen or one in full.",
    "audit": "See who called what, and check that nobody has changed it.",
    "config": "See the settings.",
}
"""What is said of words that several commands begin with."""

COMMANDS: Final = {
    "up": ("up:up", "Run the gateway, and with --demo an agent to try it with."),
    "sign-in": ("browser_link:sign_in", "Print a link that signs you in with a browser, once."),
    "agent create": ("agents:create", "Register an agent; prints its id and its key."),
    "agent run": ("agent_run:run", "Run an agent written in Python and attach it."),
    "agent list": ("agents:list_agents", "List your agents."),
    "agent pin": ("agents:pin", "Hold what an agent changes of its tools until you accept it."),
    "key create": ("keys:create", "Make a key; it is shown this once."),
    "key list": ("keys:list_keys", "List your keys, without their secrets."),
    "key revoke": ("keys:revoke", "Make a key open nothing any more."),
    "grant list": ("grants:list_grants", "List the OAuth clients that may call your agents."),
    "grant revoke": ("grants:revoke", "End what an OAuth client may do."),
    "grant sign-in": ("browser_link:sign_in", "The same as `sign-in`."),
    "owner create": ("owners:create", "Make another owner, with agents and keys apart from yours."),
    "file put": ("files:put", "Upload a file, to be sent along with calls."),
    "file get": ("files:get", "Download a file."),
    "file remove": ("files:remove", "Remove a file."),
    "remote add": ("remotes:add", "Put an MCP server behind the gateway."),
    "remote login": ("remote_login:login", "Sign in at an MCP server behind the gateway."),
    "remote list": ("remotes:list_remotes", "List the MCP servers behind the gateway."),
    "remote remove": ("remotes:remove", "Forget an MCP server."),
    "consent list": ("consents:list_consents", "List the tools that are held, new or changed."),
    "consent show": ("consents:show", "Show what has changed of a tool."),
    "consent accept": ("consents:accept", "Accept a tool as it was shown."),
    "consent refuse": ("consents:refuse", "Leave a tool out, as it was shown."),
    "tools serve": ("serve:serve", "Serve the tools of a Python module, or another MCP server, over MCP."),
    "tools accept": ("accept:accept", "Accept tools of an MCP server that have changed."),
    "tools list": ("tools:list_tools", "List the tools of an MCP server or an agent."),
    "card new": ("card.new:new", "Make a folder with a card that works, to begin with."),
    "card validate": ("card.validate:validate", "Say what keeps a card from being installed."),
    "card pack": ("card.pack:pack", "Put a card's folder into one archive."),
    "card dev": ("card.dev:dev", "Run a card from its folder, anew after each change."),
    "card add": ("card.packages:add", "Install a card, or update it, once you accept it."),
    "card list": ("card.packages:list_packages", "List the installed cards."),
    "card remove": ("card.packages:remove", "Remove a card."),
    "connect": ("connect:connect", "Make Claude Code, Codex, Qwen Code or Cursor an agent on the canvas."),
    "call": ("call:call", "Call a tool of an MCP server or an agent."),
    "chat": ("chat.command:chat", "Talk to an agent written with the SDK, in this terminal."),
    "calls tail": ("calls:tail", "Show calls as they happen, one a line."),
    "calls show": ("calls:show", "Show one call: arguments, progress, result, timing."),
    "audit export": ("audit:export", "Print who called what, one call a line."),
    "audit anchor": ("audit:anchor", "Print the hash that your audit chain begins after."),
    "audit verify": ("audit:verify", "Check that an exported chain holds."),
    "doctor": ("doctor:doctor", "Say what is wrong here, and what to do about it."),
    "config explain": ("explain:explain", "Show each setting, its value and where that comes from."),
}
"""By the words that name it: where a command is found below `toolwire.cli`, and what lists of commands say of it."""


def make_app(asked: str = "") -> App:
    """The command line as cyclopts wants it.

    Args:
        asked: the words of the command that is wanted; its help is then that of its function, and not the short one.
    """
    app = App(
        name="toolwire",
        help=HELP,
        version=__version__,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
        help_format="markdown",
        default_parameter=Parameter(show_default=False),
    )
    groups = {name: App(name=name, help=words) for name, words in GROUPS.items()}
    for name, (place, words) in COMMANDS.items():
        group, _, word = name.rpartition(" ")
        parent = groups[group] if group else app
        parent.command(f"toolwire.cli.{place}", name=word, help=None if name == asked else words)
    for group in groups.values():
        app.command(group)
    return app


def main(tokens: Sequence[str] | None = None) -> None:
    """Do what the command line says and end the process."""
    sys.exit(execute(sys.argv[1:] if tokens is None else list(tokens)))


def execute(tokens: Sequence[str]) -> int:
    """Do what the words of a command line say; the exit code."""
    as_json = "--json" in tokens
    try:
        code = make_app(_asked(tokens))(tokens)
    except CycloptsError as error:
        print_failure(_misused(error, tokens), as_json)
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


def _asked(tokens: Sequence[str]) -> str:
    return next((name for name in COMMANDS if name.split() == list(tokens[: name.count(" ") + 1])), "")


def _misused(error: CycloptsError, tokens: Sequence[str]) -> Failed:
    if isinstance(error, UnknownCommandError):  # its own words would have every command imported
        group = f"{tokens[0]} " if tokens[0] in GROUPS else ""
        known = [
            name.removeprefix(group) for name in (COMMANDS if group else [*GROUPS, *COMMANDS]) if name.startswith(group)
        ]
        known = [name for name in known if " " not in name]
        word = tokens[1] if group else tokens[0]
        close = difflib.get_close_matches(word, known, n=1)
        return misused(
            f"unknown command {word!r}; "
            + (f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}")
        )
    return misused(f"{str(error).rstrip('.')}; `--help` says how")


def _silence_stdout() -> None:
    """Whoever read our output has gone, as `head` does; else the interpreter would complain of that at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
