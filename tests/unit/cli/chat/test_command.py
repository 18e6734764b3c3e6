"""`toolwire chat`, what it finds in a module: the options, the model that answers, the host configuration."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from toolwire.cli.chat.command import host_of, model_of, options_of, provider_of
from toolwire.cli.failure import Failed
from toolwire.sdk import AnthropicProvider, HostConfig, OpenAIProvider, Options
from toolwire.sdk.testing import FakeLLMProvider

KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


def module(**names: Any) -> ModuleType:
    made = ModuleType("bot")
    vars(made).update(names)
    return made


HELPFUL = Options(system_prompt="You help.")


def test_the_only_options_need_no_name():
    assert options_of(module(agent=HELPFUL, also=HELPFUL, other=5), None) is HELPFUL
    assert options_of(module(agent=HELPFUL, terse=Options(system_prompt="Be short.")), "agent") is HELPFUL


@pytest.mark.parametrize(
    ("names", "asked", "message"),
    [
        ({}, None, "'bot' has no Options; give MODULE:OPTIONS"),
        ({"a": HELPFUL, "b": Options(system_prompt="…")}, None, "'bot' has a, b; give MODULE:OPTIONS"),
        ({"a": HELPFUL}, "b", "'bot' has no 'b'; it has a"),
        ({"a": 5}, "a", "'a' of 'bot' is no Options but of type int"),
    ],
)
def test_options_that_are_not_clear_are_asked_for(names: dict[str, Any], asked: str | None, message: str):
    with pytest.raises(Failed) as caught:
        options_of(module(**names), asked)
    assert caught.value.message == message


def test_the_model_is_the_one_asked_for_else_the_options_else_the_modules():
    mine, theirs = FakeLLMProvider(), FakeLLMProvider()
    having = Options(system_prompt="…", provider=theirs)
    there = module(mine=mine, Kind=FakeLLMProvider)

    assert provider_of(there, having, "mine") is mine
    assert provider_of(there, having, None) is theirs
    assert provider_of(there, HELPFUL, None) is mine


def test_of_several_models_one_has_to_be_chosen():
    with pytest.raises(Failed, match="choose with --provider, one of one, two"):
        provider_of(module(one=FakeLLMProvider(), two=FakeLLMProvider()), HELPFUL, None)


def test_a_key_in_the_environment_is_enough(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(Failed, match="there is no model to talk to: set ANTHROPIC_API_KEY or OPENAI_API_KEY"):
        provider_of(module(), HELPFUL, None)

    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert isinstance(provider_of(module(), HELPFUL, None), OpenAIProvider)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-2")
    assert isinstance(provider_of(module(), HELPFUL, None), AnthropicProvider)
    assert isinstance(provider_of(module(), HELPFUL, "openai"), OpenAIProvider)


def test_a_hosted_model_without_a_key_says_which_one_it_needs():
    with pytest.raises(Failed, match="--provider openai needs a key: set OPENAI_API_KEY"):
        provider_of(module(), HELPFUL, "openai")


def test_what_cannot_answer_is_no_provider():
    with pytest.raises(Failed, match="'x' of 'bot' is no provider"):
        provider_of(module(x=5), HELPFUL, "x")


def test_a_hosted_model_has_to_be_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    with pytest.raises(Failed, match="which model"):
        model_of(HELPFUL, OpenAIProvider())
    assert model_of(Options(system_prompt="…", model="gpt-x"), OpenAIProvider()) == "gpt-x"
    assert model_of(HELPFUL, FakeLLMProvider()) is None


def test_the_modules_host_configuration_holds_with_another_storage(tmp_path: Path):
    mine = HostConfig(lease_s=5)

    assert host_of(module(host=mine), None) is mine
    assert host_of(module(host=mine), tmp_path / "db") == HostConfig(lease_s=5, storage_path=tmp_path / "db")
    assert host_of(module(), None) == HostConfig()
    with pytest.raises(Failed, match="'bot' has a, b; leave one in the module"):
        host_of(module(a=mine, b=HostConfig()), None)
