"""gateway.md 22-24, D14, D15: files over REST, from presign-upload to the signed download."""

from collections.abc import AsyncGenerator
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from tests.unit.gateway.file_site import PDF, open_file_site
from toolwire.adapters.memory_blobs import MemoryBlobs
from toolwire.core.errors import Conflict
from toolwire.gateway.files import FileRules
from toolwire.gateway.keys import FIRST_OWNER


async def test_a_file_is_announced_uploaded_and_read_back_without_a_key():
    """gateway.md 22, 23, D15."""
    async with open_file_site() as site:
        announced = await site.announce("q3.pdf")
        assert announced["upload_expires_in"] == 900
        assert announced["download_expires_in"] == 3600
        assert (await site.send(announced, b"%PDF-1.7 body")).json()["data"]["size"] == 13

        shown = (await site.show(announced["file_id"])).json()["data"]
        assert (shown["filename"], shown["content_type"], shown["size"]) == ("q3.pdf", PDF, 13)
        response = await site.client.get(shown["download_url"])
        assert response.content == b"%PDF-1.7 body"
        assert response.headers["content-type"] == PDF
        assert response.headers["content-disposition"] == 'attachment; filename="q3.pdf"'
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["content-length"] == "13"


async def test_an_upload_url_takes_one_upload():
    """D15: single use; the second PUT changes nothing."""
    async with open_file_site() as site:
        announced = await site.announce()
        assert (await site.send(announced, b"first")).status_code == 200
        second = await site.send(announced, b"second")
        assert (second.status_code, second.json()["error"]["code"]) == (409, "conflict")
        assert (await site.client.get(announced["download_url"])).content == b"first"


async def test_of_two_uploads_at_once_one_is_kept_whole_and_counted_once():
    """D15: single use, also when both PUTs are under way."""
    async with open_file_site() as site:
        announced = await site.announce()
        both_here = anyio.Event()
        waiting: list[str] = []
        statuses: list[int] = []

        async def body(part: bytes) -> AsyncGenerator[bytes]:
            yield part
            waiting.append("here")
            if len(waiting) == 2:
                both_here.set()
            await both_here.wait()
            yield part

        async def put(part: bytes) -> None:
            try:
                await site.files.upload(announced["file_id"], body(part))
                statuses.append(200)
            except Conflict as error:
                statuses.append(error.row.http_rest)

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(put, b"aa")
                tasks.start_soon(put, b"bb")
        assert sorted(statuses) == [200, 409]
        assert (await site.client.get(announced["download_url"])).content in (b"aaaa", b"bbbb")
        assert await site.files.stored_bytes(FIRST_OWNER) == 4


async def _pieces(pieces: list[bytes]) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield piece


@pytest.mark.parametrize("sent", ["text/plain", "application/pdf; charset=utf-8", ""])
async def test_an_upload_of_another_type_is_refused_and_the_url_stays_good(sent: str):
    """D15: exact Content-Type."""
    async with open_file_site() as site:
        announced = await site.announce()
        refused = await site.client.put(announced["upload_url"], content=b"x", headers={"content-type": sent})
        assert (refused.status_code, refused.json()["error"]["code"]) == (415, "unsupported_media_type")
        assert (await site.send(announced, b"x")).status_code == 200


async def test_an_upload_over_the_cap_is_refused_whether_it_says_so_or_not():
    """D15: size cap; the declared length is believed when it is too large, and counted when it is not there."""
    async with open_file_site(FileRules(file_limit_bytes=10)) as site:
        announced = await site.announce()
        declared = await site.send(announced, b"x" * 11)
        streamed = await site.send(announced, _pieces([b"x" * 6, b"x" * 6]))
        for response in (declared, streamed):
            assert (response.status_code, response.json()["error"]["code"]) == (413, "payload_too_large")
        assert (await site.show(announced["file_id"])).status_code == 404
        assert (await site.send(announced, b"x" * 10)).status_code == 200


async def test_an_owners_files_have_a_cap_together_and_removing_one_makes_room():
    """issue: stored bytes per owner."""
    async with open_file_site(FileRules(owner_files_limit_bytes=20)) as site:
        first = await site.put(b"x" * 15)
        announced = await site.announce()
        full = await site.send(announced, _pieces([b"x" * 6]))
        assert (full.status_code, full.json()["error"]["details"]["limit"]) == (413, "owner_files_limit_bytes")
        assert await site.put(b"y" * 20, key="other"), "another owner has room of its own"
        removed = await site.client.delete(f"/api/v1/files/{first}", headers=site.as_("oag"))
        assert removed.status_code == 204
        assert (await site.send(announced, b"x" * 6)).status_code == 200
        assert await site.files.stored_bytes(FIRST_OWNER) == 6


