"""What hatch packs: a wheel that has the page, so that an installed package needs no Node."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.node_packages import ROOT
from tests.web.page import page_folder


def test_a_wheel_has_the_page_with_its_compressed_assets_and_no_sources_of_it(tmp_path: Path):
    page = page_folder()
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("toolwire/page/")}
    assert packed == {f"toolwire/page/{path.relative_to(page)}" for path in page.rglob("*") if path.is_file()}
    assert any(name.endswith(".js.br") for name in packed)
