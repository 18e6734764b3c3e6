"""The document is made of what routes say of themselves, and there is no route without a word (gateway.md §6)."""

from typing import Any

import msgspec
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute

from toolwire.core.error_rows import ERRORS
from toolwire.surfaces.described import EVENTS, Answers, Described, described, header, marked, query
from toolwire.surfaces.document import DocumentRoutes
from toolwire.surfaces.openapi import UndescribedRoute, document_of
from toolwire.surfaces.reference_page import reference_page


class Pet(msgspec.Struct):
    """A pet."""

    name: str


class PetRoutes:
    """Pets."""

    def routes(self) -> list[Route]:
        return [
            Route("/pets/{agent}", self.show, methods=["GET"]),
            Route("/tasks/{task}/pets/{agent}", self.show, methods=["GET"]),
            Route("/pets", self.add, methods=["POST"]),
            Route("/pets/{agent}/steps", self.steps, methods=["GET"]),
        ]

    @described("oag bak", Pet, parameters=(query("kind", "only of <these>", many=True), header("If-Match", "seen")))
    async def show(self, request: Request) -> Response:
        """One pet,
        as it is now.

        Not in the summary.
        """
        return Response()

    @described("oag", Pet, 201, body=Pet, errors="conflict")
    async def add(self, request: Request) -> Response:
        """Add a pet."""
        return Response()

    @marked(Described(others={200: Answers("steps", {EVENTS: Pet}, {"x-steps": "how many"})}, enveloped=False))
    async def steps(self, request: Request) -> Response:
        """What it does."""
        return Response()

    async def unmarked(self, request: Request) -> Response:
        """It says nothing."""
        return Response()

    @described("oag")
    async def wordless(self, request: Request) -> Response:
        return Response()


PETS = PetRoutes()


def operation(path: str, method: str) -> Any:
    return document_of(PETS.routes())["paths"][path][method]


def codes(operation: Any, status: int) -> list[str]:
    found = document_of(PETS.routes())["components"]["responses"]
    answer = operation["responses"][str(status)]
    if "$ref" in answer:
        answer = found[answer["$ref"].rsplit("/", 1)[1]]
    problem = answer["content"]["application/json"]["schema"]["properties"]["error"]
    return problem["allOf"][1]["properties"]["code"]["enum"]


def test_an_operation_has_the_words_keys_and_parameters_of_its_route():
    found = operation("/pets/{agent}", "get")
    assert found["summary"] == "One pet, as it is now."
    assert found["security"] == [{"oag": []}, {"bak": []}]
    assert [(one["name"], one["in"], one["required"]) for one in found["parameters"]] == [
        ("agent", "path", True),
        ("kind", "query", False),
        ("If-Match", "header", False),
    ]
    assert found["parameters"][1]["schema"] == {"type": "array", "items": {"type": "string"}}


def test_an_answer_stands_in_the_envelope_and_a_body_is_a_reference():
    found = operation("/pets", "post")
    ref = {"$ref": "#/components/schemas/Pet"}
    assert found["requestBody"]["content"]["application/json"]["schema"] == ref
    schema = found["responses"]["201"]["content"]["application/json"]["schema"]
    assert schema["properties"] == {"success": {"const": True}, "data": ref}


def test_the_codes_of_a_refusal_follow_from_what_a_route_takes():
    show, add = operation("/pets/{agent}", "get"), operation("/pets", "post")
    assert codes(show, 404) == ["agent_not_found", "route_not_found"]
    assert codes(add, 409) == ["conflict"]
    assert codes(add, 413) == ["payload_too_large"]
    assert codes(show, 401) == ["unauthorized"]
    assert "401" not in operation("/pets/{agent}/steps", "get")["responses"]
    assert all(ERRORS[code].http_rest == 404 for code in codes(show, 404))


def test_a_stream_is_described_by_its_events():
    found = operation("/pets/{agent}/steps", "get")["responses"]["200"]
    data = found["content"]["text/event-stream"]["schema"]["properties"]["data"]
    assert data["contentSchema"] == {"$ref": "#/components/schemas/Pet"}
    assert found["headers"]["x-steps"]["description"] == "how many"


def test_operations_have_ids_of_their_own_even_where_two_paths_share_a_handler():
    paths = document_of(PETS.routes())["paths"]
    ids = [one["operationId"] for methods in paths.values() for one in methods.values()]
    assert sorted(ids) == ["pet_add", "pet_show", "pet_show_2", "pet_steps"]


async def _socket(_: Any) -> None:
    raise AssertionError("nobody opens it")


@pytest.mark.parametrize(
    "route", [Route("/a", PETS.unmarked), Route("/a", PETS.wordless), WebSocketRoute("/a", _socket)]
)
def test_a_route_that_says_nothing_of_itself_has_no_place_in_the_document(route: Any):
    with pytest.raises(UndescribedRoute):
        document_of([route])


def test_the_page_shows_every_operation_and_escapes_what_it_shows():
    page = reference_page(document_of([*PETS.routes(), *DocumentRoutes([]).routes()]))
    for text in ("/pets/{agent}", "One pet, as it is now.", "only of &lt;these&gt;", 'id="shape-Pet"', "/openapi.json"):
        assert text in page
    assert "<script" not in page
    assert "http" not in page.replace('href="/', "").lower().split("</style>")[1].split("<section>")[0]