async def test_a_tampered_url_opens_nothing():
    """D15: HMAC-signed, file-bound, method-bound."""
    async with open_file_site() as site:
        announced, other = await site.announce(), await site.announce()
        await site.send(other, b"secret")
        url = urlsplit(str(other["download_url"]))
        query = parse_qs(url.query)
        later = int(query["expires"][0]) + 1
        signature = query["signature"][0]
        path = url.path.removesuffix("/content")
        tampered = [
            other["download_url"].replace(other["file_id"], announced["file_id"]),
            f"{path}/content?expires={later}&signature={signature}",
            f"{path}/content?expires={query['expires'][0]}&signature={signature[:-1]}",
            f"{path}/content?expires={query['expires'][0]}&signature=ä",
            f"{path}/content?expires=²&signature={signature}",
            f"{path}/content?signature={signature}",
            f"{path}/content",
            other["upload_url"],
        ]
        for address in tampered:
            response = await site.client.get(address)
            assert (response.status_code, response.json()["error"]["code"]) == (403, "forbidden"), address
        put = await site.client.put(other["download_url"], content=b"x", headers={"content-type": PDF})
        assert put.status_code == 403


async def test_urls_end_with_their_time():
    """D15: an upload within 15 minutes, a download within the time that was said."""
    async with open_file_site() as site:
        late = await site.announce()
        read = await site.announce()
        await site.send(read, b"x")
        site.world.clock.at += 901
        assert (await site.send(late, b"x")).status_code == 403
        assert (await site.client.get(read["download_url"])).status_code == 200
        site.world.clock.at += 2701
        assert (await site.client.get(read["download_url"])).status_code == 403


async def test_who_may_read_a_file_by_its_id():
    """D14: the owner; a bak_ and an agk_ what they have uploaded themselves; others learn nothing."""
    async with open_file_site() as site:
        by_owner, by_bak = await site.put(b"o"), await site.put(b"b", key="bak")
        by_agent = await site.put(b"a", key="agk")
        allowed = {
            by_owner: {"oag"},
            by_bak: {"oag", "bak"},
            by_agent: {"oag", "agk"},
        }
        for file_id, keys in allowed.items():
            for key in ("oag", "bak", "bak2", "agk", "other"):
                response = await site.show(file_id, key)
                assert response.status_code == (200 if key in keys else 404), (file_id, key)
        foreign, unknown = await site.show(by_owner, "other"), await site.show("file_0", "other")
        assert foreign.json()["error"]["message"].replace(by_owner, "file_0") == unknown.json()["error"]["message"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\boot.ini", "boot.ini"),
        ("..", "file"),
        ("q3\x00\r\nX-Evil: 1.pdf", "q3X-Evil_ 1.pdf"),
        ("\u202egnp.exe", "gnp.exe"),
        (".htaccess", "htaccess"),
        ("CON.txt", "_CON.txt"),
        ("报告 ä.pdf", "报告 ä.pdf"),
        ("x" * 500 + ".pdf", "x" * 251 + ".pdf"),
        ('a"b;c.pdf', "a_b;c.pdf"),
    ],
)
async def test_a_filename_is_made_safe(given: str, kept: str):
    """issue: `..` and odd bytes in filenames; D15: no path from a filename."""
    async with open_file_site() as site:
        file_id = await site.put(b"x", given)
        shown = (await site.show(file_id)).json()["data"]
        assert shown["filename"] == kept
        header = (await site.client.get(shown["download_url"])).headers["content-disposition"]
        assert header.isascii()
        assert header.isprintable()
        assert header.startswith('attachment; filename="')


@pytest.mark.parametrize(
    "body",
    [
        {"filename": "", "content_type": PDF},
        {"filename": "x" * 513, "content_type": PDF},
        {"filename": "a.pdf", "content_type": "pdf"},
        {"filename": "a.pdf", "content_type": "text/plain\r\nx: y"},
        {"filename": "a.pdf", "content_type": "a/" + "b" * 255},
        {"filename": 7, "content_type": PDF},
        {"filename": "a.pdf"},
        {"filename": "a.pdf", "content_type": PDF, "size": 3},
    ],
)
async def test_what_cannot_be_announced_is_refused(body: object):
    """gateway.md 22."""
    async with open_file_site() as site:
        response = await site.client.post("/api/v1/files/presign-upload", json=body, headers=site.as_("oag"))
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_param")


