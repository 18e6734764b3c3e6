"""`toolwire config explain`: each setting, its value, and where that comes from; it changes nothing."""

import os
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from toolwire import config
from toolwire.cli.failure import DONE
from toolwire.cli.output import print_json, print_table
from toolwire.cli.parameters import JsonFlag


def explain(
    *,
    config_file: Annotated[
        Path | None, Parameter(name="--config", help="Configuration file (default: toolwire.toml, if it is there).")
    ] = None,
    json: JsonFlag = False,
) -> int:
    """Show each setting, its value and where that comes from: a default, a file's line, or a variable.

    With `--json`: `{"settings": [{"key", "value", "origin", "default", "variable", "description"}]}`.
    """
    loaded = config.load(config_file, os.environ)
    settings: list[dict[str, Any]] = [
        {
            "key": name,
            "value": getattr(loaded.config, name),
            "origin": loaded.origins[name],
            "default": info.default,
            "variable": config.variable_of(name),
            "description": info.description,
        }
        for name, info in config.keys().items()
    ]
    if json:
        print_json({"settings": settings})
    else:
        rows = [(each["key"], shown(each["value"]), each["origin"], each["description"]) for each in settings]
        print_table(("SETTING", "VALUE", "FROM", "WHAT IT IS"), rows, "there are no settings")
    return DONE


def shown(value: object) -> str:
    """A setting's value for a person, as it would stand in the file."""
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case tuple():
            return "[" + ", ".join(shown(word) for word in value) + "]"  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] -- a setting's words
        case float():
            return f"{value:g}" if value < 1e6 else str(int(value))
        case _:
            return str(value)
