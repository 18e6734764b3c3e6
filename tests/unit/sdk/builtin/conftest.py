from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from tests.unit.sdk.builtin.desk import Desk


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncGenerator[Desk]:
    """The tools over an empty workspace; whatever they started is stopped afterwards."""
    root = tmp_path / "workspace"
    root.mkdir()
    made = Desk(root)
    try:
        yield made
    finally:
        await made.services.aclose()
