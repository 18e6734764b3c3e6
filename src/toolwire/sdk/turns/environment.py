"""What the model is told about where it is, before the first goal (sdk.md 79); it runs no commands."""

import platform
from datetime import date
from pathlib import Path

from toolwire.sdk.hosting.task import ENVIRONMENT
from toolwire.sdk.messages import Message, TextBlock

ENVIRONMENT_VERSION = "1"


def environment_message(workspace_dir: Path, model: str) -> Message:
    """The surroundings as a message: directory, git branch, platform, date and model."""
    branch = _branch(workspace_dir)
    git = "no" if branch is None else f"yes, on {branch}" if branch else "yes"
    text = (
        "<workspace-environment>\n"
        f"Working directory: {workspace_dir}\n"
        f"Git repository: {git}\n"
        f"Platform: {platform.system()} {platform.machine()}\n"
        f"Date: {date.today().isoformat()}\n"  # noqa: DTZ011 -- the user's own day is what is meant
        f"Model: {model}\n"
        "</workspace-environment>"
    )
    return Message("user", [TextBlock(text)], ENVIRONMENT)


def _branch(directory: Path) -> str | None:
    """The branch that is checked out, "" for none in particular, `None` where there is no repository."""
    for place in (directory, *directory.parents):
        head = place / ".git" / "HEAD"
        try:
            said = head.read_text("utf-8").strip()
        except OSError:
            if (place / ".git").is_file():  # a linked work tree keeps its HEAD elsewhere
                return ""
            continue
        except UnicodeDecodeError:
            return ""
        return said.removeprefix("ref: refs/heads/") if said.startswith("ref: ") else ""
    return None
