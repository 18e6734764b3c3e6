"""Write packages/card-sdk/src/protocol.ts from wire/card_messages.py, so that both ends have one definition.

`--check` writes nothing and says whether the file is current. It makes types and constants; how messages travel is
written by hand on both sides.
"""

import inspect
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import msgspec  # noqa: E402 - a script finds its neighbours like that
from msgspec import NODEFAULT, Struct  # noqa: E402
from msgspec import inspect as shapes  # noqa: E402

from scripts.made_file import write_or_check  # noqa: E402
from toolwire.core.jsontypes import MAX_DEPTH  # noqa: E402
from toolwire.wire import card_messages  # noqa: E402
from toolwire.wire.card import REPLACED  # noqa: E402

TARGET: Final = ROOT / "packages" / "card-sdk" / "src" / "protocol.ts"
CONSTANTS: Final = (
    "PROTOCOL",
    "MAX_MESSAGE_BYTES",
    "MAX_RESULT_BYTES",
    "MAX_PARTS",
    "MAX_PROGRESS_CHARS",
    "MAX_ERROR_CHARS",
    "MAX_LOG_CHARS",
    "CONNECT_EVENT",
    "HELLO_EVENT",
    "PONG_EVENT",
)
ALIASES: Final = ("CancelCode", "LogLevel")
WIDTH: Final = 116
HEAD: Final = """\
/**
 * What a card and its host say to each other: types and limits. Made by scripts/make_card_types.py from
 * src/toolwire/wire/card_messages.py, whose words these are; do not edit. A field that is optional here has a default
 * there, which leaving it out means.
 */

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
"""


def main(arguments: list[str]) -> int:
    """Write the file, or with `--check` say whether it is current; the exit code."""
    return write_or_check(TARGET, protocol_text(), arguments, "scripts/make_card_types.py")


def protocol_text() -> str:
    """The whole of protocol.ts."""
    return "\n".join([HEAD, *_constants(), "", *_aliases(), *_structs(), *_tables()])


def _constants() -> Iterator[str]:
    for name in CONSTANTS:
        yield f"export const {name} = {_literal(getattr(card_messages, name))};"
    yield "/** The deepest that lists and objects may be inside each other in a message. */"
    yield f"export const MAX_DEPTH = {MAX_DEPTH};"
    yield "/** The code with which the host closes a connection because another one speaks for the card now. */"
    yield f"export const REPLACED = {REPLACED};"
    yield "/** Codes of refusals that only cards are told; all others are those of the host's REST surface. */"
    yield f"export const FAULT_CODES = [{', '.join(map(_literal, card_messages.FAULT_CODES))}] as const;"


def _aliases() -> Iterator[str]:
    for name in ALIASES:
        yield f"export type {name} = {_union(getattr(card_messages, name).__args__)};\n"


def _structs() -> Iterator[str]:
    for name, found in vars(card_messages).items():
        if inspect.isclass(found) and issubclass(found, Struct) and not name.startswith("_") and found is not Struct:
            yield _interface(found)


def _interface(struct: type[Struct]) -> str:
    info = shapes.type_info(struct)
    assert isinstance(info, shapes.StructType)
    lines = [*_comment(inspect.getdoc(struct) or ""), f"export interface {struct.__name__} {{"]
    if info.tag_field is not None:
        lines.append(f"  readonly {info.tag_field}: {_literal(info.tag)};")
    for field in info.fields:
        is_optional = not field.required or _may_be_unset(field)
        lines.append(f"  readonly {field.encode_name}{'?' if is_optional else ''}: {_type(field.type)};")
    return "\n".join([*lines, "}\n"])


def _may_be_unset(field: shapes.Field) -> bool:
    return field.default is not NODEFAULT and field.default is msgspec.UNSET


def _tables() -> Iterator[str]:
    yield from _table("Params", "What goes with each method.", card_messages.PARAMS)
    yield from _table("Results", "What comes back of each method.", card_messages.RESULTS)
    yield from _table("Events", "What comes with each event of the host.", card_messages.EVENTS)
    yield "/** A method of the host. */"
    yield "export type Method = keyof Params;"
    yield "/** The methods, for those who must tell one from another name. */"
    yield "export const METHODS: readonly Method[] = ["
    yield from (f"  {_literal(method)}," for method in card_messages.PARAMS)
    yield "];\n"


def _table(name: str, words: str, structs: Mapping[str, type[Struct]]) -> Iterator[str]:
    yield f"/** {words} */"
    yield f"export interface {name} {{"
    for key, struct in structs.items():
        yield f"  readonly {_literal(key)}: {struct.__name__};"
    yield "}\n"


_PLAIN: Final[Mapping[type[shapes.Type], str]] = {
    shapes.StrType: "string",
    shapes.IntType: "number",
    shapes.FloatType: "number",
    shapes.BoolType: "boolean",
    shapes.NoneType: "null",
    shapes.AnyType: "Json",
}


def _type(type_: shapes.Type) -> str:
    plain = _PLAIN.get(type(type_))
    if plain is not None:
        return plain
    match type_:
        case shapes.LiteralType(values):
            return _named(values)
        case shapes.StructType(cls):
            return cls.__name__
        case shapes.VarTupleType(item):
            return f"ReadonlyArray<{_type(item)}>"
        case shapes.DictType(_, value):
            return f"{{ readonly [key: string]: {_type(value)} }}"
        case shapes.UnionType(types):
            return " | ".join(_type(one) for one in types if not isinstance(one, _Unset))
        case _:
            raise TypeError(f"there is no TypeScript for {type_!r} yet; add it to _type")


_Unset: Final = type(shapes.type_info(msgspec.UnsetType))


def _named(values: tuple[Any, ...]) -> str:
    for name in ALIASES:
        if set(getattr(card_messages, name).__args__) == set(values):
            return name
    return _union(values)


def _union(values: tuple[Any, ...]) -> str:
    return " | ".join(_literal(value) for value in values)


def _literal(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _comment(text: str) -> list[str]:
    text = text.replace("\n\n", "\0").replace("\n", " ").replace("\0", "\n")
    lines = [line for paragraph in text.split("\n") for line in wrap(paragraph, WIDTH)]
    return [f"/** {lines[0]} */"] if len(lines) == 1 else ["/**", *(f" * {line}" for line in lines), " */"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
