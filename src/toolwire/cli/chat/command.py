"""`toolwire chat`: finds the options, the model and the host configuration that a module has, and begins to talk."""

import dataclasses
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, Final

from cyclopts import Parameter

from toolwire.cli import modules
from toolwire.cli.failure import Failed, misused
from toolwire.sdk.options import HostConfig, Options

KEYS: Final = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
"""The hosted models, and where their keys are."""


def chat(
    module: Annotated[str, Parameter(help="MODULE or MODULE:OPTIONS; a dotted module or a Python file.")],
    /,
    *,
    provider: Annotated[
        str | None,
        Parameter(help="anthropic, openai, or the name of a provider in the module; else the one that is there."),
    ] = None,
    model: Annotated[str | None, Parameter(help="Name of the model, instead of the one in the options.")] = None,
    workspace: Annotated[
        Path | None, Parameter(help="Folder the agent works in, instead of the one in the options.")
    ] = None,
    storage: Annotated[
        Path | None, Parameter(help="File in which conversations survive; without it they end with the program.")
    ] = None,
    resume: Annotated[str | None, Parameter(help="Id of a conversation in --storage to go on with.")] = None,
) -> int:
    """Talk to an agent written with the SDK, in this terminal.

    Answers appear as they come, with every call and what became of it. Calls that need a yes are asked about. Ctrl-C
    ends the turn and not the program; `/help` lists what else there is. The keys of hosted models come from
    ANTHROPIC_API_KEY and OPENAI_API_KEY.
    """
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR, format="%(levelname)s %(message)s")
    loaded, name = modules.load(module)
    options = options_of(loaded, name)
    chosen = provider_of(loaded, options, provider)
    if resume is not None and storage is None:
        raise misused("--resume needs the --storage that the conversation is in")
    host_config = host_of(loaded, storage)
    talk(options, chosen, model or model_of(options, chosen), workspace, host_config, resume)
    return 0


def talk(
    options: Options,
    provider: Any,
    model: str | None,
    workspace: Path | None,
    host_config: HostConfig,
    resume: str | None,
) -> None:
    """Begin to talk, and end when the person does.

    Raises:
        Failed: the agent cannot be built; the message says why.
    """
    from toolwire.cli.chat.screen import Screen
    from toolwire.cli.chat.talk import Talk
    from toolwire.cli.chat.terminal import DIM, Tty
    from toolwire.sdk.client import Client
    from toolwire.sdk.errors import AgentError

    try:
        client = Client(options, provider=provider, workspace_dir=workspace, model=model, host_config=host_config)
    except (AgentError, KeyError, TypeError, ValueError) as error:
        words = error.args[0] if error.args else type(error).__name__
        raise Failed(f"the agent {options.name!r} cannot be built: {words}", "module") from None
    terminal = Tty()
    if sys.stdin.isatty():
        terminal.write(f"{options.name} is listening; /help says what there is besides talking.\n", DIM)
    with client:
        Talk(client, terminal, Screen(terminal, client.get_content), resume).run()


def options_of(module: ModuleType, name: str | None) -> Options:
    """The options that a module calls `name`, or its only ones.

    Raises:
        Failed: those are none, or it is not clear which are meant.
    """
    if name is not None:
        found = modules.find(module, name)
        if not isinstance(found, Options):
            raise Failed(f"{name!r} of {module.__name__!r} is no Options but of type {type(found).__name__}", "module")
        return found
    return _only(module, Options, "Options", "give MODULE:OPTIONS")


def provider_of(module: ModuleType, options: Options, asked: str | None) -> Any:
    """The model that shall answer: the one asked for, the options', the module's only one, or one whose key is set.

    Raises:
        Failed: there is none, or it cannot be used.
    """
    if asked is not None:
        return _hosted(asked) if asked in KEYS else _named(module, asked)
    if options.provider is not None:
        return options.provider
    there = _of_kind(module, _answers)
    if len({id(value) for value in there.values()}) == 1:
        return next(iter(there.values()))
    if there:
        raise misused(f"{module.__name__!r} has several providers: choose with --provider, one of {', '.join(there)}")
    for name, variable in KEYS.items():
        if os.environ.get(variable, "").strip():
            return _hosted(name)
    raise misused(
        f"there is no model to talk to: set {' or '.join(KEYS.values())}, "
        f"or give {module.__name__!r} a provider, such as a FakeLLMProvider"
    )


def model_of(options: Options, provider: Any) -> str | None:
    """The model's name where the options have one, or where the provider needs none.

    Raises:
        Failed: a hosted provider has many models, and none is named.
    """
    from toolwire.sdk.models.hosted import HostedModel

    if options.model is None and isinstance(provider, HostedModel):
        raise misused("which model? give --model, or Options(model=…)")
    return options.model


def host_of(module: ModuleType, storage: Path | None) -> HostConfig:
    """The module's `HostConfig`, if it has one, with its storage replaced where another is wanted.

    Raises:
        Failed: it has several.
    """
    there = any(isinstance(value, HostConfig) for value in vars(module).values())
    found = _only(module, HostConfig, "HostConfig", "leave one in the module") if there else HostConfig()
    return found if storage is None else dataclasses.replace(found, storage_path=storage)


def _hosted(name: str) -> Any:
    from toolwire.sdk.models import AnthropicProvider, OpenAIProvider

    try:
        return AnthropicProvider() if name == "anthropic" else OpenAIProvider()
    except ModuleNotFoundError as error:
        raise Failed(str(error), "missing_extra") from None
    except ValueError:
        raise misused(f"--provider {name} needs a key: set {KEYS[name]}") from None


def _named(module: ModuleType, name: str) -> Any:
    found = modules.find(module, name)
    if not _answers(found):
        raise misused(f"{name!r} of {module.__name__!r} is no provider: it needs complete(request)")
    return found


def _only(module: ModuleType, kind: type[Any], called: str, otherwise: str) -> Any:
    def fits(value: object) -> bool:
        return isinstance(value, kind)

    there = _of_kind(module, fits)
    if len({id(value) for value in there.values()}) == 1:
        return next(iter(there.values()))
    found = f"has {', '.join(there)}" if there else f"has no {called}"
    raise misused(f"{module.__name__!r} {found}; {otherwise}")


def _answers(value: Any) -> bool:
    return callable(getattr(value, "complete", None)) and not isinstance(value, type)


def _of_kind(module: ModuleType, fits: Callable[[Any], bool]) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_") and fits(value)}
