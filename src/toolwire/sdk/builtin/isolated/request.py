"""What a child process is asked and what it answers, as both processes know it; it does none of it."""

from typing import Any, NamedTuple, TypeAlias

MAX_OUTPUT = 1_000_000
"""Characters of one answer."""


class Target(NamedTuple):
    """Where to search: a real path, and what stands before a path below it when it is shown ("" for the workspace)."""

    path: str
    shown: str


class GlobRequest(NamedTuple):
    """Find files by name: at most `limit`, those changed last first, within `budget_s` seconds."""

    target: Target
    pattern: str
    limit: int
    budget_s: float


class GrepRequest(NamedTuple):
    """Find lines. `show` is one of Grep's output modes; `head_limit` 0 means all."""

    target: Target
    pattern: str
    show: str
    glob: str | None
    file_type: str | None
    ignore_case: bool
    numbers: bool
    only_matching: bool
    unrestricted: bool
    before: int
    after: int
    head_limit: int
    offset: int
    multiline: bool
    budget_s: float


class FilterRequest(NamedTuple):
    """Of `lines`, choose those in which `pattern` is found."""

    pattern: str
    lines: list[str]


class MarkdownRequest(NamedTuple):
    """Convert a page to Markdown, with links made absolute by `base`; the only line of the reply is the text."""

    html: str
    base: str
    max_chars: int


Request: TypeAlias = GlobRequest | GrepRequest | FilterRequest | MarkdownRequest


class Reply(NamedTuple):
    """What came out, in lines, and notes about what is missing; or, with `error`, why nothing could be done."""

    lines: list[str]
    notes: list[str]
    error: str = ""


def to_json(request: Request) -> dict[str, Any]:
    """A request as the JSON object that goes to the child."""
    return {"kind": type(request).__name__, **request._asdict()}


def from_json(message: dict[str, Any]) -> Request:
    """The request that `to_json` wrote."""
    kinds = (GlobRequest, GrepRequest, FilterRequest, MarkdownRequest)
    fields = dict(message)
    kind = {kind.__name__: kind for kind in kinds}[fields.pop("kind")]
    if "target" in fields:
        fields["target"] = Target(*fields["target"])
    return kind(**fields)
