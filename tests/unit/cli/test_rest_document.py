"""The document of a whole host: every route is in it, it is valid OpenAPI, and the keys in it are those that open
(gateway.md §6, REST).
"""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from starlette.routing import Route

from tests.unit.canvas.site import Site, open_site

KINDS = {"oag", "bak", "agk"}


async def keys_of(site: Site) -> dict[str, str]:
    agent = await site.ask("POST", "/agents", {"name": "bot"}, status=201)
    made = await site.ask("POST", "/keys", {"kind": "bak", "agent_id": "bot"}, status=201)
    return {"oag": site.owner_key, "agk": agent["agent_key"], "bak": made["key"]}


async def document(site: Site) -> dict[str, Any]:
    answer = await site.client.get("/openapi.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    return answer.json()


async def test_every_route_of_both_faces_is_in_the_document(tmp_path: Path):
    async with open_site(tmp_path) as site:
        paths = (await document(site))["paths"]
        routes = [*site.host.gateway.routes, *site.host.canvas.routes]
        assert len(routes) > 80
        for route in routes:
            assert isinstance(route, Route)
            path = re.sub(r":\w+}", "}", route.path)
            for method in (route.methods or set()) - {"HEAD"}:
                assert method.lower() in paths[path], f"{method} {path}"


async def test_the_document_is_valid(tmp_path: Path):
    async with open_site(tmp_path) as site:
        found = await document(site)
        OpenAPIV31SpecValidator(found).validate()
        assert set(found["components"]["securitySchemes"]) == KINDS


async def test_no_route_with_a_key_opens_without_one_or_with_another_kind(tmp_path: Path):
    async with open_site(tmp_path) as site:
        keys = await keys_of(site)
        for path, methods in (await document(site))["paths"].items():
            for method, operation in methods.items():
                opened = {kind for entry in operation["security"] for kind in entry}
                if not opened:
                    continue
                where = re.sub(r"{agent}", "bot", path)
                where = re.sub(r"{\w+}", "x", where)
                assert await status(site.client, method, where, None) == 401, path
                for kind in KINDS - opened:
                    assert await status(site.client, method, where, keys[kind]) == 403, f"{method} {path} by {kind}_"


async def status(client: httpx2.AsyncClient, method: str, path: str, key: str | None) -> int:
    headers = {} if key is None else {"authorization": f"Bearer {key}"}
    body: dict[str, str] | None = {} if method in ("post", "put", "patch") else None
    return (await client.request(method.upper(), path, headers=headers, json=body)).status_code


async def test_the_reference_page_is_one_page_without_scripts_or_anything_from_elsewhere(tmp_path: Path):
    async with open_site(tmp_path) as site:
        answer = await site.client.get("/docs/api")
        assert answer.status_code == 200
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert answer.text.count("<style>") == 1
        for forbidden in ("<script", "<link", "<img", "style=", "url("):
            assert forbidden not in answer.text
        for path in (await document(site))["paths"]:
            assert path in answer.text


@pytest.mark.parametrize("path", ["/openapi.json", "/docs/api"])
async def test_both_are_read_alone_and_by_this_hosts_name(tmp_path: Path, path: str):
    async with open_site(tmp_path) as site:
        assert (await site.client.post(path)).status_code == 405
        assert (await site.client.get(path, headers={"host": "evil.example"})).status_code == 421
