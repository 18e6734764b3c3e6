"""What an author writes with `Server`, and what it says to mistakes; the wires are told in tests/interaction."""

from enum import Enum
from typing import Annotated, Any

import pytest

import toolwire
from toolwire.core.call import Call, Caller
from toolwire.core.change import Change
from toolwire.core.errors import InternalError, ResourceNotFound
from toolwire.core.event import Event
from toolwire.core.prompt import Reference
from toolwire.core.result import Image as ImageBlock
from toolwire.core.result import ResourceContents
from toolwire.sdk import Image, Refuse, Resource, create_sdk_mcp_server, tool
from toolwire.server import ListChanged, ParamHeader, ResourceUpdated, Server, from_user


def call(**arguments: str) -> Call:
    return Call("call_1", Caller("me", "me", "mcp"), "x", dict(arguments), 1e12)


def nobody(event: Event) -> None:
    pass


async def read(server: Server, uri: str) -> Any:
    assert server.resources is not None
    return await server.resources.read(uri, call(), nobody)


async def prompt(server: Server, name: str, **arguments: str) -> Any:
    assert server.prompts is not None
    return (await server.prompts.get(name, call(**arguments), nobody)).messages


async def completed(server: Server, ref: Reference, argument: str, value: str = "") -> tuple[str, ...]:
    assert server.completions is not None
    return (await server.completions.complete(ref, argument, value, call(), nobody)).values


@tool
def existing() -> str:
    """Exist already."""
    return "yes"


def test_a_server_is_found_in_the_package():
    assert toolwire.Server is Server
    with pytest.raises(AttributeError, match="has no attribute 'server_of'"):
        _ = toolwire.server_of


@pytest.mark.parametrize(("name", "version"), [("", "1"), ("a", "")])
def test_a_server_has_a_name_and_a_version(name: str, version: str):
    with pytest.raises(ValueError, match="needs a name and a version"):
        Server(name, version)


def test_an_empty_server_offers_nothing():
    server = Server("empty")
    assert (server.tools, server.resources, server.prompts, server.completions) == ((), None, None, None)
    assert repr(server) == "<Server 'empty' version='1.0.0'>"


def test_a_tool_of_the_server_is_a_tool_of_the_sdk():
    server = Server("s")

    @server.tool(risk_level="high")
    def erase(name: str) -> str:
        """Erase something."""
        return name

    assert server.tools == (erase,)
    assert (erase.name, erase.risk_level, erase("x")) == ("erase", "high", "x")


def test_tools_bundles_and_servers_are_added_once():
    other, server = Server("other"), Server("s")
    other.resource("a://{id}")(_by_id)
    bundle = create_sdk_mcp_server("bundle", tools=[existing])

    @other.prompt
    def greet(name: str) -> str:
        return name

    other.complete("greet", "name")(_only)
    server.add(existing, bundle, other, other)
    assert server.tools == (existing,)
    assert server.prompts is not None
    assert [each.name for each in server.prompts.prompts()] == ["greet"]
    assert server.resources is not None
    assert [each.uri_template for each in server.resources.templates()] == ["a://{id}"]
    assert server.completions is not None


@pytest.mark.parametrize("item", ["text", len, [existing]])
def test_what_is_no_tool_is_not_added(item: Any):
    with pytest.raises(TypeError, match=r"add\(\) takes tools, bundles and servers"):
        Server("s").add(item)


def test_two_things_of_one_name_are_refused():
    server = Server("s")
    server.add(existing)
    with pytest.raises(ValueError, match="two tools are called 'existing'"):
        server.tool(name="existing")(lambda: "no")
    server.resource("a://b")(lambda: "1")
    with pytest.raises(ValueError, match="two resources are at 'a://b'"):
        server.resource("a://b")(lambda: "2")
    server.prompt(name="p")(lambda: "1")
    with pytest.raises(ValueError, match="two prompts are called 'p'"):
        server.prompt(name="p")(lambda: "2")


async def test_a_name_that_mcp_allows_and_models_do_not_is_served_with_a_warning():
    server = Server("s")
    with pytest.warns(UserWarning, match="'git/log.short' is MCP's to allow"):

        @server.tool(name="git/log.short")
        async def log() -> str:
            """Log."""
            return "done"

    assert [each.name for each in server.tools] == ["git/log.short"]
    assert (await log.handler(call(), nobody)).error is None
    with pytest.raises(ValueError, match=r"tool\(name\) must be 1 to 64"):
        server.tool(name="no spaces")(lambda: "")


