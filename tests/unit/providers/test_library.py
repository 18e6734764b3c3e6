"""Resources and prompts of this process by their names; what a Server makes of them stands in test_server.py."""

import pytest

from toolwire.providers.library import LocalPrompts, LocalResources
from toolwire.sdk.prompt import make_prompt
from toolwire.sdk.resource import make_resource


def said() -> str:
    return "said"


@pytest.mark.parametrize("uri", ["a://b", "a://{+said}"])
def test_two_resources_at_one_uri_are_refused_and_one_counts_once(uri: str):
    def by(said: str = "") -> str:
        return said

    one, other = make_resource(by, uri, {}), make_resource(by, uri, {})
    found = LocalResources([one, one])
    assert len(found.resources()) + len(found.templates()) == 1
    with pytest.raises(ValueError, match="two resources are at"):
        LocalResources([one, other])


def test_two_prompts_of_one_name_are_refused_and_one_counts_once():
    one, other = make_prompt(said, {}), make_prompt(said, {})
    assert [each.name for each in LocalPrompts([one, one]).prompts()] == ["said"]
    with pytest.raises(ValueError, match="two prompts are named 'said'"):
        LocalPrompts([one, other])