async def test_a_part_of_a_file_can_be_asked_for():
    """RFC 9110, 14: one range."""
    async with open_file_site() as site:
        file_id = await site.put(b"0123456789")
        url = (await site.show(file_id)).json()["data"]["download_url"]
        for asked, status, content, part in (
            ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
            ("bytes=7-", 206, b"789", "bytes 7-9/10"),
            ("bytes=-3", 206, b"789", "bytes 7-9/10"),
            ("bytes=5-99", 206, b"56789", "bytes 5-9/10"),
            ("bytes=10-", 416, b"", "bytes */10"),
            ("bytes=0-1,3-4", 200, b"0123456789", None),
            ("lines=1-2", 200, b"0123456789", None),
        ):
            response = await site.client.get(url, headers={"range": asked})
            assert (response.status_code, response.content) == (status, content), asked
            assert response.headers.get("content-range") == part
        head = await site.client.head(url)
        assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", "10")


async def test_files_go_when_they_expire_and_when_they_were_never_uploaded():
    """issue: sweep; what is swept makes room again and its content is gone."""
    blobs = MemoryBlobs()
    async with open_file_site(FileRules(file_ttl_s=5_000), blobs) as site:
        never = await site.announce()
        kept = await site.put(b"x" * 8)
        record = await site.files.find(kept)
        assert record is not None
        site.world.clock.at += 4_990
        await site.files.sweep()
        assert (await site.show(kept)).status_code == 200
        site.world.clock.at += 20
        assert (await site.show(kept)).status_code == 404
        await site.files.sweep()
        assert await site.files.stored_bytes(FIRST_OWNER) == 0
        assert not await site.world.store.scan("file", None)
        with pytest.raises(Exception, match="nothing is stored"):
            [piece async for piece in site.files.content(record)]
        assert (await site.send(never, b"late")).status_code == 403


async def test_an_upload_that_breaks_off_leaves_nothing_and_the_url_stays_good():
    """issue: faults of uploads; a client that goes away in the middle."""
    blobs = MemoryBlobs()
    async with open_file_site(blobs=blobs) as site:
        announced = await site.announce()

        async def broken() -> AsyncGenerator[bytes]:
            yield b"half"
            raise ConnectionError("the client went away")

        with pytest.raises(ConnectionError):
            await site.files.upload(announced["file_id"], broken())
        assert await site.files.stored_bytes(FIRST_OWNER) == 0
        assert not await site.world.store.claim("expiring_blobs", "test", 10, 1)
        assert (await site.show(announced["file_id"])).status_code == 404
        assert (await site.send(announced, b"whole")).status_code == 200


async def test_a_cancelled_upload_leaves_nothing():
    """issue: faults of uploads; the server stops in the middle."""
    async with open_file_site() as site:
        announced, begun = await site.announce(), anyio.Event()

        async def slow() -> AsyncGenerator[bytes]:
            yield b"half"
            begun.set()
            await anyio.sleep_forever()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(site.files.upload, announced["file_id"], slow())
                await begun.wait()
                tasks.cancel_scope.cancel()
        assert (await site.send(announced, b"whole")).status_code == 200


async def test_uploads_of_one_owner_at_once_are_all_counted():
    """issue: stored bytes per owner, right under contention."""
    async with open_file_site() as site:
        announced = [await site.announce() for _ in range(8)]
        async with anyio.create_task_group() as tasks:
            for one in announced:
                tasks.start_soon(site.files.upload, one["file_id"], _pieces([b"x" * 100]))
        assert await site.files.stored_bytes(FIRST_OWNER) == 800


async def test_content_that_is_lost_is_not_answered_as_if_it_were_there():
    """A blob that somebody removed by hand."""
    blobs = MemoryBlobs()
    async with open_file_site(blobs=blobs) as site:
        file_id = await site.put(b"x")
        url = (await site.show(file_id)).json()["data"]["download_url"]
        record = await site.files.find(file_id)
        assert record is not None
        await blobs.delete(record.blob or "")
        response = await site.client.get(url)
        assert (response.status_code, response.json()["error"]["code"]) == (404, "file_not_found")


async def test_uploads_at_once_do_not_take_more_room_together_than_there_is():
    """issue: stored bytes per owner, counted while they come in."""
    async with open_file_site(FileRules(owner_files_limit_bytes=100)) as site:
        slow, fast, begun, go_on = await site.announce(), await site.announce(), anyio.Event(), anyio.Event()

        async def waiting() -> AsyncGenerator[bytes]:
            yield b"x" * 60
            begun.set()
            await go_on.wait()

        with anyio.fail_after(5):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(site.files.upload, slow["file_id"], waiting())
                await begun.wait()
                assert (await site.send(fast, b"y" * 41)).status_code == 413
                assert (await site.send(fast, _pieces([b"y" * 41]))).status_code == 413
                go_on.set()
        assert await site.files.stored_bytes(FIRST_OWNER) == 60
        assert (await site.send(fast, b"y" * 40)).status_code == 200
