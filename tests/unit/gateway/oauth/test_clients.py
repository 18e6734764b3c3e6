"""Clients: registering, odd registrations, floods of them, and clients that are known by a document.

gateway.md 48, D23; RFC 7591; MCP 2025-11-25 basic/authorization#client-id-metadata-documents.
"""

from pathlib import Path

import msgspec
import pytest

from tests.unit.gateway.oauth.browser import LOOPBACK, open_person
from tests.unit.gateway.world import ManualClock
from toolwire.core.errors import ServiceUnavailable
from toolwire.gateway.oauth.clients import ClientIds
from toolwire.gateway.oauth.documents import KEPT_S, MAX_KEPT, Documents
from toolwire.gateway.oauth.redirects import check_redirect_uri
from toolwire.gateway.oauth.refused import Refused

pytestmark = pytest.mark.anyio

URL = "https://app.example/client.json"
ODD_NAMES: list[object] = [None, 7, {}, "", "\u202e"]


async def test_a_registered_client_is_told_what_holds(tmp_path: Path):
    async with open_person(tmp_path) as person:
        answer = await person.register(
            LOOPBACK,
            client_name="  Desk\tapp ",
            token_endpoint_auth_method="client_secret_basic",
            grant_types=["authorization_code"],
            scope="everything",
            software_id="x",
        )
    told = answer.json()
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    assert "client_secret" not in told
    assert (told["client_name"], told["redirect_uris"]) == ("Desk app", [LOOPBACK])
    assert told["token_endpoint_auth_method"] == "none"
    assert told["grant_types"] == ["authorization_code", "refresh_token"]


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": LOOPBACK}, "invalid_redirect_uri"),
        ({"redirect_uris": [7]}, "invalid_redirect_uri"),
        ({"redirect_uris": [LOOPBACK] * 11}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/" + "x" * 480 + str(i) for i in range(5)]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example/cb"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [LOOPBACK], "grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"redirect_uris": [LOOPBACK], "grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"redirect_uris": [LOOPBACK], "response_types": ["token"]}, "invalid_client_metadata"),
        ([], "invalid_client_metadata"),
        ("x", "invalid_client_metadata"),
    ],
)
async def test_registrations_out_of_order_are_refused(tmp_path: Path, metadata: object, error: str):
    async with open_person(tmp_path) as person:
        answer = await person.site.client.post("/oauth/register", json=metadata)
    assert (answer.status_code, answer.json()["error"]) == (400, error)


async def test_odd_bodies_are_refused_and_odd_names_are_made_plain(tmp_path: Path):
    async with open_person(tmp_path) as person:
        client, headers = person.site.client, {"content-type": "application/json"}
        broken = await client.post("/oauth/register", content=b'{"redirect_uris":', headers=headers)
        deep = await client.post("/oauth/register", content=b"[" * 10_000, headers=headers)
        large = await client.post("/oauth/register", json={"client_name": "x" * 20_000})
        as_form = await client.post("/oauth/register", data={"redirect_uris": LOOPBACK})
        names = [(await person.register(client_name=name)).json()["client_name"] for name in ODD_NAMES]
    assert (broken.status_code, deep.status_code) == (400, 400)
    assert (large.status_code, as_form.status_code) == (413, 415)
    assert names == ["127.0.0.1:7777"] * 5


async def test_a_flood_of_registrations_leaves_nothing_behind(tmp_path: Path):
    async with open_person(tmp_path) as person:
        size = (tmp_path / "toolwire.db-wal").stat().st_size
        ids = {(await person.register()).json()["client_id"] for _ in range(300)}
        after = (tmp_path / "toolwire.db-wal").stat().st_size
        page = await person.browser.get(person.query(client_id=min(ids)))
    assert (len(ids), after) == (300, size)
    assert page.status_code == 200


