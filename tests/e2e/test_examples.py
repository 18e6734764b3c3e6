"""The examples run as they are, beside a host on another port and folder."""

import json
from pathlib import Path

import pytest

from tests.e2e.running import Host, Process, shell

pytestmark = pytest.mark.e2e

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_the_agent_in_bash_answers_calls(host: Host):
    """gateway.md §3: any language, four HTTP routes, about 30 lines."""
    script = EXAMPLES / "agent.sh"
    assert len([line for line in script.read_text().splitlines() if line and not line.startswith("#")]) <= 30
    made = host.toolwire("agent", "create", "shell", "--json").json()
    env = {"AGENT_ID": made["agent_id"], "TOOLWIRE_AGENT_KEY": made["agent_key"], "TOOLWIRE_URL": host.ready.url}

    with shell(str(script), host.cwd, env):
        host.attached("shell")
        for text, words in (("one two three", 3), ("a \"quoted\" 'word' and ümlaut\n\n$HOME `x`", 7), ("", 0)):
            done = host.toolwire("call", "shell", "count_words", "--args", json.dumps({"text": text}))
            assert (done.code, done.out) == (0, f"{words} words\n")
        unfit = host.toolwire("call", "shell", "count_words", "--json")
        assert unfit.json()["error"]["code"] == "invalid_param"


def test_the_agent_of_the_readme_answers_calls(host: Host):
    with Process(["agent", "run", str(EXAMPLES / "hello.py")], host.cwd):
        host.attached("hello")
        assert host.toolwire("call", "hello", "greet", "--args", '{"name": "Ada"}').out == "Hello, Ada!\n"
