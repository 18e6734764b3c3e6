"""What docs/how-to/serve-tools.md says of a `Server` is so."""

from docs_src.serve_tools.tutorial002 import server
from tests.interaction.bench import OLD, Peer
from tests.interaction.transport import connect


async def test_the_notes_can_be_read_completed_summed_up_and_added_to():
    async with server.open() as served, connect(served.app) as client:
        peer = await Peer(client, OLD).session()

        listed = (await (await peer.ask("resources/list")).json())["result"]["resources"]
        assert [each["uri"] for each in listed] == ["notes://index"]
        read = (await (await peer.ask("resources/read", {"uri": "notes://2"})).json())["result"]["contents"]
        assert read[0]["text"] == "Call Ada."
        missing = await (await peer.ask("resources/read", {"uri": "notes://9"})).json()
        assert missing["error"]["code"] == -32002

        params = {
            "ref": {"type": "ref/resource", "uri": "notes://{number}"},
            "argument": {"name": "number", "value": "1"},
        }
        found = (await (await peer.ask("completion/complete", params)).json())["result"]["completion"]
        assert found["values"] == ["1"]

        prompt = await (await peer.ask("prompts/get", {"name": "summary", "arguments": {"style": "long"}})).json()
        assert "a long summary" in prompt["result"]["messages"][0]["content"]["text"]

        await (await peer.ask("logging/setLevel", {"level": "info"})).json()
        logged, done = await (
            await peer.ask("tools/call", {"name": "add_note", "arguments": {"text": "Sleep."}})
        ).frames()
        assert logged["params"]["data"] == "note 3 was written"
        assert done["result"]["content"][0]["text"] == "3"
