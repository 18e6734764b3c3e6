"""The OpenAPI document of REST routes, made of the routes, their `@described` and their docstrings; it serves nothing.

Spec: OpenAPI 3.1.1; gateway.md §6, REST (the envelope).
"""

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from starlette.routing import BaseRoute, Route

from toolwire.core.error_rows import ERRORS
from toolwire.core.jsontypes import JsonObject
from toolwire.core.version import __version__
from toolwire.surfaces.described import EVENTS, JSON, Answers, Described, Parameter, description_of
from toolwire.wire.answers.calls import Problem

ABOUT: Final = (
    'The REST surface of a Toolwire host. Good answers are `{"success": true, "data": …}`, refusals '
    '`{"success": false, "error": {"type", "code", "message", "details", "request_id"}}`; each has an '
    "`X-Request-Id`. Times are RFC 3339 in UTC. `oag_` keys are owners', `bak_` keys call one agent, `agk_` keys are "
    "agents' own. The tools of an agent are served over MCP at `/{agent_id}/mcp`, which is not part of this document."
)
_KEYS: Final = {
    "oag": "an owner's key, `oag_…`: everything that is the owner's",
    "bak": "a caller's key, `bak_…`: calls of one agent",
    "agk": "an agent's own key, `agk_…`: what its process does",
}
_ALWAYS: Final = ("invalid_request", "host_not_allowed", "origin_not_allowed", "internal_error",
                  "agent_service_unavailable")  # fmt: skip
_WITH_KEY: Final = ("unauthorized", "forbidden")
_WITH_BODY: Final = ("parse_error", "invalid_param", "payload_too_large", "unsupported_media_type")
_OF_PATH: Final = {
    "agent": "agent_not_found",
    "task": "task_not_found",
    "call": "task_not_found",
    "webhook": "webhook_not_found",
    "delivery": "webhook_not_found",
    "channel": "channel_not_found",
    "file": "file_not_found",
    "key_id": "key_not_found",
    "grant_id": "key_not_found",
    "session_id": "key_not_found",
    "w": "workspace_not_found",
    "c": "card_not_found",
    "a": "arrow_not_found",
    "package": "package_not_found",
}
_BREAK: Final = re.compile(r"\s*\n\s*")
_PLACE: Final = re.compile(r"{(\w+)(?::\w+)?}")


PROBLEM: Final = {"$ref": "#/components/schemas/Problem"}


class Operation(Struct, frozen=True):
    """One method of one route, and what it says of itself."""

    path: str
    method: str
    id: str
    tag: str
    summary: str
    description: Described

    @property
    def places(self) -> tuple[str, ...]:
        """The parameters of the path."""
        return tuple(_PLACE.findall(self.path))


class UndescribedRoute(Exception):
    """A route says nothing of what it takes and answers."""


def operations_of(routes: Iterable[BaseRoute]) -> Iterator[Operation]:
    """Every method of every route.

    Raises:
        UndescribedRoute: one has no `@described`, or no docstring.
    """
    seen: dict[str, int] = {}
    for route in routes:
        if not isinstance(route, Route):
            raise UndescribedRoute(f"{route!r} is no route for HTTP")
        described, summary = description_of(route.endpoint), _summary(route.endpoint)
        if described is None or not summary:
            raise UndescribedRoute(f"{route.path}: mark its handler with @described and give it a docstring")
        tag = _tag(route.endpoint)
        path = _PLACE.sub(r"{\1}", route.path)
        for method in sorted((route.methods or set()) - {"HEAD"}):
            id_ = f"{tag}_{route.endpoint.__name__}" + ("" if len(route.methods or ()) < 3 else f"_{method.lower()}")
            seen[id_] = seen.get(id_, 0) + 1
            unique = id_ if seen[id_] == 1 else f"{id_}_{seen[id_]}"
            yield Operation(path, method.lower(), unique, tag, summary, described)


def document_of(routes: Iterable[BaseRoute]) -> JsonObject:
    """The document of all routes.

    Raises:
        UndescribedRoute: as `operations_of`.
    """
    operations = list(operations_of(routes))
    schemas = _Schemas(operations)
    paths: dict[str, JsonObject] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _shown(operation, schemas)
    return {
        "openapi": "3.1.1",
        "info": {"title": "Toolwire", "version": __version__, "description": ABOUT},
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": schemas.refusals,
            "securitySchemes": {
                kind: {"type": "http", "scheme": "bearer", "bearerFormat": f"{kind}_…", "description": text}
                for kind, text in _KEYS.items()
            },
        },
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag for operation in operations)],
    }


