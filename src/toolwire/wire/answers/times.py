"""How times stand in answers; it reads none."""

from typing import Annotated, TypeAlias

from msgspec import Meta

Time: TypeAlias = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""RFC 3339 in UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`."""
