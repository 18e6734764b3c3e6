"""A gateway whose files and large results lie in a bucket, by configuration alone."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.contracts.s3_server import BUCKET, KEYS
from tests.unit.gateway.polled_site import open_polled_site
from toolwire.adapters.s3_blobs import open_bucket
from toolwire.core.errors import InvalidParam, StoreUnavailable


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)


async def test_a_gateway_keeps_files_and_results_in_a_bucket(s3_url: str, tmp_path: Path):
    """issue: blobs S3-compatible by configuration."""
    settings: dict[str, Any] = {
        "blob_url": f"s3://{BUCKET}/gateway",
        "blob_endpoint_url": s3_url,
        "blob_region": "us-east-1",
    }
    async with open_polled_site(tmp_path, result_inline_limit_bytes=4096, **settings) as site:
        data = bytes(n % 251 for n in range(12_000_000))
        file_id = await site.put(data, "large.bin", "application/octet-stream")
        shown = await site.ask("GET", f"/files/{file_id}")
        assert (await site.client.get(shown["download_url"])).content == data
        part = await site.client.get(shown["download_url"], headers={"range": "bytes=-5"})
        assert (part.status_code, part.content) == (206, data[-5:])

        arguments = {"attachments": [{"file_id": file_id}], "idempotency_key": "k1"}
        await site.answered("summarize_pdf", arguments, lambda _: {"text": "r" * 200_000})
        repeat = await site.call("summarize_pdf", arguments, headers={"mcp-protocol-version": "2025-11-25"})
        assert (await site.client.get(repeat["result"]["content"][1]["uri"])).text == "r" * 200_000
    assert not (tmp_path / "blobs").exists()


async def test_a_bucket_that_is_not_there_is_a_store_that_fails(s3_url: str):
    blobs = open_bucket("s3://no-such-bucket", s3_url)

    async def pieces() -> AsyncGenerator[bytes]:
        yield b"data"

    with pytest.raises(StoreUnavailable, match="s3://no-such-bucket"):
        await blobs.put("a", b"data")
    with pytest.raises(StoreUnavailable, match="s3://no-such-bucket"):
        await blobs.write("a", pieces())


@pytest.mark.parametrize("url", ["", "bucket", "https://bucket", "s3://", "s3://key:secret@bucket", "s3://b?x=1"])
def test_what_is_no_buckets_address_is_refused_without_repeating_secrets(url: str):
    with pytest.raises(InvalidParam) as caught:
        open_bucket(url)
    assert caught.value.data["param"] == "blob_url"
    assert "AWS_ACCESS_KEY_ID" in caught.value.message
    assert "secret@" not in caught.value.message
