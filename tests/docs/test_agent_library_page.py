"""What docs/how-to/agent-library.md says of an agent's resources, prompts and completions is so."""

from typing import Any

from docs_src.agent_library.tutorial001 import agent
from tests.docs.pages import read
from tests.interaction.bench import NEW, OLD, Peer
from tests.interaction.gateways import gateway_with
from tests.interaction.transport import connect

PAGE = read("docs/how-to/agent-library.md")


async def test_the_notes_can_be_read_completed_summed_up_and_added_to():
    async with gateway_with(agent) as there, connect(there.app) as client:
        peer = await Peer(client, OLD).session()

        async def result(method: str, params: Any = None) -> Any:
            return (await (await peer.ask(method, params)).message())["result"]

        listed = [each["uri"] for each in (await result("resources/list"))["resources"]]
        assert listed[:2] == ["notes://index", "clock://zone"]
        assert {"toolwire://agent/config", "beeos://agent/skills"} < set(listed)
        assert (await result("resources/read", {"uri": "notes://2"}))["contents"][0]["text"] == "Call Ada."
        ref = {"type": "ref/resource", "uri": "notes://{number}"}
        params = {"ref": ref, "argument": {"name": "number", "value": "1"}}
        assert (await result("completion/complete", params))["completion"]["values"] == ["1"]
        said = await result("prompts/get", {"name": "summary", "arguments": {"style": "long"}})
        assert "a long summary" in said["messages"][0]["content"]["text"]


async def test_a_note_that_is_added_is_logged_and_told():
    async with gateway_with(agent) as there, connect(there.app) as client:
        peer = Peer(client, NEW)
        ear = await peer.ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["notes://index"]}}, 9)
        await ear.frame()
        meta = {"io.modelcontextprotocol/logLevel": "info"}
        params = {"name": "add_note", "arguments": {"text": "Sleep."}, "_meta": meta}
        logged, done = await (await peer.ask("tools/call", params)).frames()
        assert logged["params"]["data"] == "note 3 was written"
        assert done["result"]["content"][0]["text"] == "3"
        assert (await ear.frame())["params"]["uri"] == "notes://index"


def test_the_page_names_the_frames_and_codes_as_they_are():
    for words in ('"answers": true', '"frame": "ask"', '"frame": "answered"', '"frame": "changed"', "`agent_offline`"):
        assert words in PAGE
