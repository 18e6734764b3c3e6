"""One running host for the tests that leave it as it is; a test that stops or breaks one starts its own."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.e2e.running import Host


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Generator[Host]:
    folder: Path = tmp_path_factory.mktemp("host")
    with Host(folder) as host:
        yield host
