"""What all tests of the canvas share: their shells do not read the ~/.bashrc of whoever runs them."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def empty_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home that is empty: what ours says in ~/.bashrc may take long, and may not be cut off."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    return home
