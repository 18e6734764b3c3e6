"""One server for all tests of this folder: starting one for each would take longer than the tests."""

from collections.abc import Generator

import pytest

from tests.unit.sdk.models.server import shared_host


@pytest.fixture(scope="session", autouse=True)
def model_host() -> Generator[None]:
    with shared_host():
        yield
