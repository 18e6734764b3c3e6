"""2026-07-28: a request that is answered with questions, and its repeat (mcp.md 1.2, MRTR rules; S37)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.interaction.answering import Asked, by_method, form
from tests.interaction.bench import NEW, Bench, Gate
from tests.interaction.cells import Talk, talking
from tests.interaction.requirements import HTTP_2026, STDIO_2026, Cell, proves
from tests.interaction.transport import connect
from toolwire.core.errors import InvalidParam
from toolwire.sdk import AskForm, ToolContext
from toolwire.server import Server

on_both = pytest.mark.parametrize("cell", [HTTP_2026, STDIO_2026])
NAME: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
INVALID = "invalid or expired requestState"


class Ledger:
    """A server of a tool with an effect before its first question, and one between its two."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    def offer(self, gate: Gate) -> Server:
        server = Server("bench")

        @server.tool
        async def pay(ctx: ToolContext, amount: int = 1) -> str:
            """Pay."""
            self.effects.append("begun")
            name = await ctx.elicit("Who pays?", NAME, key="payer")
            self.effects.append("between")
            other = await ctx.elicit("Who is paid?", NAME, key="payee")
            self.effects.append("paid")
            return f"{name.content} pays {amount} to {other.content}"

        @server.tool
        async def pair(ctx: ToolContext) -> str:
            """Ask for two names at once."""
            found = await ctx.ask_all({"one": AskForm("One?", NAME), "two": AskForm("Two?", NAME)})
            return f"{found['one'].content} {found['two'].content}"

        @server.prompt
        async def about(ctx: ToolContext) -> str:
            """Ask for what it is about."""
            self.effects.append("begun")
            return f"About {(await ctx.elicit('Whom?', NAME, key='whom')).content}"

        return server


def by_question(method: str, params: Any) -> Any:
    """Who pays is Ann, who is paid is Bob."""
    return form(name="Ann" if params["message"] == "Who pays?" else "Bob")


async def asked_for(client: Asked, params: Any, method: str = "tools/call", **more: Any) -> Any:
    """The result of one request, which asks."""
    [message] = await client.talk.say(method, client.enveloped(params), **more)
    assert message["result"]["resultType"] == "input_required", message
    return message["result"]


async def answered(client: Asked, params: Any, state: Any, responses: Any, method: str = "tools/call") -> Any:
    """The response to a repeat."""
    sent = {**client.enveloped(params), "requestState": state, "inputResponses": responses}
    [message] = await client.talk.say(method, sent, 2)
    return message


def text(message: Any) -> str:
    return message["result"]["content"][0]["text"]


@proves("mrtr.once")
@proves("mrtr.rounds")
@proves("mrtr.no-requests")
@on_both
async def test_what_a_body_did_before_it_asked_happens_once(cell: Cell):
    ledger = Ledger()
    async with talking(cell, ledger.offer) as talk:
        client = Asked(talk, by_question)
        assert await client.text("pay", {"amount": 5}) == "{'name': 'Ann'} pays 5 to {'name': 'Bob'}"
        assert ledger.effects == ["begun", "between", "paid"]
        assert [key for key, _, _ in client.questions] == ["payer", "payee"]
        assert len(set(client.states)) == 2


