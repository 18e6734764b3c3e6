"""Which calls run, which ask and which are refused, and who decided so (sdk.md 20-46, §4.3)."""

from dataclasses import dataclass
from typing import Any

import pytest

from tests.unit.sdk.runtime.script import Body, agent, model, noting, payloads, raw, results, say, types, use
from toolwire.sdk import (
    AsyncClient,
    GuardContext,
    HooksConfig,
    HostConfig,
    InvalidTurnOptionError,
    MatchArg,
    Options,
    PreToolUseRule,
    ProposedFinish,
    ProposedToolCall,
    ToolResult,
    VerdictResult,
    compile_options,
    create_sdk_mcp_server,
    permission_modes,
    query,
    tool,
)

MODES = ("default", "acceptEdits", "bypassPermissions")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("risk", ["low", "medium", "high"])
def test_the_table_of_risks_and_modes(risk: str, mode: str):
    ran: list[Any] = []
    options = agent(noting("act", ran, risk), permission_mode=mode)

    result = query(options, goal="go", provider=model(use(("t1", "act", {})), say()))

    runs = risk == "low" or mode == "bypassPermissions"
    assert bool(ran) is runs
    assert types(result)[-1] == ("TaskCompleted" if runs else "TaskSuspended")
    assert bool(payloads(result, "ToolCallApprovalRequested")) is not runs


def test_the_modes_are_listed_and_others_are_refused():
    assert permission_modes() == MODES
    with pytest.raises(ValueError, match=r"Invalid permission_mode 'yolo'\. Must be one of: default, acceptEdits"):
        Options(system_prompt="x", permission_mode="yolo")


async def test_a_turn_may_have_a_mode_of_its_own():
    ran: list[Any] = []
    async with AsyncClient(agent(noting("act", ran, "high")), provider=model(use(("t1", "act", {})), say())) as client:
        with pytest.raises(InvalidTurnOptionError):
            await client.start(goal="go", permission_mode="yolo")
        await client.start(goal="go", permission_mode="bypassPermissions")

    assert len(ran) == 1


async def _async_true(name: str, arguments: Any) -> bool:
    return True


async def _async_false(name: str, arguments: Any) -> bool:
    return False


def _raises(name: str, arguments: Any) -> bool:
    raise LookupError("no idea")


RESOLVERS: list[tuple[Body, bool, str | None]] = [
    (lambda _n, _a: True, True, None),
    (lambda _n, _a: False, False, None),
    (_async_true, True, None),
    (_async_false, False, None),
    (lambda _n, _a: {"behavior": "allow"}, False, "returned dict where only True is a yes"),
    (lambda _n, _a: 1, False, "returned int"),
    (lambda _n, _a: None, False, "returned NoneType"),
    (_raises, False, "raised LookupError: no idea"),
]


@pytest.mark.parametrize(("resolver", "runs", "reason"), RESOLVERS)
def test_only_true_from_the_resolver_is_a_yes(resolver: Any, runs: bool, reason: str | None):
    ran: list[Any] = []
    provider = model(use(("t1", "act", {"a": 1})), say())

    result = query(agent(noting("act", ran, "high"), can_use_tool=resolver), goal="go", provider=provider)

    assert bool(ran) is runs
    assert result.answer() == "Done."
    (resolved,) = payloads(result, "ToolCallApprovalResolved")
    assert (resolved.approved, resolved.resolver) == (runs, "can_use_tool")
    assert (reason or "") in (resolved.reason or "")
    if not runs:
        assert results(provider.received_requests[1])[0].error == (resolved.reason or "denied by human")


def test_the_resolver_is_not_asked_about_low_risk():
    asked: list[str] = []

    def note(name: str, _arguments: Any) -> bool:
        asked.append(name)
        return True

    options = agent(noting("look", []), can_use_tool=note)

    query(options, goal="go", provider=model(use(("t1", "look", {})), say()))

    assert asked == []


