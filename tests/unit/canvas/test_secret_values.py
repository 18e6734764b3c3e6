"""What a tool's schema marks as secret is taken out of arguments before they are kept (cards.md decision 38)."""

from typing import Any

from toolwire.canvas.secret_values import HIDDEN, without_secrets

SECRET = {"type": "string", "writeOnly": True}


def objects(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_what_is_write_only_or_a_password_is_hidden_and_said_where() -> None:
    schema = objects(token=SECRET, pin={"type": "string", "format": "password"}, note={"type": "string"})
    kept, hidden = without_secrets({"token": "a", "pin": "b", "note": "c"}, schema)
    assert kept == {"token": HIDDEN, "pin": HIDDEN, "note": "c"}
    assert hidden == ("/token", "/pin")


def test_secrets_are_found_within_lists_maps_references_and_alternatives() -> None:
    schema = {
        **objects(
            all={"type": "array", "items": objects(key={"$ref": "#/$defs/secret"})},
            named={"type": "object", "additionalProperties": {"anyOf": [SECRET, {"type": "null"}]}},
        ),
        "$defs": {"secret": SECRET},
    }
    kept, hidden = without_secrets({"all": [{"key": "a"}, {"key": "b"}], "named": {"a/b": "c"}}, schema)
    assert kept == {"all": [{"key": HIDDEN}, {"key": HIDDEN}], "named": {"a/b": HIDDEN}}
    assert hidden == ("/all/0/key", "/all/1/key", "/named/a~1b")


def test_a_schema_that_refers_to_itself_has_an_end() -> None:
    schema = objects(inner={"$ref": "#"}, token=SECRET)
    kept, hidden = without_secrets({"inner": {"inner": {"token": "a"}}}, schema)
    assert kept == {"inner": {"inner": {"token": HIDDEN}}}
    assert hidden == ("/inner/inner/token",)
    assert without_secrets({"inner": 1}, {"$ref": "#"}) == ({"inner": 1}, ())