class _Schemas:
    """The schemas of all types that routes speak of; types of Structs are references to `components`."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        types: list[Any] = [Problem]
        for operation in operations:
            types += _types_in(operation.description)
        schemas, self.components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
        self._of = list(zip(types, schemas, strict=True))
        self.refusals: dict[str, JsonObject] = {}

    def __call__(self, type_: Any) -> JsonObject:
        """The schema of a type."""
        return next(schema for known, schema in self._of if known is type_)

    def refusal(self, status: int, codes: list[str]) -> JsonObject:
        """A reference to the refusal with one of these codes."""
        name = ".".join((str(status), *codes))
        if name not in self.refusals:
            self.refusals[name] = {"description": "refused: " + ", ".join(codes)}
            _add_refusal(self.refusals[name], codes)
        return {"$ref": f"#/components/responses/{name}"}


def _add_refusal(response: JsonObject, codes: Iterable[str]) -> None:
    problem: JsonObject = {"allOf": [PROBLEM, {"properties": {"code": {"enum": sorted(codes)}}}]}
    schema = _envelope(False, "error", problem)
    known = response.setdefault("content", {}).get(JSON)
    response["content"][JSON] = {"schema": schema if known is None else {"anyOf": [known["schema"], schema]}}


def _types_in(described: Described) -> Iterator[Any]:
    yield from (type_ for type_ in (described.answers, described.body) if type_ is not None)
    for parameter in described.parameters:
        yield parameter.type
    for other in described.others.values():
        yield from (type_ for type_ in other.media.values() if type_ is not None)


def _shown(operation: Operation, schemas: _Schemas) -> JsonObject:
    described = operation.description
    shown: JsonObject = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "security": [{kind: []} for kind in described.keys],
        "responses": _responses(operation, schemas),
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in operation.places
    ]
    parameters += [_parameter(parameter, schemas) for parameter in described.parameters]
    if parameters:
        shown["parameters"] = parameters
    if described.body is not None and operation.method != "get":
        content = {described.body_media: {} if described.body is bytes else {"schema": schemas(described.body)}}
        shown["requestBody"] = {"required": True, "content": content}
    return shown


def _parameter(parameter: Parameter, schemas: _Schemas) -> JsonObject:
    schema = schemas(parameter.type)
    return {
        "name": parameter.name,
        "in": parameter.where,
        "description": parameter.text,
        "required": False,
        "schema": {"type": "array", "items": schema} if parameter.many else schema,
    }


def _responses(operation: Operation, schemas: _Schemas) -> JsonObject:
    described = operation.description
    responses: dict[int, JsonObject] = {}
    if described.enveloped:
        good: JsonObject = {"description": "the answer"}
        if described.answers is not None:
            good["content"] = {JSON: {"schema": _envelope(True, "data", schemas(described.answers))}}
        responses[described.status] = good
    for status, answers in described.others.items():
        _add(responses.setdefault(status, {"description": answers.text, "content": {}}), answers, schemas)
    by_status: dict[int, list[str]] = {}
    for code in codes_of(operation):
        by_status.setdefault(ERRORS[code].http_rest, []).append(code)
    for status, codes in by_status.items():
        if status in responses:
            _add_refusal(responses[status], codes)
        else:
            responses[status] = schemas.refusal(status, sorted(codes))
    return {str(status): responses[status] for status in sorted(responses)}


def _add(response: JsonObject, answers: Answers, schemas: _Schemas) -> None:
    content = response.setdefault("content", {})
    for media, type_ in answers.media.items():
        content[media] = {} if type_ is None else {"schema": _of_media(media, schemas(type_))}
    if answers.headers:
        response["headers"] = {
            name: {"description": text, "schema": {"type": "string"}} for name, text in answers.headers.items()
        }
    if not content:
        del response["content"]


def _of_media(media: str, schema: JsonObject) -> JsonObject:
    """What a body holds; of an event stream, each event, whose `data` is JSON."""
    if media != EVENTS:
        return schema
    data = {"type": "string", "contentMediaType": JSON, "contentSchema": schema}
    words = {"data": data, "id": {"type": "string"}, "event": {"type": "string"}}
    return {"type": "object", "properties": words, "required": ["data"]}


def codes_of(operation: Operation) -> tuple[str, ...]:
    """The codes that an operation may refuse with: its own, and those that follow from what it takes."""
    described = operation.description
    codes = [*described.errors, *_ALWAYS]
    if described.keys:
        codes += _WITH_KEY
    if described.body is not None and described.body_media == JSON:
        codes += _WITH_BODY
    if described.parameters:
        codes.append("invalid_param")
    if operation.places:
        codes += [_OF_PATH[place] for place in operation.places if place in _OF_PATH]
        codes += ["route_not_found", "method_not_allowed"]
    return tuple(dict.fromkeys(codes))


def _envelope(success: bool, name: str, schema: Mapping[str, Any]) -> JsonObject:
    properties = {"success": {"const": success}, name: schema}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _summary(handler: Any) -> str:
    paragraph = (inspect.getdoc(handler) or "").split("\n\n", 1)[0]
    return _BREAK.sub(" ", paragraph).strip()


def _tag(handler: Any) -> str:
    """The family of a route: the class that has it, without `Routes`."""
    owner = getattr(handler, "__self__", None)
    return "other" if owner is None else type(owner).__name__.removesuffix("Routes").lower()
