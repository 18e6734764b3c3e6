"""What a person is shown of a package before it may run, and the question; it talks to no host.

A package's texts were written by others: whatever could move the cursor or hide something is shown as an escape.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from toolwire.cli.output import say


def offer_text(offer: dict[str, Any]) -> str:
    """A package that waits for consent, as its owner reads it.

    Args:
        offer: what `POST /api/v1/card-packages` has answered.
    """
    return "\n".join(plain(line) for line in _lines(offer))


def asked_for_consent(question: str) -> bool | None:
    """The person's answer; `None` when nobody is there to answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def say_warnings(offer: dict[str, Any]) -> None:
    """What the package's author should know."""
    for warning in offer["warnings"]:
        say(finding_line("warning", warning))


def finding_line(kind: str, finding: Mapping[str, str]) -> str:
    """One line about something that is wrong with a package, or odd."""
    return plain(f"{kind} {finding['path'] or '(package)'} [{finding['code']}]: {finding['message']}")


def plain(line: str) -> str:
    """A line without characters that a terminal would act on."""
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode() for c in line)


def _lines(offer: dict[str, Any]) -> Iterator[str]:
    author = offer["author"] or "unknown author"
    yield f"{offer['display_name']} ({offer['name']} {offer['version']}) by {author}, community code"
    yield f"from {offer['source']}, digest {offer['digest']}"
    if offer["accepted_version"] is not None:
        yield f"version {offer['accepted_version']} is installed and goes on until you accept this one"
    yield ""
    yield "Agents that you connect to it will read these tools:"
    for tool in offer["tools"]:
        yield f"  {tool['exposed_name']}({', '.join(_parameters(tool['input_schema']))})"
        yield from (f"      {line}" for line in tool["description"].splitlines())
    if not offer["tools"]:
        yield "  (none)"
    yield ""
    yield "It asks for:"
    yield from (f"  {_permission(one)}" for one in offer["permissions"])
    if not offer["permissions"]:
        yield "  (nothing)"
    if offer["reach"]:
        yield ""
        yield "By way of it, agents can:"
        yield from (f"  {can}" for can in offer["reach"])
    for change in offer["diff"]:
        yield ""
        yield f"{change['change'].replace('_', ' ')}: {change['name']}"
        yield from (f"  {line}" for line in change["text"].splitlines())


def _parameters(schema: dict[str, Any]) -> list[str]:
    required = schema.get("required", ())
    return [name if name in required else f"[{name}]" for name in schema.get("properties", {})]


def _permission(one: dict[str, Any]) -> str:
    hosts = f" to {', '.join(one['hosts'])}" if one["hosts"] else ""
    reason = f": {one['reason']}" if one["reason"] else ""
    return f"{one['id']}{hosts} ({one['risk']} risk{', when needed' if one['optional'] else ''}){reason}"
