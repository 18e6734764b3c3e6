"""`toolwire card validate`: says of a card's folder all that keeps it from being installed; it mends nothing."""

import msgspec

from toolwire.canvas.package_check import Checked, check_package
from toolwire.cli.card.folder import CURRENT, FolderArgument, card_folder
from toolwire.cli.card.offers import finding_line
from toolwire.cli.failure import DONE, TOOL_FAILED
from toolwire.cli.output import print_json, print_text, say
from toolwire.cli.parameters import JsonFlag


def validate(path: FolderArgument = CURRENT, /, *, json: JsonFlag = False) -> int:
    """Check a card's folder: its manifest, the files that it names, and the limits of a package.

    Ends with 1 when it cannot be installed. With `--json`: `{"ok", "errors": [{"path", "code", "message"}],
    "warnings": […]}`, where `path` is a JSON Pointer into the manifest.
    """
    checked = check_package(card_folder(path))
    if json:
        print_json({"ok": checked.ok, "errors": checked.errors, "warnings": checked.warnings})
    else:
        print_findings(checked)
        if checked.manifest is not None and checked.ok:
            print_text(summary_of(checked))
    return DONE if checked.ok else TOOL_FAILED


def print_findings(checked: Checked) -> None:
    """Everything that is wrong, and what is only odd, on stderr; each with its place and its code."""
    for kind, findings in (("error", checked.errors), ("warning", checked.warnings)):
        for finding in findings:
            say(finding_line(kind, msgspec.structs.asdict(finding)))


def summary_of(checked: Checked) -> str:
    """One line about a card that can be installed."""
    manifest = checked.manifest
    assert manifest is not None
    tools = ", ".join(tool.name for tool in manifest.tools) or "no tools"
    return f"ok: {manifest.name} {manifest.version} ({tools})"
