"""What a body asks, what it gets, and what the record is told (mcp.md 1.2; MCP client/sampling, client/elicitation)."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.unit.sdk.calls import called
from toolwire.core.asking import Check, Question
from toolwire.core.errors import MissingCapability
from toolwire.core.event import Answered, Asks, Event
from toolwire.core.jsontypes import JsonObject
from toolwire.sdk import ToolContext, tool
from toolwire.sdk.asking import AskForm, AskModel, AskPage, AskRoots, Elicited, Root
from toolwire.server import from_user

NAME: JsonObject = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
SAID: JsonObject = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}


class Client:
    """Both the events of a call and the client behind it."""

    def __init__(self, answers: Mapping[str, JsonObject], can: JsonObject | None = None) -> None:
        self.asker = self
        self.can: JsonObject = {"elicitation": {}, "sampling": {}, "roots": {}} if can is None else can
        self.deadline = 99.0
        self.events: list[Event] = []
        self.done: list[str] = []
        self._answers = answers

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    async def ask(self, questions: Sequence[Question], check: Check) -> Mapping[str, JsonObject]:
        assert [check(question, self._answers[question.key]) for question in questions] == [None] * len(questions)
        return {question.key: self._answers[question.key] for question in questions}

    def complete(self, key: str) -> None:
        self.done.append(key)


async def test_what_is_asked_and_how_it_was_answered_is_told_and_what_was_said_is_not():
    client = Client({"who": {"action": "accept", "content": {"name": "Ann"}}, "what": SAID})
    ctx = ToolContext(emit=client)
    answers = await ctx.ask_all({"who": AskForm("Who?", NAME), "what": AskModel("What?")})
    assert (answers["who"].content, answers["what"].text) == ({"name": "Ann"}, "hi")
    asks, answered = client.events
    assert isinstance(asks, Asks)
    assert [(question.key, question.method) for question in asks.questions] == [
        ("who", "elicitation/create"),
        ("what", "sampling/createMessage"),
    ]
    assert answered == Answered({"who": "accept", "what": "answered"})
    assert ctx.deadline == 99.0


async def test_questions_without_a_key_are_numbered():
    client = Client({"question_1": {"roots": []}, "question_2": {"roots": [{"uri": "file:///a", "name": "A"}]}})
    ctx = ToolContext(emit=client)
    assert await ctx.roots() == ()
    assert await ctx.roots() == (Root("file:///a", "A"),)


async def test_the_end_of_a_page_is_passed_on():
    client = Client({"page": {"action": "accept"}}, {"elicitation": {"url": {}}})
    ctx = ToolContext(emit=client)
    visit = await ctx.elicit_url("Sign in", "https://example.com", key="page")
    assert visit == Elicited("accept", None, "page")
    assert visit.accepted
    ctx.page_done(visit)
    assert client.done == ["page"]


async def test_nobody_can_be_asked_where_there_is_no_client():
    for ctx in (ToolContext(), ToolContext(emit=lambda event: None)):
        with pytest.raises(MissingCapability, match="nobody behind this call can be asked") as refused:
            await ctx.elicit("Who?", NAME)
        assert refused.value.data == {"requiredCapabilities": {"elicitation": {}}}
        ctx.page_done(Elicited("accept"))


async def test_a_tool_that_asks_fails_with_words_where_there_is_no_client():
    @tool
    async def who(ctx: ToolContext) -> str:
        """Ask who it is."""
        return str(await ctx.elicit("Who?", NAME))

    result = await called(who)
    assert result.error is not None
    assert result.error.message == "nobody behind this call can be asked: no client has declared 'elicitation'"


async def test_tools_of_a_model_need_a_capability_of_their_own():
    ctx = ToolContext(emit=Client({}))
    with pytest.raises(MissingCapability) as refused:
        await ctx.sample("hi", tools=[{"name": "add", "inputSchema": {"type": "object"}}])
    assert refused.value.data == {"requiredCapabilities": {"sampling": {"tools": {}}}}


async def test_waiting_is_for_threads():
    ctx = ToolContext(emit=Client({}))
    coroutine = ctx.roots()
    with pytest.raises(RuntimeError, match="write `await`"):
        ctx.wait(coroutine)
    coroutine.close()


def test_a_model_is_asked_in_mcps_words():
    @tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    asked = AskModel(
        [from_user("2 + 2?"), {"role": "assistant", "content": {"type": "text", "text": "hm"}}],
        7,
        system="Count.",
        temperature=0.5,
        stop_sequences=["."],
        models=["small", "large"],
        tools=[add],
        tool_choice="required",
    )
    assert asked.params["messages"] == [
        {"role": "user", "content": {"type": "text", "text": "2 + 2?"}},
        {"role": "assistant", "content": {"type": "text", "text": "hm"}},
    ]
    [shown] = asked.params["tools"]
    assert (shown["name"], shown["description"]) == ("add", "Add.")
    assert {name: value for name, value in asked.params.items() if name not in ("messages", "tools")} == {
        "maxTokens": 7,
        "systemPrompt": "Count.",
        "temperature": 0.5,
        "stopSequences": ["."],
        "modelPreferences": {"hints": [{"name": "small"}, {"name": "large"}]},
        "toolChoice": {"mode": "required"},
    }
    assert asked.question("k").needs == ("sampling", "sampling.tools")


def test_a_model_may_answer_with_several_blocks():
    use: JsonObject = {"type": "tool_use", "id": "1", "name": "add", "input": {}}
    said = AskModel("hi").read({**SAID, "content": [SAID["content"], use, SAID["content"]]}, "k")
    assert (said.text, said.tool_uses) == ("hihi", (use,))


@pytest.mark.parametrize("messages", [[], [{}], [{"role": "user"}], [7]])
def test_what_is_no_message_is_refused(messages: Any):
    with pytest.raises(TypeError, match="sample"):
        AskModel(messages)


@pytest.mark.parametrize("given", [7, "add", {}])
def test_what_is_no_tool_is_refused(given: Any):
    with pytest.raises(TypeError, match="tools"):
        AskModel("hi", tools=[given])


@pytest.mark.parametrize("url", ["", "example.com", "javascript:alert(1)", "file:///etc/passwd"])
def test_a_page_is_one_of_the_web(url: str):
    with pytest.raises(ValueError, match="https://"):
        AskPage("Go", url)


UNREADABLE: list[tuple[Any, Any]] = [
    (AskModel("hi"), {}),
    (AskModel("hi"), {**SAID, "role": "system"}),
    (AskModel("hi"), {**SAID, "content": {"text": "no type"}}),
    (AskModel("hi"), {**SAID, "content": {"type": "text"}}),
    (AskModel("hi"), {**SAID, "content": "text"}),
    (AskRoots(), {}),
    (AskRoots(), {"roots": [{}]}),
    (AskRoots(), {"roots": "file:///"}),
    (AskPage("Go", "https://example.com"), {"action": "go"}),
    (AskForm("Who?", NAME), {"action": "accept", "content": []}),
]


@pytest.mark.parametrize(("ask", "answer"), UNREADABLE)
def test_what_is_no_answer_is_not_read(ask: Any, answer: Any):
    with pytest.raises(ValueError, match=r"."):
        ask.read(answer, "k")
