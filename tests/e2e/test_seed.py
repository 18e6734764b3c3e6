"""The two commands of the gateway's contract, with only host, key and agent id changed, answer as it prints.

gateway.md 1-7, 11-14, 43; the contract's complete example.
"""

import json
import subprocess
from typing import Any

import anyio
import httpx2
import pytest

from tests.e2e.running import Host, environment
from tests.unit.cli.demo.test_agent import SEED_TOOLS

pytestmark = pytest.mark.e2e

LIST = """
curl -s -X POST "{host}/${{AGENT_ID}}/mcp" \\
  -H "X-Agent-API-Key: {key}" \\
  -H "Content-Type: application/json" \\
  -d '{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}'"""

CALL = """
curl -s -X POST "{host}/${{AGENT_ID}}/mcp" \\
  -H "X-Agent-API-Key: {key}" \\
  -H "Content-Type: application/json" \\
  -d '{{
    "jsonrpc":"2.0",
    "id":2,
    "method":"tools/call",
    "params":{{
      "name":"web_search",
      "arguments":{{"query":"BeeOS"}}
    }}
  }}'"""


def bash(host: Host, command: str) -> str:
    line = command.format(host=host.ready.url, key=host.ready.bak)
    env = environment({"AGENT_ID": host.ready.agent_id})
    return subprocess.run(["bash", "-c", line], env=env, capture_output=True, text=True, check=True, timeout=30).stdout


def test_the_list_command_prints_the_names(host: Host):
    names = bash(host, LIST + " | jq '.result.tools[].name'")
    assert names.splitlines() == ['"web_search"', '"screenshot"', '"summarize"', '"summarize_pdf"']


def test_the_call_command_prints_the_text(host: Host):
    text = json.loads(bash(host, CALL + " | jq '.result.content[0].text'"))
    assert text.startswith("Here are the top ")
    assert "results for 'BeeOS':\n\n1. " in text


def test_the_two_tools_are_listed_with_exactly_the_contracts_fields(host: Host):
    answer: Any = json.loads(bash(host, LIST))

    assert {name: value for name, value in answer.items() if name != "result"} == {"jsonrpc": "2.0", "id": 1}
    assert answer["result"]["tools"][:2] == SEED_TOOLS
    assert set(answer["result"]["tools"][2]) == {"name", "description", "inputSchema"}


def test_a_call_with_three_results_has_one_text_block(host: Host):
    params = {"name": "web_search", "arguments": {"query": "BeeOS AI agent platform", "max_results": 3}}

    (block,) = host.rpc("tools/call", params)["result"]["content"]

    assert set(block) == {"type", "text"}
    assert block["text"].startswith("Here are the top 3 results for 'BeeOS AI agent platform':\n\n1. ")


@pytest.mark.parametrize(
    ("params", "code", "token"),
    [
        ({"name": "no_such_tool", "arguments": {}}, -32601, "tool_not_found"),
        ({"name": "web_search", "arguments": {}}, -32602, "invalid_param"),
        ({"name": "web_search", "arguments": {"query": 5}}, -32602, "invalid_param"),
        (
            {"name": "web_search", "arguments": {"query": "x", "attachments": [{"file_id": "f"}]}},
            -32602,
            "invalid_param",
        ),
    ],
)
def test_errors_have_the_contracts_codes(host: Host, params: dict[str, Any], code: int, token: str):
    error = host.rpc("tools/call", params)["error"]
    assert (error["code"], error["data"]["code"]) == (code, token)


def test_a_repeated_key_is_answered_from_memory(host: Host):
    params = {"name": "screenshot", "arguments": {"idempotency_key": "user_7:q3_summary"}}

    first, second = host.rpc("tools/call", params)["result"], host.rpc("tools/call", params)["result"]

    assert first["content"] == second["content"]
    assert second["_meta"]["toolwire/idempotency"]["replayed"] is True


async def test_a_thousand_calls_at_once_get_one_answer_each(host: Host):
    answers: dict[int, Any] = {}
    headers = {"x-agent-api-key": host.ready.owner_key}  # a bak_ has a rate limit
    limits = httpx2.Limits(max_connections=50)
    async with httpx2.AsyncClient(base_url=host.ready.url, headers=headers, limits=limits, timeout=60) as client:

        async def call(n: int) -> None:
            params = {"name": "web_search", "arguments": {"query": f"tides {n}", "max_results": 1}}
            request = {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params}
            answer = (await client.post(f"/{host.ready.agent_id}/mcp", json=request)).json()
            assert answer["id"] == n
            assert n not in answers
            answers[n] = answer["result"]["content"][0]["text"]

        async with anyio.create_task_group() as calls:
            for n in range(1000):
                calls.start_soon(call, n)

    assert all(f"'tides {n}'" in text for n, text in answers.items())
    assert len(answers) == 1000