def test_a_header_stands_at_what_a_header_can_say():
    with pytest.raises(ValueError, match=r"tool 'far': x-mcp-header 'Where' must stand at a string"):

        @Server("s").tool
        def far(where: Annotated[list[str], ParamHeader("Where")]) -> str:
            return ""


@pytest.mark.parametrize(
    ("value", "contents"),
    [
        ("text", ResourceContents("a://b", "text/plain", text="text")),
        ("\ud800", ResourceContents("a://b", "text/plain", text="\ufffd")),
        (b"\0", ResourceContents("a://b", "application/octet-stream", blob="AA==")),
        ({"a": 1}, ResourceContents("a://b", "application/json", text='{"a":1}')),
        ([1, 2], ResourceContents("a://b", "application/json", text="[1,2]")),
        (Image(b"\0"), ResourceContents("a://b", "image/png", blob="AA==")),
        (Resource("a://c", "c"), ResourceContents("a://c", text="c")),
        (ResourceContents("a://c", text="c"), ResourceContents("a://c", text="c")),
    ],
)
async def test_a_resource_is_what_its_function_returns(value: Any, contents: ResourceContents):
    server = Server("s")
    server.resource("a://b")(lambda: value)
    assert await read(server, "a://b") == (contents,)


async def test_a_type_that_is_told_is_the_type_of_the_contents():
    server = Server("s")
    server.resource("a://b", mime_type="text/csv")(lambda: "1,2")
    [contents] = await read(server, "a://b")
    assert contents.mime_type == "text/csv"


async def test_nothing_is_no_resource_and_the_next_template_is_asked():
    server = Server("s")
    server.resource("a://none")(lambda: None)

    @server.resource("a://{number}")
    async def number(number: int) -> str | None:
        return None if number == 0 else "a number"

    @server.resource("a://{+path}")
    async def path(path: str) -> str | None:
        return None if path == "0" else "a path"

    assert [(await read(server, uri))[0].text for uri in ("a://7", "a://x", "a://1/2")] == [
        "a number",
        "a path",
        "a path",
    ]
    for uri in ("a://none", "a://0", "b://7"):
        with pytest.raises(ResourceNotFound):
            await read(server, uri)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (object(), "resource 'a://b' returned a value that has no JSON form: output: object"),
        (Resource("a://c"), "resource 'a://b' returned a value that has no JSON form: Resource('a://c') has neither"),
    ],
)
async def test_what_no_wire_can_carry_is_told_to_the_client(value: Any, words: str):
    server = Server("s")
    server.resource("a://b")(lambda: value if isinstance(value, Resource) else {"output": value}["output"])
    with pytest.raises(InternalError) as raised:
        await read(server, "a://b")
    assert raised.value.message.startswith(words)


async def test_an_author_may_refuse():
    server = Server("s")

    @server.resource("a://b")
    async def secret() -> str:
        raise Refuse("ask the owner")

    with pytest.raises(InternalError, match="ask the owner"):
        await read(server, "a://b")


@pytest.mark.parametrize(
    ("uri", "fn", "error", "words"),
    [
        ("notes", lambda: "", ValueError, "begins with a scheme"),
        ("a://{id", lambda: "", ValueError, "cannot be matched"),
        ("a://{id}", lambda: "", TypeError, "needs a parameter for each variable; \\['id'\\] are missing"),
        ("a://b", "text", TypeError, "@server.resource needs a function"),
    ],
)
def test_a_resource_that_cannot_be_is_refused(uri: str, fn: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words):
        Server("s").resource(uri)(fn)


def test_each_parameter_of_a_resource_is_a_variable_or_has_a_default():
    server = Server("s")
    with pytest.raises(TypeError, match="'size' is no variable of the URI; give it a default"):

        @server.resource("a://{id}")
        def one(id: str, size: int) -> str:
            return ""

    with pytest.raises(TypeError, match="a URI may leave 'size' out; give it a default"):

        @server.resource("a://x{?size}")
        def two(size: int) -> str:
            return ""

    with pytest.raises(TypeError, match="parameter 'id' has no type hint"):
        server.resource("a://{id}")(_untyped)  # pyright: ignore[reportUnknownArgumentType] -- the mistake

    class Holder:
        def method(self, id: str) -> str:
            return id

    with pytest.raises(TypeError, match="is a method; decorate a function"):
        server.resource("a://{id}")(Holder.method)
    server.resource("a://{id}")(Holder().method)


