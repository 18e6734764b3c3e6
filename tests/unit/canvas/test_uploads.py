"""cards.md §2, Packages: an archive that is sent is unpacked within the limits, and its name says what it updates."""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.unit.canvas.site import Site, open_site
from tests.unit.canvas.test_packages import answered
from tests.unit.card.manifests import encoded, manifest
from toolwire.canvas import uploads


def archive(declared: dict[str, Any], page: str = "<p>card</p>") -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        zipped.writestr("radar/toolwire-card.json", encoded(declared))
        zipped.writestr("radar/dist/index.html", page)
    return made.getvalue()


async def sent(site: Site, filename: str, content: bytes, status: int = 201) -> dict[str, Any]:
    headers = {"authorization": f"Bearer {site.owner_key}", "content-type": "application/octet-stream"}
    answer = await site.client.post(
        "/api/v1/card-packages/uploads", params={"filename": filename}, content=content, headers=headers
    )
    assert answer.status_code == status, answer.text
    return answer.json()["data" if status < 400 else "error"]


async def test_an_archive_that_is_sent_waits_for_consent_and_the_next_of_its_name_is_its_update(tmp_path: Path) -> None:
    async with open_site(tmp_path) as site:
        offer = await sent(site, "radar-1.zip", archive(manifest()))
        assert (offer["status"], offer["source"]) == ("consent_required", "upload:test-radar")
        await answered(site, offer)
        newer = await sent(site, "other-name.ZIP", archive(manifest(version="9.0.0"), "<p>newer</p>"))
        assert (newer["package"], newer["status"], newer["accepted_version"]) == (
            offer["package"],
            "installed",
            "9.0.0",
        )
        other = await sent(site, "radar-1.zip", archive(manifest(name="another")))
        assert other["package"] != offer["package"]
    assert list((tmp_path / "packages" / "incoming").iterdir()) == []


@pytest.mark.parametrize(
    ("filename", "content"),
    [
        ("radar.zip", b"no archive"),
        ("radar.exe", archive(manifest())),
        ("", b""),
        ("radar.tar.gz", archive(manifest())),
    ],
)
async def test_what_is_no_archive_is_refused_and_leaves_nothing(tmp_path: Path, filename: str, content: bytes) -> None:
    async with open_site(tmp_path) as site:
        assert (await sent(site, filename, content, 400))["code"] == "invalid_param"
        assert (await site.ask("GET", "/card-packages"))["packages"] == []
    assert not any((tmp_path / "packages").rglob("*.zip"))


async def test_one_that_is_too_large_is_not_taken_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_ARCHIVE_BYTES", 100)
    async with open_site(tmp_path) as site:
        assert (await sent(site, "radar.zip", archive(manifest()), 413))["code"] == "payload_too_large"
