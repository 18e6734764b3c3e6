"""The built page: which addresses it answers, for whom, and with what headers."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from toolwire.canvas.page_files import PageFiles
from toolwire.surfaces.limits import Guard

POLICY = "content-security-policy"


def client_of(folder: Path, signed_in: bool = True) -> httpx2.AsyncClient:
    app: Any = PageFiles(folder, lambda scope: signed_in, Guard())
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost:8094")


@pytest.fixture
def built(tmp_path: Path) -> Path:
    assets = tmp_path / "assets"
    assets.mkdir()
    (tmp_path / "index.html").write_text("<!doctype html>the page")
    for suffix, text in (("", "plain"), (".br", "brotli"), (".gz", "gzip")):
        (assets / f"main-1.js{suffix}").write_bytes(text.encode())
    (assets / "main-1.css").write_text("body{}")
    return tmp_path


def test_pages_and_assets_are_its_paths_and_mcp_endpoints_are_not():
    files = PageFiles(Path("nowhere"), lambda scope: True, Guard())
    assert all(files.serves(path) for path in ("/", "/w/ws_1", "/gateway/keys", "/gateway/files/f", "/assets/a.js"))
    assert not any(files.serves(path) for path in ("/api/v1/agents", "/gateway/mcp", "/w/mcp", "/healthz", "/sign-in"))


@pytest.mark.parametrize("path", ["/", "/w/ws_1", "/gateway/keys"])
async def test_every_address_is_the_one_document_that_runs_no_script_but_its_own(built: Path, path: str):
    async with client_of(built) as client:
        answer = await client.get(path)
        head = await client.head(path)
    assert (answer.status_code, answer.text, head.status_code) == (200, "<!doctype html>the page", 200)
    assert "script-src 'self';" in answer.headers[POLICY]
    assert "frame-ancestors 'none'" in answer.headers[POLICY]
    assert "unsafe-eval" not in answer.headers[POLICY]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"


async def test_who_is_not_signed_in_is_led_to_sign_in_and_back(built: Path):
    async with client_of(built, signed_in=False) as client:
        home, deep = await client.get("/"), await client.get("/w/ws_1")
        assets = await client.get("/assets/main-1.css")
    assert [home.status_code, deep.status_code, assets.status_code] == [303, 303, 200]
    assert (home.headers["location"], deep.headers["location"]) == ("/sign-in", "/sign-in?next=/w/ws_1")


async def test_a_link_from_another_site_opens_the_page_whose_own_requests_carry_the_cookie(built: Path):
    async with client_of(built, signed_in=False) as client:
        assert (await client.get("/w/ws_1", headers={"sec-fetch-site": "cross-site"})).status_code == 200


@pytest.mark.parametrize(
    ("accepted", "coding", "body"),
    [
        ("gzip, deflate, br", "br", b"brotli"),
        ("gzip", "gzip", b"gzip"),
        ("gzip;q=0.5, br;q=0", "gzip", b"gzip"),
        ("br;q=0.000", None, b"plain"),
        ("identity", None, b"plain"),
        ("", None, b"plain"),
    ],
)
async def test_assets_are_kept_for_good_and_come_compressed_as_the_browser_takes_them(
    built: Path, accepted: str, coding: str | None, body: bytes
):
    async with (
        client_of(built) as client,
        client.stream("GET", "/assets/main-1.js", headers={"accept-encoding": accepted}) as answer,
    ):
        raw = b"".join([piece async for piece in answer.aiter_raw()])
    assert (answer.headers.get("content-encoding"), raw) == (coding, body)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    "name", ["other.js", "%2e%2e%2findex.html", ".hidden.js", "main-1.js.br", "a%2fb.js", "", "main-1.exe", "x.js%00"]
)
async def test_nothing_but_assets_is_read(built: Path, name: str):
    async with client_of(built) as client:
        assert (await client.get(f"/assets/{name}")).status_code == 404


async def test_a_page_that_is_not_built_says_how(tmp_path: Path):
    async with client_of(tmp_path / "absent") as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert "make web" in answer.text


async def test_other_methods_and_names_of_others_are_refused(built: Path):
    async with client_of(built) as client:
        posted = await client.post("/")
        rebound = await client.get("/", headers={"host": "evil.example"})
    assert (posted.status_code, posted.headers["allow"], rebound.status_code) == (405, "GET, HEAD", 421)
