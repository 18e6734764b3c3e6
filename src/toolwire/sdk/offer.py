"""`Offer`: what an author offers beside and with tools, kept by name and URI; it serves nothing.

`toolwire.Server` serves an offer by itself, an agent through its gateway.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, Unpack, cast, overload

from toolwire.core.change import Change, ListChanged
from toolwire.core.names import valid_mcp_name, valid_tool_name
from toolwire.core.prompt import Reference
from toolwire.core.resource import Resource
from toolwire.providers.library import LocalCompleter, LocalCompletions, LocalPrompts, LocalResources
from toolwire.sdk.authoring.signature import Body
from toolwire.sdk.bundle import SdkMcpServer
from toolwire.sdk.prompt import AuthoredPrompt, PromptOptions, choices_of, make_completer, make_prompt
from toolwire.sdk.resource import AuthoredResource, ResourceOptions, make_resource
from toolwire.sdk.tool import DecoratedTool, ToolOptions
from toolwire.sdk.tool import tool as make_tool
from toolwire.wire.mcp.param_headers import read_param_headers

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])


class Offer:
    """Tools, resources, prompts and completions, and the other offers that are a part of this one.

    A subclass says with `_offer_anew` and `_tell_here` how those who use it get to know of changes.
    """

    def __init__(self) -> None:
        self._tools: dict[str, DecoratedTool] = {}
        self._resources: dict[str, AuthoredResource] = {}
        self._prompts: dict[str, AuthoredPrompt] = {}
        self._completers: dict[tuple[Reference, str], LocalCompleter] = {}
        self._parts_of: list[Offer] = []

    @property
    def tools(self) -> tuple[DecoratedTool, ...]:
        """The tools, in the order in which they were written."""
        return tuple(self._tools.values())

    @property
    def resources(self) -> LocalResources | None:
        """The resources and templates, or `None` when there are none."""
        return LocalResources(self._resources.values()) if self._resources else None

    @property
    def prompts(self) -> LocalPrompts | None:
        """The prompts, or `None` when there are none."""
        return LocalPrompts(self._prompts.values()) if self._prompts else None

    @property
    def completions(self) -> LocalCompletions | None:
        """What completes arguments, or `None` when nothing does."""
        arguments = {Reference("prompt", name): prompt.function.names for name, prompt in self._prompts.items()}
        for uri, resource in self._resources.items():
            if resource.template is not None:
                arguments[Reference("resource", uri)] = resource.template.names
        return LocalCompletions(arguments, dict(self._completers)) if self._completers else None

    @overload
    def tool(self, fn: Body, **options: Unpack[ToolOptions]) -> DecoratedTool: ...
    @overload
    def tool(self, **options: Unpack[ToolOptions]) -> Callable[[Body], DecoratedTool]: ...
    def tool(self, fn: Any = None, **options: Unpack[ToolOptions]) -> DecoratedTool | Callable[[Body], DecoratedTool]:
        """`toolwire.sdk.tool`, and the tool is served.

        A name may also have what MCP allows beyond models' own rule, `.` and `/`, with a warning: not every model can
        be shown such a tool.

        Raises:
            TypeError, ValueError: as `toolwire.sdk.tool`; or there is another tool of that name.
        """
        wanted = options.get("name")
        beyond = wanted is not None and not valid_tool_name(wanted) and valid_mcp_name(wanted)
        if beyond:
            warnings.warn(
                f"the tool name {wanted!r} is MCP's to allow, but not every model's API takes it", stacklevel=2
            )
            options["name"] = "".join(c if valid_tool_name(c) else "_" for c in cast("str", wanted))[:64]

        def decorate(body: Body) -> DecoratedTool:
            made = make_tool(body, **options)
            if beyond:
                made = made.renamed(cast("str", wanted))
            self.add(made)
            return made

        return decorate if fn is None else decorate(fn)

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[_F], _F]:
        """Make a function the resource at `uri`, or, with variables in it, a template of resources.

        The function has a parameter for each variable, `{id}`, `{+path}` (slashes too) or `{?page,size}` (which need
        defaults), and gets the values as its hints say. It returns a text, bytes, anything with a JSON form, or a list
        of `toolwire.sdk.Resource`; `None` says that there is no such resource.

        Raises:
            TypeError: the function cannot be one, or its parameters are not the variables.
            ValueError: the URI cannot be used, or is taken.
        """

        def decorate(fn: _F) -> _F:
            self._add_resource(make_resource(fn, uri, options))
            return fn

        return decorate

    @overload
    def prompt(self, fn: _F, **options: Unpack[PromptOptions]) -> _F: ...
    @overload
    def prompt(self, **options: Unpack[PromptOptions]) -> Callable[[_F], _F]: ...
    def prompt(self, fn: Any = None, **options: Unpack[PromptOptions]) -> Any:
        """Make a function a prompt, whose arguments are its parameters.

        It returns a text, a picture, a resource, or a list of these and of `from_user(…)` and `from_assistant(…)`.
        An argument whose hint lists its values (a `Literal`, an `Enum`, a bool) is completed from them.

        Raises:
            TypeError: the function cannot be one.
            ValueError: there is another prompt of that name.
        """

        def decorate(body: _F) -> _F:
            self._add_prompt(make_prompt(body, options))
            return body

        return decorate if fn is None else decorate(fn)

    def complete(self, ref: str, argument: str) -> Callable[[_F], _F]:
        """Make a function say what an argument may be; the decorated one takes `(value)` or `(value, given)`.

        `value` is what is typed so far, `given` the arguments that are filled in already. It returns a list of texts,
        best first; 100 of them are sent.

        Args:
            ref: a prompt's name or a template's text.
            argument: the name of one of its arguments.

        Raises:
            ValueError: there is no such prompt, template or argument yet.
        """
        found = self._find(ref, argument)

        def decorate(fn: _F) -> _F:
            self._completers[found, argument] = make_completer(fn)
            self._offer()
            return fn

        return decorate

    def add(self, *items: "DecoratedTool | SdkMcpServer | Offer") -> None:
        """Offer tools that exist already, those of a bundle, or all that another server offers, now and later.

        Raises:
            TypeError: one of `items` is none of these.
            ValueError: a name or a URI is taken by something else, or a `ParamHeader` stands where it must not.
        """
        for item in items:
            if isinstance(item, Offer):
                self._add_server(item)
                continue
            for tool in _tools_of(item):
                if self._keep_tool(tool):
                    self._offer(ListChanged("tools"))

    def tell(self, change: Change) -> None:
        """Tell clients that listen of a change that the server cannot see by itself; from any thread.

        What is added while the server is open is told by itself. `ResourceUpdated(uri)` says that a resource reads
        differently now, `ListChanged("tools")` (or "prompts", "resources") that a list does.
        """
        for server in self._wholes():
            server._tell_here(change)

    def _offer_anew(self) -> None:
        """Where this is in use already, offer what there is now."""

    def _tell_here(self, change: Change) -> None:
        """Tell those who use this of a change."""

    def _offer(self, *changes: Change) -> None:
        """Something is there that was not there before: offer and tell of it, alone and as a part."""
        self._offer_anew()
        for change in changes:
            self._tell_here(change)
        for whole in self._parts_of:
            whole._add_all_of(self)

    def _keep_tool(self, tool: DecoratedTool) -> bool:
        """Keep a tool; says whether it was not there before.

        Raises:
            ValueError: another one has its name, or it cannot be offered here.
        """
        _check_headers(tool)
        return _is_new(self._tools, tool.name, tool, f"two tools are called {tool.name!r}; rename one")

    def _add_server(self, other: "Offer") -> None:
        if other in self._wholes():
            raise ValueError(f"{self!r} is a part of {other!r} already, which cannot be a part of it, too")
        self._add_all_of(other)
        if self not in other._parts_of:
            other._parts_of.append(self)

    def _wholes(self) -> "list[Offer]":
        """This and all that it is a part of, each once."""
        found: list[Offer] = [self]
        for one in found:
            found += [whole for whole in one._parts_of if whole not in found]
        return found

    def _add_all_of(self, other: "Offer") -> None:
        self.add(*other.tools)
        for resource in other._resources.values():
            self._add_resource(resource)
        for prompt in other._prompts.values():
            self._add_prompt(prompt)
        if not other._completers.items() <= self._completers.items():
            self._completers.update(other._completers)
            self._offer()

    def _add_resource(self, made: AuthoredResource) -> None:
        shown = made.definition
        uri = shown.uri if isinstance(shown, Resource) else shown.uri_template
        if not _is_new(self._resources, uri, made, f"two resources are at {uri!r}; give one another URI"):
            return
        if made.template is not None:
            self._add_choices(Reference("resource", uri), choices_of(made.function), made.template.names)
        self._offer(ListChanged("resources"))

    def _add_prompt(self, made: AuthoredPrompt) -> None:
        name = made.definition.name
        if _is_new(self._prompts, name, made, f"two prompts are called {name!r}; rename one"):
            self._add_choices(Reference("prompt", name), choices_of(made.function), made.function.names)
            self._offer(ListChanged("prompts"))

    def _add_choices(self, ref: Reference, choices: Mapping[str, LocalCompleter], names: tuple[str, ...]) -> None:
        for argument, completer in choices.items():
            if argument in names:
                self._completers.setdefault((ref, argument), completer)

    def _find(self, ref: str, argument: str) -> Reference:
        prompt, resource = self._prompts.get(ref), self._resources.get(ref)
        names: tuple[str, ...] = ()
        if prompt is not None:
            names, found = prompt.function.names, Reference("prompt", ref)
        elif resource is not None and resource.template is not None:
            names, found = resource.template.names, Reference("resource", ref)
        else:
            raise ValueError(f"complete({ref!r}): there is no such prompt or template; write that first")
        if argument not in names:
            raise ValueError(f"complete({ref!r}): it has no argument {argument!r}; it has {list(names)!r}")
        return found


def _is_new(known: dict[str, _T], name: str, made: _T, words: str) -> bool:
    """Keep `made` under its name; says whether it was not there before, and refuses another one with `words`."""
    other = known.get(name)
    if other is made:
        return False
    if other is not None:
        raise ValueError(words)
    known[name] = made
    return True


def _check_headers(tool: DecoratedTool) -> None:
    try:
        read_param_headers(tool.tool.input_schema)
    except ValueError as error:
        raise ValueError(f"tool {tool.name!r}: {error}") from None


def _tools_of(item: object) -> Iterator[DecoratedTool]:
    if isinstance(item, DecoratedTool):
        yield item
    elif isinstance(item, SdkMcpServer):
        yield from item.tools
    else:
        raise TypeError(f"add() takes tools, bundles and servers, got {item!r}; decorate a function with @server.tool")
