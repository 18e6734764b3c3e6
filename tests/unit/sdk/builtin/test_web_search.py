"""`WebSearch` against endpoints of the usual kinds, and without one (sdk.md 21, issue item 3)."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.unit.sdk.builtin.desk import Desk
from tests.unit.sdk.builtin.web_server import Answer, serving
from toolwire.sdk.builtin.web.search_api import Endpoint, Found, results_in


async def test_without_an_endpoint_it_says_what_to_configure(desk: Desk):
    told = await desk.bad("WebSearch", query="tea")

    assert "no search service is set up" in told
    assert "HostConfig(web_search_url=…, web_search_key=…)" in told


async def test_results_come_with_title_link_and_extract(tmp_path: Path):
    results = [
        {"title": "Tea", "url": "https://tea.example/", "content": "All about\n  tea"},
        {"title": "", "url": "https://x.example/", "content": None},
        {"title": "Bad", "url": "javascript:x"},
        {"title": "Third", "url": "https://third.example/"},
    ]
    with serving({"/search": Answer(msgspec.json.encode({"results": results}))}) as server:
        desk = Desk(tmp_path, web_search_url=f"{server.url}/search?format=json", web_search_key="secret")

        text = await desk.good("WebSearch", query="tea & milk", count=2)

    assert text == "1. Tea\n   https://tea.example/\n   All about tea\n2. https://x.example/\n   https://x.example/"
    ((path, headers),) = server.requests
    assert path == "/search?format=json&q=tea%20%26%20milk&count=2"
    assert headers["authorization"] == "Bearer secret"


async def test_a_template_and_another_header_for_the_key(tmp_path: Path):
    with serving({"/find/tea": Answer(b"[]")}) as server:
        url = f"{server.url}/find/{{query}}?n={{count}}"
        desk = Desk(tmp_path, web_search_url=url, web_search_key="secret", web_search_header="X-Subscription-Token")

        assert await desk.good("WebSearch", query="tea") == "nothing was found; try other words"

    ((path, headers),) = server.requests
    assert path == "/find/tea?n=10"
    assert headers["x-subscription-token"] == "secret"


@pytest.mark.parametrize(
    "answer",
    [
        [{"title": "T", "url": "https://x", "snippet": "S"}],
        {"web": {"results": [{"title": "T", "url": "https://x", "description": "S"}]}},
        {"organic": [{"title": "T", "link": "https://x", "snippet": "S"}]},
        {"items": [{"title": "T", "link": "https://x", "snippet": "S"}]},
        {"webPages": {"value": [{"name": "T", "url": "https://x", "snippet": "S"}]}},
        {"data": {"results": [{"title": "T", "href": "https://x", "body": "S"}]}},
    ],
)
def test_the_answers_of_the_usual_services_are_understood(answer: Any):
    assert results_in(answer, 10) == [Found("T", "https://x", "S")]


NOTHING: list[Any] = [None, 1, "x", {}, {"results": None}, {"results": [1, []]}, [[]]]


@pytest.mark.parametrize("answer", NOTHING)
def test_an_answer_without_results_has_none(answer: Any):
    assert results_in(answer, 10) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(status=401), "refuses the key (status 401); tell the user"),
        (Answer(status=429), "too many requests (status 429); try later"),
        (Answer(status=302, headers={"Location": "https://elsewhere.example/"}), "answers with status 302"),
        (Answer(status=500), "answers with status 500"),
        (Answer(b"<html>"), "did not answer with JSON"),
        (Answer(b"x" * 5_000_000), "answers with too much"),
    ],
)
async def test_what_the_service_does_wrong_is_told_without_the_key(tmp_path: Path, answer: Answer, told: str):
    with serving({"/s": answer}) as server:
        desk = Desk(tmp_path, web_search_url=f"{server.url}/s", web_search_key="secret")

        text = await desk.bad("WebSearch", query="tea")

    assert told in text
    assert "secret" not in text


@pytest.mark.parametrize(
    "settings", [{"web_search_url": "nonsense"}, {"web_search_key": "a\nb"}, {"web_search_key": "ä"}]
)
async def test_wrong_settings_are_told(tmp_path: Path, settings: dict[str, str]):
    with serving({}) as server:
        desk = Desk(tmp_path, **{"web_search_url": server.url, **settings})

        assert "the search is set up wrongly" in await desk.bad("WebSearch", query="tea")


async def test_a_service_that_is_not_there_is_told(tmp_path: Path):
    with serving({}) as server:
        pass
    desk = Desk(tmp_path, web_search_url=server.url)

    assert "cannot be asked (ConnectError); try later" in await desk.bad("WebSearch", query="tea")
    assert "the query is empty" in await desk.bad("WebSearch", query="  ")


def test_without_a_key_no_header_is_sent():
    assert "Authorization" not in Endpoint("https://x", None, "Authorization").headers()
