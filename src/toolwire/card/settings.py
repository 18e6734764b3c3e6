"""The settings that a card's manifest declares, and which values fit them; it keeps no values.

Contract: cards.md §2 (`settings`), §3 (`card.settings`).
"""

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from toolwire.card.manifest import Manifest
from toolwire.card.manifest_rules import SETTING_FITS
from toolwire.core.jsontypes import JsonObject

MAX_CHARS: Final = 16_384
"""The longest text of a setting, whatever its manifest says."""
MAX_NUMBER: Final = 1e300

Scope: TypeAlias = Literal["instance", "package"]
SettingType: TypeAlias = Literal["string", "text", "number", "boolean", "select", "secret", "color"]

_WANTED: Final[Mapping[str, str]] = {
    "string": "takes text",
    "text": "takes text",
    "number": "takes a number",
    "boolean": "takes true or false",
    "select": "takes the value of one of its options",
    "secret": "takes text",
    "color": "takes a color such as '#3366ff'",
}


class Setting(Struct, frozen=True):
    """A setting as its manifest declares it; `raw` has its texts, in all their languages.

    `default` is `None` where there is none. `step` counts from `least`, or from 0.
    """

    key: str
    type: SettingType
    raw: JsonObject
    default: Any = None
    required: bool = False
    scope: Scope = "instance"
    max_chars: int = MAX_CHARS
    least: float | None = None
    most: float | None = None
    step: float | None = None
    options: tuple[str, ...] = ()

    @property
    def is_secret(self) -> bool:
        """Whether cards may never read its value."""
        return self.type == "secret"


def settings_of(manifest: Manifest) -> tuple[Setting, ...]:
    """What a manifest without errors declares, in its order."""
    return tuple(_setting(raw) for raw in manifest.raw.get("settings", ()))


def what_is_wrong(setting: Setting, value: Any) -> str | None:
    """Why a setting cannot have a value, in words that name no secret; `None` where it can.

    `None` as value means that it goes back to its default.
    """
    if setting.is_secret:
        return _wrong_secret(setting, value)
    if value in (None, "") and setting.required and setting.default is None:
        return "is required; give it a value"
    if value is None:
        return None
    if not SETTING_FITS[setting.type](value):
        return f"{_WANTED[setting.type]}, not {_short(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _wrong_number(setting, value)
    if setting.options and value not in setting.options:
        return f"has no option {_short(value)}; it takes {', '.join(map(repr, setting.options[:10]))}"
    if isinstance(value, str) and len(value) > setting.max_chars:
        return f"takes {setting.max_chars} characters, not {len(value)}"
    return None


def values_of(settings: tuple[Setting, ...], kept: Mapping[str, Any]) -> JsonObject:
    """What cards read: what is kept and still fits, else the default; a setting without either is left out."""
    values: JsonObject = {}
    for setting in settings:
        if setting.is_secret:
            continue
        value = kept.get(setting.key)
        if value is None or what_is_wrong(setting, value) is not None:
            value = setting.default
        if value is not None:
            values[setting.key] = value
    return values


def _setting(raw: JsonObject) -> Setting:
    return Setting(
        key=raw["key"],
        type=raw["type"],
        raw=raw,
        default=raw.get("default"),
        required=raw.get("required", False),
        scope=raw.get("scope", "instance"),
        max_chars=min(raw.get("maxLength", MAX_CHARS), MAX_CHARS),
        least=raw.get("min"),
        most=raw.get("max"),
        step=raw.get("step"),
        options=tuple(option["value"] for option in raw.get("options", ())),
    )


def _wrong_secret(setting: Setting, value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return _WANTED["secret"]
    if not value:
        return "is empty; send null to remove it"
    if len(value) > setting.max_chars:
        return f"takes {setting.max_chars} characters, not {len(value)}"
    return None


def _wrong_number(setting: Setting, value: float) -> str | None:
    if value == setting.default:
        return None
    if abs(value) > MAX_NUMBER:
        return "is too large a number"
    if setting.least is not None and value < setting.least:
        return f"is at least {setting.least:g}, not {value:g}"
    if setting.most is not None and value > setting.most:
        return f"is at most {setting.most:g}, not {value:g}"
    if setting.step is not None:
        steps = (value - (setting.least or 0)) / setting.step
        if math.isfinite(steps) and abs(steps - round(steps)) > 1e-6 * max(1.0, abs(steps)):
            return f"goes in steps of {setting.step:g}, so {value:g} is not taken"
    return None


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"
