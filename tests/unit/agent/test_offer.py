"""What an agent offers beside answers to calls, and how its gateway gets to know of it (docs/adr/0014, 0015)."""

import threading
import warnings
from typing import Any

import anyio
import pytest

from tests.unit.agent.rig import Gateway, chat, gateway_of_agent
from toolwire import Server
from toolwire.agent import Agent, Ctx
from toolwire.sdk import create_sdk_mcp_server, tool
from toolwire.server import ListChanged, ResourceUpdated
from toolwire.wire.link import Answered, Ask, Changed, Forget, Noted, Refused, Register


def notes() -> Server:
    server = Server("notes")

    @server.tool
    async def count() -> int:
        """Count."""
        return 1

    @server.resource("notes://all", title="All")
    def every() -> str:
        """Every note."""
        return "none"

    @server.resource("notes://{number}")
    def one(number: int) -> dict[str, int] | None:
        return {"number": number} if number < 9 else None

    @server.prompt
    def sum_up(style: str = "short") -> str:
        return f"be {style}"

    @server.complete("sum_up", "style")
    def styles(value: str) -> list[str]:
        return [f"{value}{number}" for number in range(120)]

    return server


def seen(gateway: Gateway, kind: type[Any]) -> list[Any]:
    return [frame for frame in gateway.seen if isinstance(frame, kind)]


async def answer(gateway: Gateway, method: Any, **params: Any) -> Answered:
    """What the agent answers to a question."""
    before = len(seen(gateway, Answered))
    gateway.give(Ask(before + 1, method, params, 12))
    await gateway.until(lambda: len(seen(gateway, Answered)) > before)
    found: Answered = seen(gateway, Answered)[-1]
    assert found.ref == before + 1
    return found


async def test_a_server_that_is_added_is_offered_whole():
    agent = Agent("bench", tools=())
    agent.add(notes())
    said = agent.registration()
    assert [skill.name for skill in said.skills] == ["count"]
    assert [each.get("uri") or each["uriTemplate"] for each in said.resources] == ["notes://all", "notes://{number}"]
    assert said.resources[0]["title"] == "All"
    assert (said.prompts[0]["name"], said.completions) == ("sum_up", True)
    async with gateway_of_agent(agent) as gateway:
        read = (await answer(gateway, "resources/read", uri="notes://7")).result
        assert read == {"contents": [{"uri": "notes://7", "mimeType": "application/json", "text": '{"number":7}'}]}
        prompt: Any = (await answer(gateway, "prompts/get", name="sum_up", arguments={"style": "long"})).result
        assert prompt["messages"] == [{"role": "user", "content": {"type": "text", "text": "be long"}}]
        ref = {"type": "ref/prompt", "name": "sum_up"}
        argument = {"name": "style", "value": "x"}
        found: Any = (await answer(gateway, "completion/complete", ref=ref, argument=argument)).result
        assert len(found["completion"]["values"]) == 120
        gateway.deliver(chat("m_1", "count"))
        assert (await gateway.reply("m_1")).payload["text"] == "1"


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("resources/read", {"uri": "notes://99"}, "resource_not_found"),
        ("resources/read", {"uri": 7}, "invalid_param"),
        ("resources/read", {"uri": "notes://broken"}, "internal_error"),
        ("prompts/get", {"name": "nothing"}, "invalid_param"),
        ("prompts/get", {"name": "sum_up", "arguments": {"size": "x"}}, "invalid_param"),
        ("completion/complete", {"ref": {}}, "invalid_param"),
    ],
)
async def test_what_cannot_be_answered_is_told_by_its_code(method: Any, params: Any, code: str):
    agent = Agent("bench")
    agent.add(notes())

    @agent.resource("notes://broken")
    def broken() -> str:
        raise RuntimeError("the-database-password")

    async with gateway_of_agent(agent) as gateway:
        error = (await answer(gateway, method, **params)).error
        assert error is not None
        assert error.code == code
        assert "password" not in error.message


