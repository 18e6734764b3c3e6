"""gateway.md 22: the list of an owner's files, and what they take together."""

from typing import Any

import anyio

from tests.unit.gateway.file_site import FileSite, open_file_site


async def listed(site: FileSite, query: str = "", key: str = "oag") -> dict[str, Any]:
    response = await site.client.get(f"/api/v1/files{query}", headers=site.as_(key))
    assert response.status_code == 200, response.text
    return response.json()["data"]


async def names(site: FileSite, query: str = "", key: str = "oag") -> list[str]:
    page = await listed(site, query, key)
    return [file["filename"] for file in page["files"]]


async def test_an_owner_finds_the_uploaded_files_of_all_its_keys_page_by_page():
    async with open_file_site() as site:
        first = await site.put(b"one", "one.pdf")
        await site.announce("never.pdf")  # announced and not uploaded: not there
        await anyio.sleep(0.002)  # files of one millisecond are in no order
        await site.put(b"four", "two.pdf", key="agk")
        await anyio.sleep(0.002)
        await site.put(b"x", "third.pdf", key="bak")
        page = await listed(site, "?limit=2")
        assert (page["more"], page["stored_bytes"], page["limit_bytes"]) == (True, 8, 1024**3)
        assert await names(site, "?limit=2") == ["one.pdf", "two.pdf"]
        assert await names(site, f"?after={first}") == ["two.pdf", "third.pdf"]
        assert await names(site, "", "other") == []


async def test_a_removed_or_expired_file_leaves_the_list():
    async with open_file_site() as site:
        gone = await site.put(b"one", "one.pdf")
        await site.put(b"two", "two.pdf")
        await site.client.delete(f"/api/v1/files/{gone}", headers=site.as_("oag"))
        assert await names(site) == ["two.pdf"]
        site.world.clock.at += 31 * 24 * 3600
        assert await names(site) == []
        await site.files.sweep()
        assert (await listed(site))["stored_bytes"] == 0


async def test_only_owners_list_files():
    async with open_file_site() as site:
        response = await site.client.get("/api/v1/files", headers=site.as_("bak"))
        assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden")
