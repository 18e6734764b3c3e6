"""A remote tool's result as the agent's model and record get it, whole; it calls no tool."""

from base64 import b64decode
from binascii import Error as BadBase64
from typing import Any, cast

import msgspec

from toolwire.core.result import Audio, Content, Embedded, Image, Link, Result, Text
from toolwire.sdk.content import ContentRef, ContentStore
from toolwire.sdk.result import ToolResult

MAX_REASON_CHARS = 2000
"""The model reads no more of a failure's reason (sdk.md 17), so the words of a longer one are also its output."""


def tool_result(result: Result, store: ContentStore) -> ToolResult:
    """`result` with nothing left out.

    The output is the structured content, the text, or both where they differ, as `{"text": …, "structured_content": …}`
    (sdk.md 55). Pictures and other binary content go to `store`, and the text says of the latter where they were.
    A failure's summary has the server's own words.
    """
    texts: list[str] = []
    images: list[ContentRef] = []
    artifacts: list[ContentRef] = []
    for block in result.content:
        _take(block, store, texts, images, artifacts)
    text = "\n".join(texts)
    output = _output(texts, text, result.structured)
    if result.error is None:
        return ToolResult(success=True, output=output, images=images, artifacts=artifacts)
    reason = result.error.message
    if output == reason and len(reason) <= MAX_REASON_CHARS:
        output = None
    return ToolResult(success=False, output=output, summary=reason, images=images, artifacts=artifacts)


def _output(texts: list[str], text: str, structured: Any) -> Any:
    if structured is msgspec.UNSET:
        return text
    if not texts:
        return structured
    wrapped = _wrapped(structured)
    if wrapped is not msgspec.UNSET and (_says(text, wrapped) or _each_says(texts, wrapped)):
        return wrapped
    if _says(text, structured) or _each_says(texts, structured):
        return structured
    return {"text": text, "structured_content": structured}


def _wrapped(structured: Any) -> Any:
    """What stands in `{"result": …}`, into which many servers put what is no object."""
    if isinstance(structured, dict) and list(cast("dict[str, Any]", structured)) == ["result"]:
        return cast("dict[str, Any]", structured)["result"]
    return msgspec.UNSET


def _says(text: str, value: Any) -> bool:
    """Whether `text` is `value`, plain or as JSON."""
    if isinstance(value, str):
        return text == value
    try:
        return _same(msgspec.json.decode(text), value)
    except (msgspec.DecodeError, RecursionError):
        return False


def _each_says(texts: list[str], value: Any) -> bool:
    if not isinstance(value, list) or len(texts) != len(cast("list[Any]", value)):
        return False
    return all(_says(text, item) for text, item in zip(texts, cast("list[Any]", value), strict=True))


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, where 1 is not true."""
    encode = msgspec.json.encode
    return one == other and encode(one, order="deterministic") == encode(other, order="deterministic")


def _take(
    block: Content, store: ContentStore, texts: list[str], images: list[ContentRef], artifacts: list[ContentRef]
) -> None:
    match block:
        case Text(text=text):
            texts.append(text)
        case Image(data=data, mime_type=kind):
            _keep(data, kind, "an image", store, texts, images)
        case Audio(data=data, mime_type=kind):
            _keep(data, kind, "a sound", store, texts, artifacts)
        case Link():
            texts.append(msgspec.json.encode(block).decode())
        case Embedded(resource=resource) if resource.blob is not None:
            kind = resource.mime_type or "application/octet-stream"
            kept = images if kind.startswith("image/") else artifacts
            _keep(resource.blob, kind, f"the resource {resource.uri}", store, texts, kept)
        case Embedded(resource=resource):
            texts.append(f"{resource.uri}:\n{resource.text or ''}")


def _keep(data: str, kind: str, what: str, store: ContentStore, texts: list[str], kept: list[ContentRef]) -> None:
    try:
        body = b64decode(data, validate=True)
    except (BadBase64, ValueError):
        texts.append(f"[{what} ({kind}) came in no readable form]")
        return
    ref = store.put(body, kind)
    kept.append(ref)
    if what != "an image":
        texts.append(f"[{what}: {kind}, {ref.size} bytes, kept as sha256 {ref.hash}]")