async def test_an_agent_without_anything_answers_that_it_does_not():
    async with gateway_of_agent(Agent("bench")) as gateway:
        error = (await answer(gateway, "resources/read", uri="notes://all")).error
        assert error is not None
        assert error.code == "method_not_found"


@pytest.mark.parametrize("how", ["forgotten", "link gone"])
async def test_reading_ends_when_nobody_waits_any_more(how: str):
    agent = Agent("bench")
    begun, ended = anyio.Event(), anyio.Event()

    @agent.resource("slow://one")
    async def slow(ctx: Ctx) -> str:
        ctx.progress("begun", 1)
        ctx.log.info("slow")
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        return ""

    async with gateway_of_agent(agent) as gateway:
        gateway.give(Ask(5, "resources/read", {"uri": "slow://one"}, 12))
        with anyio.fail_after(5):
            await begun.wait()
            await gateway.until(lambda: len(seen(gateway, Noted)) == 2)
            assert {frame.ref for frame in seen(gateway, Noted)} == {5}
            if how == "forgotten":
                gateway.give(Forget(5))
            else:
                gateway.worker.detached()
            await ended.wait()
        assert seen(gateway, Answered) == []


async def test_what_is_added_while_attached_is_registered_anew_and_the_same_again_is_not():
    server, agent = notes(), Agent("bench")
    async with gateway_of_agent(agent) as gateway:
        agent.add(server)
        await gateway.until(lambda: bool(seen(gateway, Register)))
        server.tool(name="late")(_late)
        await gateway.until(lambda: "late" in str(seen(gateway, Register)[-1].registration.skills))
        count = len(seen(gateway, Register))
        agent.add(server)
        gateway.worker.presented.register(agent.registration())
        gateway.deliver(chat("m_1", "late"))
        await gateway.reply("m_1")
        assert len(seen(gateway, Register)) == count


async def test_a_registration_that_is_refused_is_told_to_the_author(caplog: pytest.LogCaptureFixture):
    agent = Agent("bench")
    async with gateway_of_agent(agent) as gateway:
        agent.prompt(name="late")(_late)
        await gateway.until(lambda: bool(seen(gateway, Register)))
        gateway.give(Refused("invalid_param", "no", seen(gateway, Register)[0].ref))
        assert "what the agent was before: invalid_param: no" in caplog.text


async def test_changes_are_told_from_any_thread_and_through_a_part():
    server, agent = notes(), Agent("bench")
    agent.add(server)
    async with gateway_of_agent(agent) as gateway:
        await anyio.to_thread.run_sync(agent.tell, ResourceUpdated("notes://all"))
        server.tell(ListChanged("resources"))
        await gateway.until(lambda: len(seen(gateway, Changed)) == 2)
        assert seen(gateway, Changed) == [Changed(uri="notes://all"), Changed(which="resources")]
    thread = threading.Thread(target=agent.tell, args=(ResourceUpdated("notes://all"),))
    thread.start()
    thread.join()


def test_names_that_are_taken_or_that_no_model_takes_are_refused():
    agent = Agent("bench")
    agent.add(notes())
    with pytest.raises(ValueError, match="two resources are at 'notes://all'"):
        agent.resource("notes://all")(_late)
    with pytest.raises(ValueError, match="has a tool 'count' already"):
        agent.tool(name="count")(_late)
    odd = Server("odd")
    with pytest.warns(UserWarning, match="not every model's API"):
        odd.tool(name="a.b")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        odd.tool(name="a.b")(_late)
    with pytest.raises(ValueError, match="not every model takes such a name"):
        agent.add(odd)
    with pytest.raises(TypeError, match="add"):
        agent.add("notes")  # pyright: ignore[reportArgumentType] -- what an author may write


def test_tools_and_bundles_are_added_as_well():
    agent = Agent("bench")
    made = tool(_late, name="late")
    bundled = tool(_late, name="bundled")
    agent.add(made, create_sdk_mcp_server("pack", tools=[bundled]))
    agent.add(made)
    assert [skill.name for skill in agent.registration().skills] == ["late", "bundled"]


def _late() -> str:
    """Come late."""
    return "late"
