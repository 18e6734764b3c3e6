"""The reference of REST routes as a page for people, made of the document: no script, nothing from elsewhere."""

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import escape
from typing import Any

import msgspec

from toolwire.core.jsontypes import JsonObject

_STYLE = """
:root{color-scheme:light dark;--ink:#16181d;--soft:#5b6270;--paper:#f4f5f7;--sheet:#fff;--line:#d9dce3;--go:#1a56db}
@media(prefers-color-scheme:dark){:root{--ink:#e8eaf0;--soft:#9aa3b2;--paper:#101216;--sheet:#1a1d23;--line:#323743;
--go:#7aa2ff}}
*{box-sizing:border-box}body{margin:0;padding:24px 16px;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}main{max-width:60rem;margin:0 auto}a{color:var(--go)}
h1{font-size:1.5rem}h2{margin-top:2rem;font-size:1.125rem;text-transform:capitalize}
details{margin:8px 0;padding:8px 16px;background:var(--sheet);border:1px solid var(--line);border-radius:8px}
summary{cursor:pointer;overflow-wrap:anywhere}.method{display:inline-block;min-width:4.5em;font-weight:700}
.soft{color:var(--soft);font-size:.875rem}code,pre{font:.875rem/1.5 ui-monospace,monospace}
pre{overflow:auto;padding:8px;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse}td,th{padding:4px 12px 4px 0;text-align:left;vertical-align:top}
:focus-visible{outline:2px solid var(--go);outline-offset:2px}
"""
_STYLE_HASH = b64encode(sha256(_STYLE.encode()).digest()).decode()
POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page's Content-Security-Policy."""


def reference_page(document: JsonObject) -> str:
    """The page of a document of `openapi.document_of`."""
    info = document["info"]
    refusals = document["components"]["responses"]
    families: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            families[operation["tags"][0]].append("".join(_operation(path, method, operation, refusals)))
    links = " · ".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in families)
    sections = "".join(
        f'<section><h2 id="{escape(name)}">{escape(name)}</h2>{"".join(rows)}</section>'
        for name, rows in families.items()
    )
    shapes = "".join(_shape(name, schema) for name, schema in document["components"]["schemas"].items())
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(info['title'])} REST reference</title><style>{_STYLE}</style></head><body><main>"
        f"<h1>{escape(info['title'])} {escape(info['version'])}: REST reference</h1>"
        f"<p>{escape(info['description'])}</p>"
        f'<p><a href="/openapi.json">openapi.json</a> · {links} · <a href="#shapes">shapes</a></p>'
        f'{sections}<section><h2 id="shapes">Shapes</h2>{shapes}</section></main></body></html>'
    )


def _operation(path: str, method: str, operation: JsonObject, refusals: JsonObject) -> Iterator[str]:
    yield f'<details id="{escape(operation["operationId"])}"><summary><span class="method">{method.upper()}</span> '
    yield f'<code>{escape(path)}</code> <span class="soft">{escape(operation["summary"])}</span></summary>'
    keys = " or ".join(f"{kind}_" for entry in operation["security"] for kind in entry)
    yield f'<p class="soft">Key: {escape(keys or "none")}</p>'
    if operation.get("parameters"):
        yield "<table><tr><th>Parameter</th><th>In</th><th></th></tr>"
        for parameter in operation["parameters"]:
            text = escape(parameter.get("description", ""))
            yield f"<tr><td><code>{escape(parameter['name'])}</code></td><td>{parameter['in']}</td><td>{text}</td></tr>"
        yield "</table>"
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body: <code>{escape(media)}</code> {_named(content.get('schema'))}</p>"
    yield "<table><tr><th>Status</th><th></th></tr>"
    for status, given in operation["responses"].items():
        named = given.get("$ref")
        response = given if named is None else refusals[named.rsplit("/", 1)[-1]]
        data = _data(given)
        yield f"<tr><td>{status}</td><td>{escape(response['description'])} {data}</td></tr>"
    yield "</table></details>"


def _data(response: JsonObject) -> str:
    """What a good answer holds."""
    shown: list[str] = []
    for content in response.get("content", {}).values():
        schema = content.get("schema", {})
        shown.append(_named(schema.get("properties", {}).get("data", schema)))
    return " ".join(filter(None, shown))


def _named(schema: Any) -> str:
    """A link to the shape, where it has a name."""
    match schema:
        case {"$ref": str(ref)}:
            name = escape(ref.rsplit("/", 1)[-1])
            return f'<a href="#shape-{name}">{name}</a>'
        case {"type": "array", "items": items}:
            return f"list of {_named(items) or 'values'}"
        case _:
            return ""


def _shape(name: str, schema: JsonObject) -> str:
    text = msgspec.json.format(msgspec.json.encode(schema), indent=2).decode()
    return f'<details id="shape-{escape(name)}"><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>'
