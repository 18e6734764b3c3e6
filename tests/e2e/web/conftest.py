"""One Chromium for all tests of the page, and a host for each."""

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.web.screen import Screen, chromium, screen_on


@pytest.fixture(scope="session")
def browser() -> Generator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def screen(tmp_path: Path, browser: Browser) -> Generator[Screen]:
    with screen_on(tmp_path, browser) as ready:
        yield ready
