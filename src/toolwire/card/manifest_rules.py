"""The rules of a card's manifest: its shape and what a shape cannot say; each breach says where and how to mend it.

Contract: cards.md §2, behaviours 21-24, decisions 7, 11, 13.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from msgspec import Struct

from toolwire.card import schema_subset, texts
from toolwire.card.names import MAX_EXPOSED_CHARS, RESERVED_CARD_NAMES, natural_name, why_refused
from toolwire.core.jsontypes import JsonObject, as_object
from toolwire.core.schema import Violation
from toolwire.wire.card_messages import PROTOCOL

DEFAULT_SIZE = (420, 320)
LONGEST_SERVER_PREFIX = "mcp__toolwire__"
"""What some clients put before a tool's name; together they should stay within what models' APIs take."""


class Finding(Struct, frozen=True):
    """Something about a manifest: `path` is a JSON Pointer into it, `message` says how to mend it."""

    path: str
    code: str
    message: str


def errors_in(manifest: JsonObject) -> list[Finding]:
    """Everything for which a manifest cannot be used.

    What is inside a tool's schema is checked however the rest looks: an author mends everything in one go.
    """
    found = [*(_of_shape(violation) for violation in _shape().check(manifest)), *_tool_errors(manifest)]
    return list(dict.fromkeys(found or _errors(manifest)))


def english(text: Any) -> str:
    """The English form of a text that may have several (decision 12)."""
    return worded(text, "en")


def worded(text: Any, language: str) -> str:
    """A text that may have several forms in a language, else in English."""
    localized = as_object(text)
    return text if localized is None else localized.get(language, localized["en"])


def hosts_of(permission: Any) -> tuple[str, ...]:
    """The hosts of a permission, as it is written."""
    return tuple((as_object(permission) or {}).get("hosts", ()))


@cache
def _shape() -> Any:
    from toolwire.providers.schema import compile_validator  # noqa: PLC0415 -- heavy, and writing cards does not need it

    text = files("toolwire.card").joinpath("manifest.schema.json").read_bytes()
    return compile_validator(msgspec.json.decode(text))


_UNKNOWN_KEY = "is not a known argument"
"""The words of `providers.schema` for a key that the shape does not have."""


def _of_shape(violation: Violation) -> Finding:
    if violation.message == _UNKNOWN_KEY:
        return Finding(violation.path, "unknown_key", "is no key of a manifest; remove it, or correct its spelling")
    return Finding(violation.path, "wrong_shape", violation.message)


def _tool_errors(manifest: JsonObject) -> Iterator[Finding]:
    """What is wrong inside the schemas of tools, as far as there are any."""
    tools = manifest.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else []):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        schema = as_object((as_object(tool) or {}).get("inputSchema"))
        if schema is not None:
            for where, words in schema_subset.findings(schema):
                yield Finding(f"/tools/{index}/inputSchema{where}", "schema_not_supported", words)


def _errors(manifest: JsonObject) -> Iterator[Finding]:
    """What is wrong with a manifest of the right shape."""
    yield from _hidden_texts(manifest, "")
    name: str = manifest["name"]
    if name in RESERVED_CARD_NAMES:
        yield Finding("/name", "reserved_name", f"{name!r} belongs to a built-in family of tools; choose another name")
    if manifest["protocol"] > PROTOCOL:
        words = f"protocol {manifest['protocol']} is newer than {PROTOCOL}, which this host speaks; update Toolwire"
        yield Finding("/protocol", "protocol_too_new", words)
    author = as_object(manifest.get("author")) or {}
    for path, text in (("/displayName", english(manifest["displayName"])), ("/author/name", author.get("name", ""))):
        if texts.claims_to_be_ours(text):
            yield Finding(
                path, "impersonation", f"{text!r} says that it comes from us or was verified; choose other words"
            )
    yield from _path_errors(manifest)
    yield from _size_errors(as_object(manifest.get("card")) or {})
    yield from _setting_errors(manifest.get("settings", []))
    yield from _port_errors(as_object(manifest.get("ports")) or {})
    yield from _name_errors(name, manifest.get("tools", []))
    for index, permission in enumerate(manifest.get("permissions", [])):
        if (as_object(permission) or {"id": permission})["id"] == "network" and not hosts_of(permission):
            words = 'needs hosts: write {"id": "network", "hosts": ["api.example.com"]}'
            yield Finding(f"/permissions/{index}", "hosts_missing", words)


def _name_errors(card_name: str, tools: Sequence[JsonObject]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for index, tool in enumerate(tools):
        path, name = f"/tools/{index}/name", tool["name"]
        exposed = natural_name(card_name, name)
        refused = why_refused(exposed)
        if name in seen.values():
            yield Finding(path, "double_name", f"two tools are named {name!r}; rename one")
        elif exposed in seen:
            yield Finding(
                path, "double_name", f"{name!r} and {seen[exposed]!r} are both {exposed!r} to agents; rename one"
            )
        elif refused is not None:
            yield Finding(path, "reserved_name", refused)
        seen[exposed] = name


def _hidden_texts(value: Any, path: str) -> Iterator[Finding]:
    """Texts, and names of parameters, that hide something from the people or the models that read them."""
    if isinstance(value, str):
        multiline = path.endswith(("/description", "/reason")) or "/inputSchema/" in path
        yield from _hidden_in(value, path, multiline=multiline)
        return
    members = as_object(value)
    if members is not None:
        for key, held in members.items():
            yield from _hidden_in(key, path)
            yield from _hidden_texts(held, f"{path}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, held in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
            yield from _hidden_texts(held, f"{path}/{index}")


def _hidden_in(text: str, path: str, *, multiline: bool = False) -> Iterator[Finding]:
    hidden = texts.hidden_characters(text, multiline=multiline)
    if hidden:
        shown = ", ".join(f"U+{ord(c):04X}" for c in sorted(set(hidden)))
        yield Finding(path, "hidden_characters", f"has characters that nobody can see ({shown}); remove them")


def _path_errors(manifest: JsonObject) -> Iterator[Finding]:
    for key in ("entry", "icon"):
        path = manifest.get(key)
        if path is None:
            continue
        parts = path.split("/")
        if path.startswith("/") or "\\" in path or any(part in ("", ".", "..") for part in parts):
            yield Finding(
                f"/{key}", "wrong_path", f"{path!r} must be a path inside the package, such as 'dist/index.html'"
            )
        elif parts[0] == "__ns":
            yield Finding(f"/{key}", "wrong_path", "'__ns' is the host's; choose another folder")


def _size_errors(card: JsonObject) -> Iterator[Finding]:
    least, most = card.get("minSize"), card.get("maxSize")
    usual = card.get("defaultSize", {"w": DEFAULT_SIZE[0], "h": DEFAULT_SIZE[1]})
    for side in ("w", "h"):
        if least is not None and least[side] > usual[side]:
            yield Finding(f"/card/minSize/{side}", "wrong_size", "is larger than defaultSize")
        if most is not None and most[side] < usual[side]:
            yield Finding(f"/card/maxSize/{side}", "wrong_size", "is smaller than defaultSize")


SETTING_FITS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "text": lambda value: isinstance(value, str),
    "select": lambda value: isinstance(value, str),
    "color": lambda value: isinstance(value, str) and re.fullmatch(r"#[0-9a-fA-F]{6}", value) is not None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
}
"""Type of a setting → whether a value is one of it; secrets have none that a manifest may name."""


def _setting_errors(settings: Sequence[JsonObject]) -> Iterator[Finding]:
    keys: set[str] = set()
    for index, setting in enumerate(settings):
        path, type_ = f"/settings/{index}", setting["type"]
        if setting["key"] in keys:
            yield Finding(f"{path}/key", "double_name", f"two settings have the key {setting['key']!r}; rename one")
        keys.add(setting["key"])
        options = setting.get("options")
        if (options is None) is (type_ == "select"):
            yield Finding(path, "wrong_setting", "a select has options, and nothing else does")
        if "default" not in setting:
            continue
        if type_ == "secret":
            yield Finding(f"{path}/default", "wrong_setting", "a secret has no default: everybody could read it here")
        elif not SETTING_FITS[type_](setting["default"]):
            yield Finding(f"{path}/default", "wrong_setting", f"is no value of a {type_}")
        elif options is not None and setting["default"] not in [option["value"] for option in options]:
            yield Finding(f"{path}/default", "wrong_setting", "is none of the options")


def _port_errors(ports: JsonObject) -> Iterator[Finding]:
    for side in ("inputs", "outputs"):
        ids: set[str] = set()
        defaults = 0
        for index, port in enumerate(ports.get(side, [])):
            if port["id"] in ids:
                yield Finding(
                    f"/ports/{side}/{index}/id", "double_name", f"two {side} have the id {port['id']!r}; rename one"
                )
            ids.add(port["id"])
            defaults += port.get("default", False)
        if defaults > 1:
            yield Finding(f"/ports/{side}", "wrong_port", "at most one input is the default")


def warnings_in(manifest: JsonObject) -> Iterator[Finding]:
    """What an author of a manifest without errors should know."""
    for index, tool in enumerate(manifest.get("tools", [])):
        path = f"/tools/{index}"
        exposed = natural_name(manifest["name"], tool["name"])
        full = f"{manifest['name'].replace('-', '_')}_{tool['name']}"
        if exposed != full:
            words = f"{full!r} has more than {MAX_EXPOSED_CHARS} characters; agents see {exposed!r}"
            yield Finding(f"{path}/name", "name_shortened", words)
        elif len(LONGEST_SERVER_PREFIX + exposed) > MAX_EXPOSED_CHARS:
            words = f"{exposed!r} is too long for clients that show it as {LONGEST_SERVER_PREFIX + exposed!r}"
            yield Finding(f"{path}/name", "name_long", words)
        if tool["description"].lstrip().startswith("["):
            words = "begins with '[', as what the host says of a card does; begin with a word"
            yield Finding(f"{path}/description", "looks_like_prefix", words)
    if "author" not in manifest:
        yield Finding("/author", "author_missing", "agents are told 'by unknown author'; write {\"name\": …}")
