"""What the tasks extension owes its clients (mcp.md 1.4); see requirements.py for the rest."""

from tests.interaction.requirement import GATEWAY_2026, HTTP_2026, NEW, OLD, SEP_2663, Requirement

TASK_REQUIREMENTS: dict[str, Requirement] = {
    "tasks.offered": Requirement(
        "The tasks extension is advertised under extensions; tasks/result, tasks/list and capabilities.tasks are gone.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.created": Requirement(
        "The server says which call becomes a task; its answer is flat, and tasks/get resolves from then on.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.ended": Requirement(
        "What a tool reports is a completed task, errors of the protocol are a failed one.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.negotiated": Requirement(
        "Without the extension tasks/* and tools that must be tasks are -32021, and others are waited for.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.older": Requirement(
        "On the older wire tasks are unknown, and what may be one is waited for.", "mcp.md 1.2, 1.4", OLD
    ),
    "tasks.cancelled": Requirement(
        "tasks/cancel is acknowledged as often as it comes; the client's going away cancels no task.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.known": Requirement(
        "A task is known to whoever began it; what is none is -32602.", f"{SEP_2663}; mcp.md 1.4", NEW
    ),
    "tasks.headers": Requirement(
        "Mcp-Name repeats the task's id, else -32020.", f"{SEP_2663}; mcp.md 1.2", frozenset({HTTP_2026})
    ),
    "tasks.told": Requirement(
        "A subscription tells of the tasks that it names, in the form of tasks/get, and of no others.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.asks": Requirement(
        "A task that asks is input_required with what is not answered yet, and tasks/update lets it go on.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.asks_first": Requirement(
        "What a tool asks before it becomes a task is asked in rounds without one, and its state is not the task's.",
        f"{SEP_2663}; mcp.md 1.4",
        NEW,
    ),
    "tasks.agents": Requirement(
        "Long work of an attached agent is a task of the key that called it, and to cancel that stops the work.",
        f"{SEP_2663}; gateway.md D19, §6",
        frozenset({GATEWAY_2026}),
    ),
}
