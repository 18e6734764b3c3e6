"""cards.md §4: `agent_send`, `agent_read` and `agent_wait` between agents that an arrow joins."""

from pathlib import Path
from typing import Any

import anyio

from tests.unit.canvas.cards import WireAgent
from tests.unit.canvas.site import Site, open_site

TOOLS = ["agent_read", "agent_send", "agent_wait"]


class Pair:
    """Two agents with an arrow between them."""

    def __init__(self, site: Site, workspace: str, writer: dict[str, Any], critic: dict[str, Any], arrow: str) -> None:
        self.site = site
        self.workspace = workspace
        self.arrow = arrow
        self.writer = WireAgent(site, writer)
        self.critic = WireAgent(site, critic)
        self.critic_card: str = critic["id"]
        self.critic_key: str = critic["agent_key"]

    async def as_critic(self, path: str, body: Any) -> Any:
        """A request of the critic's own process to the gateway."""
        return await self.site.ask("POST", path, body, authorization=f"Bearer {self.critic_key}")


async def pair(site: Site) -> Pair:
    workspace = await site.workspace()
    writer = await site.card(workspace, "agent", title="writer")
    critic = await site.card(workspace, "agent", title="critic")
    return Pair(site, workspace, writer, critic, await site.arrow(workspace, writer["id"], critic["id"]))


async def said(agent: WireAgent, tool: str, **arguments: Any) -> str:
    return (await agent.call(tool, **arguments))["content"][0]["text"]


async def test_an_arrow_between_agents_lets_both_send_and_read(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        both = await pair(site)
        assert sorted(await both.writer.tools()) == TOOLS
        assert sorted(await both.critic.tools()) == TOOLS
        assert "waits until 'critic' reads" in await said(both.writer, "agent_send", message="what do you think?")
        result = await both.critic.call("agent_read")
        [message] = result["structuredContent"]["messages"]
        assert (message["from"], message["text"], message["failed"]) == ("writer", "what do you think?", False)
        assert await said(both.critic, "agent_read") == "(no new messages)"
        await both.critic.call("agent_send", message="good")
        assert "good" in await said(both.writer, "agent_wait")
        calls = (await site.ask("GET", f"/workspaces/{both.workspace}/arrows/{both.arrow}/log"))["calls"]
        assert sorted(call["tool"] for call in calls) == [*TOOLS[:1], *TOOLS[:1], *TOOLS[1:2], *TOOLS[1:]]


async def test_waiting_ends_with_a_message_or_with_the_time(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        both = await pair(site)
        assert "no message from 'critic' within 1 s" in await said(both.writer, "agent_wait", timeout_ms=1_000)
        told: list[str] = []

        async def wait() -> None:
            told.append(await said(both.writer, "agent_wait"))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await both.critic.call("agent_send", message="at last")
        assert told[0].endswith("at last")


async def test_waiting_ends_when_the_arrow_is_removed(tmp_path: Path) -> None:
    """cards.md 5, decision 25."""
    async with open_site(tmp_path) as site:
        both = await pair(site)
        told: list[str] = []

        async def wait() -> None:
            told.append(await both.writer.text("agent_wait"))

        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                log = f"/workspaces/{both.workspace}/arrows/{both.arrow}/log"
                while not (await site.ask("GET", log))["calls"]:
                    await anyio.lowlevel.checkpoint()
                await site.ask("DELETE", f"/workspaces/{both.workspace}/arrows/{both.arrow}", status=204)
        assert "arrow to this card was removed" in told[0]


async def test_an_attached_agent_gets_the_message_as_a_call_and_its_answer_comes_back(tmp_path: Path) -> None:
    """One system: an agent attached to the gateway is the agent on the canvas."""
    async with open_site(tmp_path) as site:
        both = await pair(site)
        await both.as_critic("/agents/sync", {"agents": [{"name": "critic", "skills": []}]})
        read, wanted = f"/agents/{both.critic.id}/deliveries/read", {"max": 10, "block_ms": 0}
        await both.as_critic(read, wanted)
        assert "has the message" in await said(both.writer, "agent_send", message="what do you think?")
        with anyio.fail_after(10):
            while not (found := await both.as_critic(read, {"max": 10, "block_ms": 1_000})):
                pass
        message = found[0]["message"]
        assert message["payload"]["message"].endswith("what do you think?")
        assert "'writer'" in message["payload"]["message"]
        body = {"type": "agent_reply", "payload": {"text": "too long"}, "in_reply_to": message["message_id"]}
        await site.client.post(
            f"/api/v1/channels/{message['channel_id']}/messages",
            json=body,
            headers={"authorization": f"Bearer {both.critic_key}"},
        )
        assert (await said(both.writer, "agent_wait")).endswith("too long")


async def test_a_message_box_holds_so_many_and_no_more(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        both = await pair(site)
        for number in range(200):
            await both.writer.call("agent_send", message=str(number))
        assert "not read yet" in await both.writer.text("agent_send", message="one more")
        assert len((await both.critic.call("agent_read"))["structuredContent"]["messages"]) == 200


async def test_messages_of_agents_whose_arrow_is_gone_are_not_read(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        both = await pair(site)
        await both.writer.call("agent_send", message="secret")
        await site.ask("DELETE", f"/workspaces/{both.workspace}/arrows/{both.arrow}", status=204)
        assert await both.critic.tools() == []
        assert "no tool" in await both.critic.text("toolwire_call_tool", name="agent_read")


async def test_messages_wait_over_a_restart_until_they_are_read(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        both = await pair(site)
        for text in ("one", "two"):
            await both.writer.call("agent_send", message=text)
        await both.critic.call("agent_send", message="back")
        assert (await said(both.writer, "agent_read")).endswith("back")
    async with open_site(tmp_path, site.owner_key) as again:
        both.critic.move_to(again)
        both.writer.move_to(again)
        messages = (await both.critic.call("agent_read"))["structuredContent"]["messages"]
        assert [message["text"] for message in messages] == ["one", "two"]
        assert await said(both.writer, "agent_read") == "(no new messages)"


async def test_a_message_is_typed_into_an_agents_program_where_its_user_wants_that(tmp_path: Path) -> None:
    """Nothing that the message holds is a key."""
    command = "stty -echo; echo ready; IFS= read -r line; printf '%s' \"$line\" | cat -v; sleep 60"
    async with open_site(tmp_path) as site:
        both = await pair(site)
        content = {"command": command, "messages": "typed"}
        await site.ask("PATCH", f"/workspaces/{both.workspace}/cards/{both.critic_card}", {"content": content})
        assert "waits until" in await said(both.writer, "agent_send", message="early")
        await site.ask("POST", f"/terminals/{both.critic_card}/start")
        await screen_with(both, "ready")
        assert "is typed" in await said(both.writer, "agent_send", message="look \x1b[201~\x03here\x9b")
        screen = await screen_with(both, "here")
        assert screen.endswith(
            "^[[200~Message from the agent 'writer', answer it with the tool agent_send: look [201~here^[[201~"
        )
        await site.ask("POST", f"/terminals/{both.critic_card}/kill", status=204)


async def screen_with(both: Pair, words: str) -> str:
    with anyio.fail_after(10):
        while True:
            shown = (await both.site.ask("GET", f"/terminals/{both.critic_card}/screen"))["screen"]
            if words in shown:
                return shown.replace("\n", "")
            await anyio.lowlevel.checkpoint()
