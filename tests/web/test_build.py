"""What the build makes of the page: one document, hashed assets, compressed copies, and nothing anew without changes."""

import gzip
import re

from scripts.build_web import digest_of, main, sources
from tests.web.page import page_folder

INITIAL_LIMIT_BYTES = 350_000


def test_a_page_that_is_as_the_sources_are_is_not_built_again():
    page = page_folder()
    before = (page / "index.html").stat().st_mtime_ns
    assert main([]) == 0
    assert (page / "index.html").stat().st_mtime_ns == before
    assert (page / ".made-of").read_text() == digest_of(sources())


def test_the_document_loads_hashed_assets_alone_and_runs_nothing_inline():
    text = (page_folder() / "index.html").read_text()
    named = re.findall(r'(?:src|href)="([^"]+)"', text)
    assert named
    assert all(re.fullmatch(r"/assets/[\w-]+-[\w-]{8}\.(js|css|svg)", name) for name in named)
    assert re.search(r"<script(?![^>]* src=)", text) is None


def test_scripts_come_compressed_and_the_first_is_small():
    page = page_folder()
    (name,) = re.findall(r'<script[^>]* src="/(assets/[^"]+)"', (page / "index.html").read_text())
    packed = (page / f"{name}.gz").read_bytes()
    assert gzip.decompress(packed) == (page / name).read_bytes()
    assert (page / f"{name}.br").stat().st_size < len(packed) < INITIAL_LIMIT_BYTES