@pytest.mark.parametrize("change", ["", "x", "mcp_", "mcp_AAAA", "half", "flipped", "padded", "ü", "mcp_\n"])
async def test_ids_that_are_not_ours_are_no_clients(tmp_path: Path, change: str):
    async with open_person(tmp_path) as person:
        good = person.client_id
        changed = {
            "half": good[: len(good) // 2],
            "flipped": good[:40] + ("A" if good[40] != "A" else "B") + good[41:],
            "padded": good + "=",
        }.get(change, change)
        page = await person.browser.get(person.query(client_id=changed))
    assert (page.status_code, "location" in page.headers) == (400, False)


async def test_ids_of_another_gateway_are_no_clients():
    answer = ClientIds(b"1" * 32).register({"redirect_uris": [LOOPBACK]}, 0)
    with pytest.raises(Refused, match="invalid_client"):
        ClientIds(b"2" * 32).read(answer["client_id"])


@pytest.mark.parametrize(
    "uri",
    [
        "https://a.example/cb?x=1",
        "http://localhost/",
        "http://[::1]:7/cb",
        "cursor://anysphere.cursor/cb",
        "com.app:/cb",
    ],
)
def test_these_are_redirect_uris(uri: str):
    assert check_redirect_uri(uri) == uri


@pytest.mark.parametrize(
    "uri",
    [
        "http://a.example/cb",
        "http://localhost.evil.example/cb",
        "https:///cb",
        "https://user@a.example/cb",
        "https://a.example/cb#x",
        "https://a.example/\r\nset-cookie: x",
        "https://a.example/cb x",
        "https://a.example\\@b.example/",
        "https://ä.example/",
        "https://a.example:0/",
        "https://[::1/",
        "https://a;b/",
        "javascript:alert(1)",
        "JavaScript://x/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "app:",
        "app://user@x/",
        "/cb",
        "",
    ],
)
def test_these_are_no_redirect_uris(uri: str):
    with pytest.raises(Refused, match="invalid_redirect_uri"):
        check_redirect_uri(uri)


class Published:
    """Documents as they are on the internet of a test."""

    def __init__(self, **metadata: object) -> None:
        self.body: bytes | None = msgspec.json.encode(
            {"client_id": URL, "client_name": "App", "redirect_uris": ["https://app.example/cb"], **metadata}
        )
        self.asked: list[str] = []

    async def __call__(self, url: str, max_bytes: int) -> bytes:
        self.asked.append(url)
        if self.body is None:
            raise ServiceUnavailable("the answer is HTTP 404, not 200")
        return self.body


async def test_a_document_describes_a_client_and_is_asked_for_anew_after_a_while():
    clock, published = ManualClock(), Published()
    documents = Documents(published, clock)
    client = await documents.read(URL)
    await documents.read(URL)
    clock.at += KEPT_S
    await documents.read(URL)
    assert (client.client_id, client.name, client.document) == (URL, "App", True)
    assert published.asked == [URL, URL]


@pytest.mark.parametrize(
    "metadata",
    [
        {"client_id": URL + "x"},
        {"client_id": None},
        {"redirect_uris": ["http://evil.example/"]},
        {"redirect_uris": None},
        {"token_endpoint_auth_method": "private_key_jwt"},
        {"client_secret": "x"},
        {"grant_types": ["client_credentials"]},
    ],
)
async def test_a_document_that_describes_no_client_of_ours_is_refused(metadata: dict[str, object]):
    with pytest.raises(Refused, match="invalid_client"):
        await Documents(Published(**metadata), ManualClock()).read(URL)


@pytest.mark.parametrize("body", [None, b"", b"[]", b"{", b"[" * 5_000, b"\xff", b'"x"'])
async def test_what_is_no_document_is_refused_and_not_remembered(body: bytes | None):
    published = Published()
    good, published.body = published.body, body
    documents = Documents(published, ManualClock())
    with pytest.raises(Refused, match="invalid_client"):
        await documents.read(URL)
    published.body = good
    assert (await documents.read(URL)).name == "App"


@pytest.mark.parametrize(
    "url",
    [
        "https://app.example",
        "https://app.example/",
        "https://app.example/../x",
        "https://app.example/c#x",
        "https://app.example/c?x",
        "https://u@app.example/c",
        "https://127.0.0.1/c",
        "https://[::1]/c",
        "https://localhost/c",
        "https://intranet/c",
        "https://app.example:x/c",
        "https://app.example/c d",
        "https://app.example/" + "c" * 600,
        "https://äpp.example/c",
    ],
)
async def test_an_address_that_is_not_plain_is_not_asked(url: str):
    published = Published(client_id=url)
    with pytest.raises(Refused, match="invalid_client"):
        await Documents(published, ManualClock()).read(url)
    assert published.asked == []


async def test_few_documents_are_remembered():
    published = Published()
    documents = Documents(published, ManualClock())
    url = URL
    for number in range(MAX_KEPT + 1):
        url = f"https://app.example/{number}"
        published.body = msgspec.json.encode({"client_id": url, "redirect_uris": [LOOPBACK]})
        await documents.read(url)
    assert len(published.asked) == MAX_KEPT + 1
    assert (await documents.read(url)).client_id == url
    assert len(published.asked) == MAX_KEPT + 1


async def test_nobody_but_an_owner_makes_the_gateway_look_for_a_document(tmp_path: Path):
    async with open_person(tmp_path) as person:
        unseen = "https://app.invalid/client.json"
        stranger = await person.site.client.get(person.query(client_id=unseen))
        owner = await person.browser.get(person.query(client_id=unseen))
        listed = (await person.site.client.get("/.well-known/oauth-authorization-server")).json()
    assert 'name="owner_key"' in stranger.text
    assert (owner.status_code, "its document cannot be had" in owner.text) == (400, True)
    assert listed["client_id_metadata_document_supported"] is True
