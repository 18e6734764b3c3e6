"""Files in an agent's tools: what came along is read within limits, what is returned is kept at the gateway.

gateway.md 20, 21, D15, D17; section 3 for the author's API.
"""

from base64 import b64decode
from collections.abc import AsyncGenerator, AsyncIterable
from pathlib import Path

import httpx2
import pytest

from tests.unit.gateway.polled_site import PolledSite, open_polled_site
from toolwire.agent.context import Ctx
from toolwire.agent.files import AttachedFile, NewFile, returned_file
from toolwire.agent.gateway_files import GatewayFiles
from toolwire.core.errors import InvalidParam
from toolwire.core.result import Embedded, Image, Link
from toolwire.sdk.result import ToolError

CONTENT = bytes(n % 251 for n in range(700_000))


class Shelf:
    """A place whose content breaks off where it is told to."""

    def __init__(self, content: bytes = CONTENT, breaks_at: int | None = None) -> None:
        self.content = content
        self.breaks_at = breaks_at

    async def stream(self, file: AttachedFile) -> AsyncGenerator[bytes]:
        for start in range(0, len(self.content), 100_000):
            if self.breaks_at is not None and start >= self.breaks_at:
                raise ToolError("the gateway is gone")
            yield self.content[start : start + 100_000]

    async def add(self, new: NewFile, pieces: AsyncIterable[bytes]) -> str:
        self.content = b"".join([piece async for piece in pieces])
        return "file_1"


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def attached(place: Shelf | GatewayFiles | None, **more: object) -> AttachedFile:
    known: dict[str, object] = {"filename": "a.bin", "content_type": "image/png; q=1", "size": len(CONTENT), **more}
    return AttachedFile("file_1", **known, place=place)  # pyright: ignore[reportArgumentType] -- as a message would have it


async def test_a_file_is_read_whole_and_in_pieces():
    file = attached(Shelf())
    assert await file.read() == CONTENT
    assert b"".join([piece async for piece in file.stream(accept="image/*")]) == CONTENT


@pytest.mark.parametrize(
    ("file", "max_bytes", "accept", "problem"),
    [
        (attached(Shelf()), 10, "*/*", "send one of at most 10"),
        (attached(Shelf(), size=None), 10, "*/*", "more than 10 bytes"),
        (attached(Shelf()), 10**9, "application/pdf", "send application/pdf"),
        (attached(Shelf(), content_type=None), 10**9, "text/*", "of unknown type"),
        (attached(Shelf(), size=7), 10**9, "*/*", "of its 7 bytes"),
        (attached(None), 10**9, "*/*", "no gateway here"),
    ],
)
async def test_what_is_too_large_or_of_another_type_is_an_error_for_the_model(
    file: AttachedFile, max_bytes: int, accept: str, problem: str
):
    with pytest.raises(ToolError, match=problem):
        await file.read(max_bytes, accept)


async def test_a_file_is_saved_whole_or_not_at_all_and_never_outside_its_folder(tmp_path: Path):
    evil = attached(Shelf(), filename="../../evil.bin")
    assert await evil.save(tmp_path) == tmp_path / "evil.bin"
    assert (tmp_path / "evil.bin").read_bytes() == CONTENT

    (tmp_path / "kept").write_bytes(b"before")
    for name in ("kept", "new"):
        with pytest.raises(ToolError, match="is gone"):
            await attached(Shelf(breaks_at=300_000)).save(tmp_path / name)
    assert (tmp_path / "kept").read_bytes() == b"before"
    assert names_in(tmp_path) == ["evil.bin", "kept"]


async def test_a_file_to_return_is_kept_at_the_gateway_under_a_safe_name(tmp_path: Path):
    shelf = Shelf()
    link = await returned_file(b"a,b", "../report.csv", None, shelf)
    assert link == Link(uri="toolwire://files/file_1", name="report.csv", mime_type="text/csv", size=3)
    (tmp_path / "plot.bin").write_bytes(CONTENT)
    link = await returned_file(tmp_path / "plot.bin", None, "image/x-plot", shelf)
    assert isinstance(link, Link)
    assert (link.name, link.mime_type, link.size, shelf.content) == ("plot.bin", "image/x-plot", len(CONTENT), CONTENT)


async def test_without_a_gateway_a_file_to_return_has_its_content_in_itself():
    image, other = await Ctx().file(b"png", "a.png"), await Ctx().file(b"a,b", "a.csv")
    assert image == Image(data="cG5n", mime_type="image/png")
    assert isinstance(other, Embedded)
    assert b64decode(other.resource.blob or "") == b"a,b"


async def test_what_is_no_file_is_the_authors_mistake(tmp_path: Path):
    with pytest.raises(ValueError, match="needs a name"):
        await Ctx().file(b"x")
    with pytest.raises(TypeError, match="bytes or a path"):
        await Ctx().file(7)  # pyright: ignore[reportArgumentType] -- the mistake
    with pytest.raises(FileNotFoundError):
        await Ctx().file(tmp_path / "missing")


def of_agent(site: PolledSite, url: str = "http://localhost") -> GatewayFiles:
    return GatewayFiles(url, site.keys["agk"], httpx2.ASGITransport(site.gateway.app))


async def test_an_agents_files_are_kept_and_read_at_its_gateway(tmp_path: Path):
    """The signed address is asked for where the agent reaches its gateway, whatever its public address is."""
    async with open_polled_site(tmp_path) as site:
        place = of_agent(site, "ws://127.0.0.1:8094/")
        link = await returned_file(CONTENT, "a.bin", None, place)
        assert isinstance(link, Link)
        file_id = link.uri.removeprefix("toolwire://files/")
        assert await AttachedFile(file_id, place=place).read() == CONTENT
        shown = await site.ask("GET", f"/files/{file_id}", key="agk")
        for url in (shown["download_url"], shown["download_url"].replace("signature=", "signature=x"), None):
            assert await AttachedFile(file_id, download_url=url, place=place).read() == CONTENT


async def test_what_the_gateway_refuses_is_an_error_in_its_words(tmp_path: Path):
    async with open_polled_site(tmp_path, file_limit_bytes=1024) as site:
        foreign = await site.put(b"x", "a.txt", "text/plain", "other")
        with pytest.raises(ToolError, match="cannot be had: no file"):
            await AttachedFile(foreign, "a.txt", place=of_agent(site)).read()
        with pytest.raises(ToolError, match="cannot be kept: a file has at most 1024 bytes"):
            await returned_file(b"x" * 1025, "a.txt", None, of_agent(site))


async def test_a_gateway_that_is_not_there_is_an_error_without_its_address():
    place = GatewayFiles("http://127.0.0.1:9", "agk_secret")
    with pytest.raises(ToolError, match="cannot be reached: ConnectError") as caught:
        await AttachedFile("file_1", download_url="http://127.0.0.1:9/api/v1/files/x?signature=s", place=place).read()
    assert "signature" not in str(caught.value)
    with pytest.raises(InvalidParam):
        GatewayFiles("nonsense", "agk_secret")