def test_a_resolver_of_the_wrong_shape_is_refused_when_the_client_is_made():
    with pytest.raises(TypeError, match="can_use_tool must take"):
        query(agent(can_use_tool=len), goal="go", provider=model())


@dataclass
class Fixed:
    name: str
    priority: int
    answer: Any
    about: type = ProposedToolCall

    def check(self, action: Any, ctx: GuardContext) -> Any:
        if not isinstance(action, self.about):
            return VerdictResult.allow()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (VerdictResult.deny("not today"), "not today"),
        (ZeroDivisionError("division by zero"), "guard 'g' raised ZeroDivisionError: division by zero"),
        (None, "guard 'g' returned NoneType, not a VerdictResult"),
        (True, "guard 'g' returned bool"),
    ],
)
def test_a_guard_that_does_not_clearly_allow_denies_in_every_mode(answer: Any, words: str, mode: str):
    ran: list[Any] = []
    options = agent(noting("look", ran), guards=(Fixed("g", 50, answer),), permission_mode=mode)
    provider = model(use(("t1", "look", {})), say())

    result = query(options, goal="go", provider=provider)

    assert (ran, result.answer()) == ([], "Done.")
    (denied,) = payloads(result, "ToolCallDenied")
    assert words in denied.reason
    assert denied.rule == "guard:g"
    assert words in (results(provider.received_requests[1])[0].error or "")


def test_an_allowing_guard_loosens_nothing_and_a_deny_beats_an_ask():
    ran: list[Any] = []
    allows = agent(noting("act", ran, "high"), guards=(Fixed("g", 1, VerdictResult.allow()),))
    asks_then_denies = agent(
        noting("look", ran),
        guards=(Fixed("b", 60, VerdictResult.deny("no")), Fixed("a", 5, VerdictResult.require_approval("hm"))),
    )

    asked = query(allows, goal="go", provider=model(use(("t1", "act", {})), say()))
    denied = query(asks_then_denies, goal="go", provider=model(use(("t1", "look", {})), say()))

    assert (ran, types(asked)[-1]) == ([], "TaskSuspended")
    assert payloads(denied, "ToolCallDenied")[0].rule == "guard:b"


def test_a_guard_can_keep_a_turn_from_finishing():
    options = agent(guards=(Fixed("g", 50, VerdictResult.deny("not like that"), ProposedFinish),))

    result = query(options, goal="go", provider=model(say()))

    assert payloads(result, "TaskFailed")[0].reason == "finish denied: not like that"


def test_rules_written_as_data_deny_and_ask():
    hooks = HooksConfig(
        pre_tool_use=(
            PreToolUseRule("lo*", "deny", MatchArg("path", "regex", pattern=r"\.env$"), "secrets"),
            PreToolUseRule("look", "require_approval", MatchArg("path", "contains", "etc")),
        )
    )
    ran: list[Any] = []
    calls = use(("t1", "look", {"path": "a.env"}), ("t2", "look", {"path": "/etc/x"}), ("t3", "look", {"path": "b"}))

    result = query(
        agent(noting("look", ran)), goal="go", provider=model(calls, say()), host_config=HostConfig(hooks=hooks)
    )

    assert [arguments["path"] for _, arguments in ran] == ["b"]
    assert payloads(result, "ToolCallDenied")[0].reason == "secrets"
    assert payloads(result, "ToolCallApprovalRequested")[0].call_id == "t2"
    with pytest.raises(ValueError, match="PreToolUseRule"):
        PreToolUseRule("x", "maybe")  # pyright: ignore[reportArgumentType] -- refused


