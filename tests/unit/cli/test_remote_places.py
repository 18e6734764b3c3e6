"""How a command line names an MCP server: a URL, an agent, or the command that starts it."""

import pytest

from toolwire.cli.endpoints import endpoint_of
from toolwire.cli.failure import Failed
from toolwire.cli.parameters import HostFlags
from toolwire.cli.proxy import NO_PROXY, ProxyFlags, open_proxy, server_of
from toolwire.cli.remote_places import child_of, is_command, known_as
from toolwire.cli.serve import serve
from toolwire.cli.sign_in import SignInFlags
from toolwire.providers.remote_server import HttpServer, StdioServer

OPEN = SignInFlags(auth=False)


@pytest.mark.parametrize(
    "place", ["npx -y server", "./server", "/usr/bin/server", "stdio:server", "server --url http://x"]
)
def test_what_has_spaces_or_slashes_and_no_scheme_is_a_command(place: str):
    assert is_command(place)


@pytest.mark.parametrize("place", ["http://127.0.0.1/mcp", "https://a.example/x y", "weather", "agent_1"])
def test_a_url_and_a_word_are_none(place: str):
    assert not is_command(place)


def test_a_command_is_read_as_a_shell_would():
    assert child_of("npx -y 'my server' --root .").argv == ("npx", "-y", "my server", "--root", ".")
    assert child_of("stdio:server").argv == ("server",)


def test_a_command_gets_the_variables_that_are_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MINE", "from here")

    assert child_of("./server", env=["OTHER=a=b", "MINE"]).env == (("OTHER", "a=b"), ("MINE", "from here"))


@pytest.mark.parametrize(
    ("place", "env", "words"),
    [
        ("server 'broken", [], "is no command: no closing quotation"),
        ("stdio:", [], "the command of an MCP server is empty"),
        ("./server", ["=x"], "'=x' is no variable"),
        ("./server", ["CERTAINLY_NOT_SET"], "the variable 'CERTAINLY_NOT_SET' is not set"),
    ],
)
def test_what_is_no_command_is_refused(place: str, env: list[str], words: str):
    with pytest.raises(Failed, match=words):
        child_of(place, env=env)


def test_headers_are_for_urls_and_variables_for_commands():
    with pytest.raises(Failed, match="--header is for a server at a URL"):
        endpoint_of("./server", HostFlags(), ["A: b"])
    with pytest.raises(Failed, match="--env is for a server that a command starts"):
        endpoint_of("http://127.0.0.1/mcp", HostFlags(), sign_in=SignInFlags(auth=False, env=["A=b"]))


def test_a_servers_name_has_nothing_that_may_be_secret():
    assert known_as(HttpServer("https://me:secret@a.example/mcp?key=secret")) == "https://a.example/mcp"
    assert known_as(StdioServer(("npx", "my server"), (("KEY", "secret"),))) == "npx 'my server'"


def test_a_proxy_takes_either_kind():
    assert server_of("./server", OPEN) == StdioServer(("./server",))
    at_url = server_of("http://127.0.0.1:1/mcp", SignInFlags(auth=False, header=["X-A: b"]))
    assert at_url == HttpServer("http://127.0.0.1:1/mcp", (("x-a", "b"),))


@pytest.mark.parametrize("timeout", [0, -1, 4000, float("nan")])
def test_a_time_out_that_is_none_is_refused(timeout: float):
    with pytest.raises(Failed, match="--timeout is a number of seconds above 0 and up to 3600"):
        open_proxy(ProxyFlags(proxy="./server", timeout=timeout), OPEN)


def test_serve_takes_a_module_or_a_proxy_and_not_both():
    with pytest.raises(Failed, match="give either a MODULE or --proxy"):
        serve()
    with pytest.raises(Failed, match="give either a MODULE or --proxy"):
        serve("hello", proxied=ProxyFlags(proxy="./server"))
    with pytest.raises(Failed, match="a flag was given that goes with --proxy alone"):
        serve("hello", proxied=ProxyFlags(per_session=True))
    assert ProxyFlags() == NO_PROXY
