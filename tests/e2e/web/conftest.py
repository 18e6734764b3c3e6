"""One Chromium for the tests of a file, and a host for each.

It is closed before the next file begins: Playwright runs an event loop, and other tests want to run theirs.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.web.screen import Screen, chromium, screen_on


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def screen(tmp_path: Path, browser: Browser) -> Generator[Screen]:
    with screen_on(tmp_path, browser) as ready:
        yield ready