@proves("mrtr.again")
@on_both
@pytest.mark.parametrize("wrong", [{}, {"nobody": form(name="Ann")}, {"payer": {"action": "accept"}}])
async def test_what_is_not_answered_is_asked_again(cell: Cell, wrong: Any):
    ledger = Ledger()
    async with talking(cell, ledger.offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay"}
        first = await asked_for(client, params)
        again = (await answered(client, params, first["requestState"], wrong))["result"]
        assert again["inputRequests"] == first["inputRequests"]
        last = await answered(client, params, again["requestState"], {"payer": form(name="Ann"), "extra": {}})
        assert list(last["result"]["inputRequests"]) == ["payee"]
        assert ledger.effects == ["begun", "between"]


@proves("mrtr.again")
@on_both
async def test_of_two_questions_the_one_that_is_left_is_asked_again(cell: Cell):
    async with talking(cell, Ledger().offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pair"}
        first = await asked_for(client, params)
        assert list(first["inputRequests"]) == ["one", "two"]
        half = (await answered(client, params, first["requestState"], {"two": form(name="B")}))["result"]
        assert list(half["inputRequests"]) == ["one"]
        whole = await answered(client, params, half["requestState"], {"one": form(name="A"), "two": form(name="C")})
        assert text(whole) == "{'name': 'A'} {'name': 'B'}"


@proves("mrtr.malformed")
@on_both
@pytest.mark.parametrize("responses", [None, [], "x", {"payer": 12345}, {"payer": None}])
async def test_answers_that_are_no_object_of_objects_are_refused(cell: Cell, responses: Any):
    async with talking(cell, Ledger().offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay"}
        first = await asked_for(client, params)
        error = (await answered(client, params, first["requestState"], responses))["error"]
        assert (error["code"], error["data"]["code"]) == (-32602, "invalid_param")
        assert error["data"]["param"].startswith("inputResponses")


@proves("mrtr.sealed")
@on_both
@pytest.mark.parametrize("forged", ["{}-TAMPERED", "A{}", "AAAA", "", "ü", 7])
async def test_a_state_that_is_not_ours_is_refused(cell: Cell, forged: Any):
    async with talking(cell, Ledger().offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay"}
        first = await asked_for(client, params)
        state = forged.format(first["requestState"]) if isinstance(forged, str) else forged
        error = (await answered(client, params, state, {"payer": form(name="Ann")}))["error"]
        assert (error["code"], error["data"]["param"]) == (-32602, "requestState")


@proves("mrtr.sealed")
@on_both
async def test_a_state_is_good_for_its_own_request_alone(cell: Cell):
    async with talking(cell, Ledger().offer) as talk:
        client, answers = Asked(talk, by_question), {"payer": form(name="Ann"), "whom": form(name="Ann")}
        state = (await asked_for(client, {"name": "pay"}))["requestState"]
        for method, params in [
            ("tools/call", {"name": "pay", "arguments": {"amount": 1000}}),
            ("tools/call", {"name": "pair"}),
            ("prompts/get", {"name": "about"}),
        ]:
            error = (await answered(client, params, state, answers, method))["error"]
            assert (error["code"], error["message"]) == (-32602, INVALID)


@proves("mrtr.repeated")
@on_both
async def test_the_same_repeat_twice_has_the_same_answer_and_no_second_effect(cell: Cell):
    ledger = Ledger()
    async with talking(cell, ledger.offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay"}
        await client.text("pay")
        last = await answered(client, params, client.states[1], {"payee": form(name="Bob")})
        assert text(last) == "{'name': 'Ann'} pays 1 to {'name': 'Bob'}"
        assert ledger.effects == ["begun", "between", "paid"]
        prompt = await client.say("prompts/get", {"name": "about"})
        again = await answered(client, {"name": "about"}, client.states[2], {"whom": form(name="Eve")}, "prompts/get")
        assert again["result"] == prompt["result"]
        assert ledger.effects.count("begun") == 2


@proves("mrtr.keyed")
@on_both
async def test_a_call_under_a_key_that_asks_stays_the_one_call_of_its_key(cell: Cell):
    ledger = Ledger()
    async with talking(cell, ledger.offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay", "_meta": {"toolwire/idempotency_key": "k1"}}
        first = await asked_for(client, params)
        # The client has lost the answer, state and all: the same key again gets the same question of the same call.
        again = await asked_for(client, params)
        assert again["inputRequests"] == first["inputRequests"]
        half = (await answered(client, params, again["requestState"], {"payer": form(name="Ann")}))["result"]
        done = await answered(client, params, half["requestState"], {"payee": form(name="Bob")})
        assert text(done) == "{'name': 'Ann'} pays 1 to {'name': 'Bob'}"
        [later] = await talk.say("tools/call", client.enveloped(params), 9)
        assert text(later) == text(done)
        assert later["result"]["_meta"]["toolwire/idempotency"]["replayed"] is True
        assert ledger.effects == ["begun", "between", "paid"]


@proves("mrtr.now", HTTP_2026)
async def test_a_client_is_asked_for_what_it_can_do_now():
    async with talking(HTTP_2026, Ledger().offer) as talk:
        client, params = Asked(talk, by_question), {"name": "pay"}
        first = await asked_for(client, params)
        client.can = {"roots": {}}
        error = (await answered(client, params, first["requestState"], {"payer": form(name="Ann")}))["error"]
        assert (error["code"], error["data"]["requiredCapabilities"]) == (-32021, {"elicitation": {}})
        client.can = {}
        error = (await answered(client, params, first["requestState"], {}))["error"]
        assert error["code"] == -32021


@asynccontextmanager
async def another(ledger: Ledger) -> AsyncGenerator[Talk]:
    """Another replica of the server, or the same one after a restart."""
    gate = Gate()
    server = ledger.offer(gate)
    async with server.open() as served, connect(served.app) as client:
        yield Talk(HTTP_2026, server, gate, Bench(served, client, gate).peer(NEW), None)


@proves("mrtr.elsewhere", HTTP_2026)
async def test_another_replica_begins_anew_with_the_answers_in_the_state(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLWIRE_SECRET", "one and the same for all replicas")
    ledger, params = Ledger(), {"name": "pay"}
    async with another(ledger) as one, another(ledger) as two:
        first = await asked_for(Asked(one, by_question), params)
        client = Asked(two, by_question)
        half = (await answered(client, params, first["requestState"], {"payer": form(name="Ann")}))["result"]
        assert list(half["inputRequests"]) == ["payee"]
        # Back at the first one, whose body waits for its first answer still: it gets both.
        done = await answered(Asked(one, by_question), params, half["requestState"], {"payee": form(name="Bob")})
        assert text(done) == "{'name': 'Ann'} pays 1 to {'name': 'Bob'}"


@proves("mrtr.elsewhere", HTTP_2026)
@proves("mrtr.sealed", HTTP_2026)
async def test_a_replica_with_another_secret_takes_no_state(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLWIRE_SECRET", "one and the same for all replicas")
    ledger, params = Ledger(), {"name": "pay"}
    async with another(ledger) as one:
        first = await asked_for(Asked(one, by_question), params)
    monkeypatch.delenv("TOOLWIRE_SECRET")
    async with another(ledger) as two:
        error = (await answered(Asked(two, by_question), params, first["requestState"], {}))["error"]
        assert (error["code"], error["message"]) == (-32602, INVALID)


@proves("mrtr.again")
@on_both
async def test_answers_without_a_state_serve_a_body_that_begins(cell: Cell):
    async with talking(cell, Ledger().offer) as talk:
        client = Asked(talk, by_method())
        sent = {**client.enveloped({"name": "pay"}), "inputResponses": {"payer": form(name="Ann")}}
        [message] = await talk.say("tools/call", sent)
        assert list(message["result"]["inputRequests"]) == ["payee"]


@proves("mrtr.elsewhere", HTTP_2026)
async def test_a_secret_that_is_too_short_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TOOLWIRE_SECRET", "short")
    with pytest.raises(InvalidParam, match="TOOLWIRE_SECRET must have 32 characters or more"):
        async with another(Ledger()):
            pass
