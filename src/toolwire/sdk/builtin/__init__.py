"""The ten built-in tools of an agent, working for real in a workspace; selecting and permitting them is not done here.

The seam for the runtime:

* `BUILTIN_NAMES`: the ten names, in the order in which they are listed (sdk.md 21).
* `builtin_refs()`: their identities (name, version, risk level), without a workspace.
* `Workspace(root)`: the directory; `WorkspaceEscape` when there is none.
* `Services(ask=…, web_search_url=…, …)`: what the tools of one client share. Keep one while the client is open: it
  remembers what each task has read and where its shell stands, by `ctx.metadata["task_id"]`. `end_task(task_id)`
  forgets a task and stops its shells; `await aclose()`, or `close()` from a thread, ends everything that is running.
* `builtin_tools(workspace, services, names=BUILTIN_NAMES) -> tuple[DecoratedTool, ...]`: the tools, ready to be called;
  only the modules of those named are loaded.
"""

from collections.abc import Collection
from functools import cache
from importlib import import_module

from toolwire.sdk.builtin.services import Services as Services
from toolwire.sdk.builtin.workspace import Workspace as Workspace
from toolwire.sdk.builtin.workspace import WorkspaceEscape as WorkspaceEscape
from toolwire.sdk.tool import DecoratedTool, ToolRef

BUILTIN_NAMES: tuple[str, ...] = (
    "Read",
    "Glob",
    "Grep",
    "Edit",
    "Write",
    "Bash",
    "BashOutput",
    "KillShell",
    "WebFetch",
    "WebSearch",
)

_HOMES = {
    "Read": ("read_tool", "ReadTool", "read"),
    "Glob": ("search_tools", "SearchTools", "glob"),
    "Grep": ("search_tools", "SearchTools", "grep"),
    "Edit": ("edit_tools", "EditTools", "edit"),
    "Write": ("edit_tools", "EditTools", "write"),
    "Bash": ("shell_tools", "ShellTools", "bash"),
    "BashOutput": ("shell_tools", "ShellTools", "bash_output"),
    "KillShell": ("shell_tools", "ShellTools", "kill_shell"),
    "WebFetch": ("web_tools", "WebTools", "web_fetch"),
    "WebSearch": ("web_tools", "WebTools", "web_search"),
}
"""By name: the module, the class and the method."""


@cache
def builtin_refs() -> dict[str, ToolRef]:
    """By name, the identity of each built-in tool, in the order of `BUILTIN_NAMES`."""
    from toolwire.sdk.builtin.specs import SPECS  # noqa: PLC0415 - texts that `import toolwire.sdk` does not need

    refs = (ToolRef(spec["name"], spec["version"], spec["risk_level"]) for spec in SPECS)  # pyright: ignore[reportTypedDictNotRequiredAccess] -- each has all three
    return {ref.name: ref for ref in refs}


def builtin_tools(
    workspace: Workspace, services: Services, names: Collection[str] = BUILTIN_NAMES
) -> tuple[DecoratedTool, ...]:
    """The tools of these names over a workspace, in the order of `BUILTIN_NAMES`.

    Args:
        workspace: where relative paths start, commands run and writes end.
        services: what the tools share; tools made with the same services see each other's reads and shells.
        names: which ones; each name once.

    Raises:
        KeyError: there is no built-in tool of that name.
    """
    for name in names:
        if name not in _HOMES:
            raise KeyError(f"unknown built-in tool {name!r}; there are {', '.join(BUILTIN_NAMES)}")
    owners: dict[str, object] = {}
    tools: list[DecoratedTool] = []
    for name in BUILTIN_NAMES:
        if name in names:
            module, owner, method = _HOMES[name]
            if owner not in owners:
                owners[owner] = getattr(import_module(f"{__name__}.{module}"), owner)(workspace, services)
            tools.append(getattr(owners[owner], method))
    return tuple(tools)