def _untyped(id) -> str:  # pyright: ignore[reportMissingParameterType, reportUnknownParameterType] -- the mistake
    return ""


async def test_a_prompt_may_return_one_message_or_several():
    server = Server("s")

    @server.prompt
    def one() -> Any:
        return Image(b"\0")

    @server.prompt
    def two() -> Any:
        return ("a", {"b": 1}, from_user("c"))

    assert [each.content for each in await prompt(server, "one")] == [ImageBlock(data="AA==", mime_type="image/png")]
    assert [each.content.text for each in await prompt(server, "two")] == ["a", '{"b":1}', "c"]


def test_a_prompt_needs_a_name_and_a_message_one_content():
    with pytest.raises(ValueError, match="a prompt needs a name"):
        Server("s").prompt(name="")(lambda: "")
    with pytest.raises(TypeError, match="a message has one content; got 2"):
        from_user(["a", Image(b"\0")])


def _by_id(id: str) -> str:
    return id


def _only(value: str) -> list[str]:
    return [value]


def _nothing() -> list[str]:
    return []


class Colour(Enum):
    RED = "red"
    GREEN = "green"


async def test_arguments_whose_hints_list_their_values_are_completed_from_them():
    server = Server("s")

    @server.prompt
    def paint(colour: Colour, thick: bool = False, level: int = 1) -> str:
        return colour.value

    ref = Reference("prompt", "paint")
    assert await completed(server, ref, "colour", "G") == ("green",)
    assert await completed(server, ref, "thick") == ("true", "false")
    assert await completed(server, ref, "level") == ()
    assert (await prompt(server, "paint", colour="red"))[0].content.text == "red"


@pytest.mark.parametrize("found", ["text", b"octets", 7, None])
async def test_a_completion_is_a_list_of_texts(found: Any):
    server = Server("s")
    server.resource("a://{id}")(_by_id)

    @server.complete("a://{id}", "id")
    def wrong(value: str) -> Any:
        return found

    with pytest.raises(InternalError, match="failed: TypeError"):
        await completed(server, Reference("resource", "a://{id}"), "id")


async def test_what_is_typed_may_not_fit_yet():
    server = Server("s")
    server.prompt(name="p")(_numbered)

    @server.complete("p", "number")
    def larger(value: int) -> list[str]:
        return [str(value + 1)]

    assert await completed(server, Reference("prompt", "p"), "number", "7") == ("8",)
    assert await completed(server, Reference("prompt", "p"), "number", "x") == ()


def _numbered(number: int) -> str:
    return str(number)


def test_what_is_not_there_cannot_be_completed():
    server = Server("s")
    server.prompt(name="p")(_numbered)
    server.resource("a://b")(lambda: "")
    for ref in ("q", "a://b"):
        with pytest.raises(ValueError, match="there is no such prompt or template"):
            server.complete(ref, "x")
    with pytest.raises(ValueError, match=r"it has no argument 'x'; it has \['number'\]"):
        server.complete("p", "x")
    with pytest.raises(TypeError, match=r"must take \(value: str\) or"):
        server.complete("p", "number")(_nothing)


async def test_a_part_tells_through_its_whole_and_what_is_added_to_it_is_served_there():
    part, middle, whole = Server("part"), Server("middle"), Server("whole")
    middle.add(part)
    whole.add(middle, part)
    async with whole.open() as served:
        heard: list[Change] = []
        changes = served.endpoint.library.changes
        assert changes is not None
        with changes.heard(heard.append):
            part.add(existing)
            part.resource("a://{id}")(_by_id)
            part.complete("a://{id}", "id")(_only)
            part.tell(ResourceUpdated("a://1"))
        assert heard == [ListChanged("tools"), ListChanged("resources"), ResourceUpdated("a://1")]
        assert served.endpoint.catalog.get("existing") is not None
        assert served.endpoint.library.completions is not None
    assert whole.tools == middle.tools == part.tools == (existing,)
    part.tell(ListChanged("tools"))


def test_a_server_is_no_part_of_its_parts():
    part, whole = Server("part"), Server("whole")
    whole.add(part)
    for server in (whole, part):
        with pytest.raises(ValueError, match="is a part of"):
            part.add(server)
