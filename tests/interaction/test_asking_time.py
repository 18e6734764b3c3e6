"""2026-07-28: how long a body waits for its answers (mcp.md 1.2, MRTR rules)."""

import anyio
import pytest

from tests.interaction.answering import Asked, by_method, form
from tests.interaction.cells import talking
from tests.interaction.requirements import HTTP_2026, proves
from tests.interaction.test_asking_repeats import Ledger, answered, asked_for, by_question, text
from toolwire.surfaces.parking import MAX_PARKED
from toolwire.surfaces.sealing import STATE_TTL_S

PAY = {"name": "pay"}


@proves("mrtr.time", HTTP_2026)
@pytest.mark.virtual_time
@pytest.mark.parametrize("key", [{}, {"toolwire/idempotency_key": "k1"}])
async def test_a_person_may_think_longer_than_a_call_may_take(key: dict[str, str]):
    ledger = Ledger()
    params = {**PAY, "_meta": {"toolwire/timeout_ms": 1000, **key}}
    async with talking(HTTP_2026, ledger.offer) as talk:
        client = Asked(talk, by_question)
        first = await asked_for(client, params)
        await anyio.sleep(STATE_TTL_S - 1)
        half = await answered(client, params, first["requestState"], {"payer": form(name="Ann")})
        await anyio.sleep(STATE_TTL_S - 1)
        done = await answered(client, params, half["result"]["requestState"], {"payee": form(name="Bob")})
        assert text(done) == "{'name': 'Ann'} pays 1 to {'name': 'Bob'}"
        assert ledger.effects == ["begun", "between", "paid"]


@proves("mrtr.time", HTTP_2026)
@proves("mrtr.elsewhere", HTTP_2026)
@pytest.mark.virtual_time
@pytest.mark.parametrize(("method", "params"), [("tools/call", PAY), ("prompts/get", {"name": "about"})])
async def test_a_body_that_nobody_answers_is_given_up_and_begins_anew(method: str, params: dict[str, str]):
    ledger = Ledger()
    async with talking(HTTP_2026, ledger.offer) as talk:
        client = Asked(talk, by_method())
        first = await asked_for(client, params, method)
        await anyio.sleep(STATE_TTL_S + 1)
        answers = {"payer": form(name="Ann"), "payee": form(name="Bob"), "whom": form(name="Ann")}
        done = await answered(client, params, first["requestState"], answers, method)
        assert done["result"]["resultType"] == "complete"
        assert ledger.effects.count("begun") == 2


@proves("mrtr.bounded", HTTP_2026)
async def test_the_body_that_has_waited_longest_gives_way():
    ledger = Ledger()
    async with talking(HTTP_2026, ledger.offer) as talk:
        client = Asked(talk, by_question)
        first = latest = await asked_for(client, PAY)
        for _ in range(MAX_PARKED):
            latest = await asked_for(client, PAY)
        begun = ledger.effects.count("begun")
        await answered(client, PAY, latest["requestState"], {"payer": form(name="Ann")})
        assert ledger.effects.count("begun") == begun
        done = await answered(client, PAY, first["requestState"], {n: form(name="A") for n in ("payer", "payee")})
        assert text(done) == "{'name': 'A'} pays 1 to {'name': 'A'}"
        assert ledger.effects.count("begun") == begun + 1
