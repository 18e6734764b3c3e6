"""What a registration may list beside skills (gateway.md 51, §6, D28): taken whole, or not at all."""

from typing import Any

import pytest

from tests.unit.gateway.service import open_service
from toolwire.core.change import ListChanged, ResourceUpdated
from toolwire.core.errors import InvalidParam
from toolwire.gateway.offered import MAX_LISTED, Offered, changes_between, offered_of
from toolwire.wire.link import Hello, Refused, Register, Registered, Registration

IMAGE = {"type": "image", "data": "no base64", "mimeType": "image/png"}
HI = {"role": "user", "content": {"type": "text", "text": "hi"}}


def test_resources_templates_and_prompts_are_read_in_mcps_words():
    offered = offered_of(
        [
            {"uri": "n://a/first", "title": "A", "size": 3, "_meta": {"x": 1}, "unknown": 1},
            {"uriTemplate": "n://{number}", "name": "one"},
            {"uri": "n://b", "name": "b", "mimeType": "text/plain", "text": ""},
        ],
        [{"name": "p", "arguments": [{"name": "a", "required": True}]}, {"name": "q", "messages": [HI]}],
    )
    assert [(each.uri, each.name, each.meta) for each in offered.resources] == [
        ("n://a/first", "first", {"x": 1}),
        ("n://b", "b", None),
    ]
    assert [each.uri_template for each in offered.templates] == ["n://{number}"]
    assert offered.contents["n://b"].text == ""
    assert offered.prompts[0].arguments[0].required
    assert set(offered.results) == {"q"}
    assert offered.may_have("n://a/first")
    assert offered.may_have("n://7")
    assert not offered.may_have("n://7/8")


def test_a_template_that_only_its_agent_understands_may_be_anything():
    """RFC 6570 has more than a server can match; whether such a resource is there is the agent's to say."""
    assert offered_of([{"uriTemplate": "n://{;list*}"}], []).may_have("n://;list=1")


@pytest.mark.parametrize(
    ("resources", "prompts", "where"),
    [
        ([{"uri": "no scheme"}], [], "resources[0].uri"),
        ([{"name": "nowhere"}], [], "resources[0].uri"),
        ([{"uri": "n://a"}, {"uri": "n://a"}], [], "resources[1].uri"),
        ([{"uri": "toolwire://agent/config"}], [], "resources[0].uri"),
        ([{"uri": "beeos://agent/skills"}], [], "resources[0].uri"),
        ([{"uri": "n://a", "size": "large"}], [], "resources[0]"),
        ([{"uri": "n://a", "text": "a", "blob": "YQ=="}], [], "resources[0].blob"),
        ([{"uri": "n://a", "blob": "?"}], [], "resources[0].blob"),
        ([{"uriTemplate": "n://{a}", "uri": "n://a"}], [], "resources[0]"),
        ([{"uriTemplate": "n://{a}", "text": "a"}], [], "resources[0]"),
        ([{"uriTemplate": "n://{a}"}] * 2, [], "resources[1].uriTemplate"),
        ([], [{"name": ""}], "prompts[0].name"),
        ([], [{"title": "x"}], "prompts[0]"),
        ([], [{"name": "p"}, {"name": "p"}], "prompts[1].name"),
        ([], [{"name": "p", "arguments": [{"name": "a"}], "messages": [HI]}], "prompts[0].messages"),
        ([], [{"name": "p", "messages": [{"role": "robot", "content": HI["content"]}]}], "prompts[0]"),
        ([], [{"name": "p", "messages": [HI, {"role": "user", "content": IMAGE}]}], "prompts[0].messages"),
        ([{"uri": f"n://{number}"} for number in range(MAX_LISTED + 1)], [], "resources"),
    ],
)
def test_what_cannot_be_taken_is_named(resources: Any, prompts: Any, where: str):
    with pytest.raises(InvalidParam) as refused:
        offered_of(resources, prompts)
    assert refused.value.data["param"] == where


def test_changes_are_those_that_a_reader_would_notice():
    before = offered_of([{"uri": "n://a", "text": "a"}, {"uri": "n://b", "text": "b"}], [{"name": "p"}])
    same = offered_of([{"uri": "n://a", "text": "A"}, {"uri": "n://b", "text": "b"}], [{"name": "p"}])
    assert list(changes_between(before, before)) == []
    assert list(changes_between(before, same)) == [ResourceUpdated("n://a")]
    assert list(changes_between(before, Offered())) == [ListChanged("resources"), ListChanged("prompts")]


async def test_a_registration_on_a_link_is_taken_or_refused_with_its_number():
    """gateway.md 4: what is refused changes nothing."""
    async with open_service() as service:
        agent_id, key = await service.agent("research")
        async with service.socket(key) as agent:
            agent.say(Hello(1, "journal_1", Registration("agent")))
            await agent.next()
            agent.say(Register(7, Registration("agent", resources=({"uri": "n://a"},))))
            assert isinstance(taken := await agent.next(), Registered)
            assert taken.ref == 7
            agent.say(Register(8, Registration("agent", prompts=({"name": ""},))))
            assert isinstance(refused := await agent.next(), Refused)
            assert (refused.ref, refused.code) == (8, "invalid_param")
            assert [each.uri for each in service.agents.offered(agent_id).resources] == ["n://a"]