async def test_explain_says_which_rule_would_decide_and_runs_nothing():
    ran: list[Any] = []
    options = agent(noting("look", ran), noting("act", ran, "high"), "Edit")
    async with AsyncClient(options, provider=model()) as client:
        look = await client.explain("look", {})
        act = await client.explain("act", {})
        bypassed = await client.explain("act", {}, permission_mode="bypassPermissions")
        edit = await client.explain("Edit", {"file_path": "a", "old_string": "a", "new_string": "b"})
        accepted = await client.explain(
            "Edit", {"file_path": "a", "old_string": "a", "new_string": "b"}, permission_mode="acceptEdits"
        )
        nope = await client.explain("nope", {})

    assert (look.verdict, look.rule) == ("allow", "risk:low")
    assert (act.verdict, act.rule) == ("ask", "risk:high")
    assert (bypassed.verdict, bypassed.rule) == ("allow", "mode:bypassPermissions")
    assert (edit.verdict, accepted.rule) == ("ask", "mode:acceptEdits")
    assert (nope.verdict, nope.rule) == ("deny", "unknown_tool")
    assert ran == []


def names(options: Options) -> list[str]:
    return [ref.name for ref in compile_options(options)[0].tools]


def test_the_selection_is_what_is_listed_less_what_is_disallowed():
    mine = noting("mine", [])
    bundle = create_sdk_mcp_server("b", tools=(mine,))

    assert len(names(Options(system_prompt="x"))) == 10
    assert names(agent()) == []
    assert names(agent("Read", mine, "Read", mine, mcp_servers=(bundle,))) == ["Read", "mine"]
    assert names(agent(mine, mcp_servers=(bundle,), disallowed_tools=("mine", "absent"))) == []
    without_bash = names(Options(system_prompt="x", disallowed_tools=("Bash",)))
    assert without_bash == ["Edit", "Glob", "Grep", "Read", "WebFetch", "WebSearch", "Write"]


@pytest.mark.parametrize(
    ("entries", "error", "words"),
    [
        (("Nope",), KeyError, "Unknown built-in tool 'Nope'"),
        (("read",), KeyError, "Available: Read, Glob"),
        ("Read", TypeError, "must be a tuple"),
        ((print,), TypeError, "Unsupported tool entry of type 'builtin_function_or_method'"),
        ((3,), TypeError, "Unsupported tool entry of type 'int'"),
        ((noting("Read", [], "high"),), ValueError, "has the name of a built-in tool"),
        ((noting("x", []), noting("x", [])), ValueError, "'x' is <tool 'x'"),
    ],
)
def test_what_cannot_be_selected_is_refused_by_name(entries: Any, error: type[Exception], words: str):
    with pytest.raises(error, match=words.replace("(", r"\(")):
        compile_options(Options(system_prompt="x", allowed_tools=entries))


def test_a_bundle_cannot_shadow_a_built_in_tool_either():
    bundle = create_sdk_mcp_server("b", tools=(noting("Read", [], "high"),))

    with pytest.raises(ValueError, match="the bundle 'b'"):
        compile_options(Options(system_prompt="x", mcp_servers=(bundle,)))
    with pytest.raises(TypeError, match="create_sdk_mcp_server"):
        compile_options(Options(system_prompt="x", mcp_servers=("b",)))  # pyright: ignore[reportArgumentType] -- refused


def test_any_object_with_the_tool_protocol_runs_and_is_graded():
    class Ref:
        name, version, risk_level = "theirs", "3", "low"

    class Theirs:
        name, description, risk_level, input_schema, ref = "theirs", "d", "low", {"type": "object"}, Ref()

        def invoke(self, arguments: Any, ctx: Any) -> ToolResult:
            return ToolResult(success=True, output="from a class")

    provider = model(use(("t1", "theirs", {})), say())

    query(agent(Theirs()), goal="go", provider=provider)

    assert results(provider.received_requests[1])[0].output == "from a class"


def test_started_calls_say_what_let_them():
    @tool(risk_level="low")
    async def look() -> str:
        """Look."""
        return "seen"

    def yes(_name: str, _arguments: Any) -> bool:
        return True

    options = agent(look, raw("act", lambda _a, _c: 1, "high"), can_use_tool=yes)

    result = query(options, goal="go", provider=model(use(("t1", "look", {}), ("t2", "act", {})), say()))

    rules = {started.tool_name: started.rule for started in payloads(result, "ToolCallStarted")}
    assert rules == {"look": "risk:low", "act": "approval"}
