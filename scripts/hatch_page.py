"""Has hatch build the page before it packs it; an editable install and an archive that has the page need no Node."""

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageHook(BuildHookInterface[Any]):
    """Builds the page."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the page, or fail: a wheel without it would serve nothing to look at."""
        root = Path(self.root)
        if version == "editable" or not (root / "web" / "package.json").exists():
            return
        subprocess.run([sys.executable, str(root / "scripts" / "build_web.py")], check=True)
