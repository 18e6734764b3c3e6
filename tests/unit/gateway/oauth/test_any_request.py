"""Whatever is sent to OAuth's endpoints, nothing fails inside the server and nobody is sent to an unknown place."""

from pathlib import Path
from urllib.parse import quote_from_bytes, urlencode

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.gateway.oauth.browser import BASE, CHALLENGE, LOOPBACK, VERIFIER, open_person
from toolwire.core.ids import new_id

NAMES = """response_type client_id redirect_uri code_challenge code_challenge_method state scope resource
response_mode request_uri grant_type code code_verifier refresh_token token action agent owner_key""".split()
VALUES = f"""code CLIENT {LOOPBACK} {BASE} {CHALLENGE} {VERIFIER} S256 mcp allow sign_in
refresh_token authorization_code https://evil.example/ //evil.example https://app.example/c.json""".split()
TEXT = st.one_of(st.sampled_from(VALUES), st.text(max_size=40), st.just("x" * 3000))
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), TEXT), max_size=12)
FORM = {"content-type": "application/x-www-form-urlencoded", "origin": BASE}


@pytest.mark.parametrize("endpoint", ["/oauth/authorize", "/oauth/token", "/oauth/revoke", "/oauth/register"])
def test_any_parameters_are_answered(tmp_path: Path, endpoint: str):
    @settings(max_examples=15)
    @given(st.lists(st.tuples(PAIRS, PAIRS, st.binary(max_size=30)), min_size=8, max_size=8))
    def ask(requests: list[tuple[list[tuple[str, str]], list[tuple[str, str]], bytes]]) -> None:
        anyio.run(asked, requests)

    async def asked(requests: list[tuple[list[tuple[str, str]], list[tuple[str, str]], bytes]]) -> None:
        async with open_person(tmp_path / new_id("run")) as person:
            for query, form, raw in requests:
                filled = [(name, person.client_id if value == "CLIENT" else value) for name, value in query]
                path = f"{endpoint}?{urlencode(filled, errors='replace')}&{quote_from_bytes(raw, safe='&=;%')}"
                body = urlencode(form, errors="replace").encode() + b"&" + raw
                kind = {"content-type": "application/json"} if endpoint.endswith("register") else FORM
                answers = [
                    await person.browser.get(path),
                    await person.browser.post(path, content=body, headers={**FORM, **kind}),
                    await person.site.client.post(path, content=raw, headers={**FORM, **kind}),
                ]
                for answer in answers:
                    assert answer.status_code < 500, answer.text
                    there = answer.headers.get("location", LOOPBACK)
                    assert there.startswith((LOOPBACK, "http://127.0.0.1", "/oauth/authorize?"))

    ask()
