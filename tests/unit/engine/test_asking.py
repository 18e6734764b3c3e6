"""Open questions of one call, whoever carries them (mcp.md 1.2, MRTR rules)."""

from collections.abc import Callable, Iterable, Sequence

import anyio
import pytest

from toolwire.core.asking import Declined, NobodyToAsk, Question, UnfitAnswer, asker_of, is_declared, require, required
from toolwire.core.errors import Cancelled, MissingCapability
from toolwire.core.jsontypes import JsonObject
from toolwire.engine.asking import Asking

pytestmark = pytest.mark.both_backends

ONE, TWO = Question("one", "roots/list", {}), Question("two", "elicitation/create", {"message": "?"})


class Way:
    """Remembers what it carries."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.withdrawn: list[str] = []
        self.completed: list[str] = []
        self.news = anyio.Event()

    def ask(self, questions: Sequence[Question]) -> None:
        self.asked += [question.key for question in questions]
        self.news.set()

    def withdraw(self, keys: Iterable[str]) -> None:
        self.withdrawn += keys

    def complete(self, key: str) -> None:
        self.completed.append(key)


def fits(question: Question, answer: JsonObject) -> str | None:
    """Everything fits but what says that it does not."""
    return "it says so" if "unfit" in answer else None


def asking(repeats: bool = False, before: dict[str, JsonObject] | None = None) -> tuple[Asking, Way]:
    made, way = Asking({"roots": {}}, 10.0, before, repeats=repeats), Way()
    made.way = way
    return made, way


async def test_answers_come_in_any_order_and_go_to_whoever_asked():
    made, way = asking()
    found: list[object] = []

    async def ask(*questions: Question) -> None:
        found.append(await made.ask(questions, fits))

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, ONE, TWO)
            await way.news.wait()
            assert made.questions == (ONE, TWO)
            made.give("two", {"n": 2})
            made.give("nobody", {})
            assert made.questions == (ONE,)
            made.give("one", {"n": 1})
    assert found == [{"one": {"n": 1}, "two": {"n": 2}}]
    assert (made.questions, made.given, way.withdrawn) == ((), {"one": {"n": 1}, "two": {"n": 2}}, [])


BAD_ENDS: list[tuple[Callable[[Asking], None], type[Exception]]] = [
    (lambda made: made.give("one", {"unfit": 1}), UnfitAnswer),
    (lambda made: made.refuse("one", {"code": -1, "message": "no"}), Declined),
    (lambda made: made.fail_all(lambda: Cancelled("over")), Cancelled),
]


@pytest.mark.parametrize(("fail", "error"), BAD_ENDS)
async def test_one_bad_end_ends_the_round_and_withdraws_the_rest(
    fail: Callable[[Asking], None], error: type[Exception]
):
    made, way = asking()
    with anyio.fail_after(5), pytest.RaisesGroup(error):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.ask, [ONE, TWO], fits)
            await way.news.wait()
            fail(made)
    assert "two" in way.withdrawn
    assert made.questions == ()


async def test_an_unfit_answer_leaves_its_question_open_where_it_is_asked_again():
    made, way = asking(repeats=True)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.ask, [ONE], fits)
            await way.news.wait()
            made.give("one", {"unfit": 1})
            assert made.questions == (ONE,)
            made.give("one", {})


async def test_a_key_is_used_once():
    made, _ = asking(before={"one": {}})
    await made.ask([ONE], fits)
    with pytest.raises(ValueError, match="'one' was used before"):
        await made.ask([ONE], fits)
    with pytest.raises(ValueError, match="'two' was used before"):
        await made.ask([TWO, TWO], fits)


async def test_what_was_answered_before_is_not_asked_unless_the_answer_is_unfit():
    made, way = asking(repeats=True, before={"one": {"n": 1}, "two": {"unfit": 1}})
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.ask, [ONE, TWO], fits)
            await way.news.wait()
            assert way.asked == ["two"]
            made.bring({"two": {"n": 2}, "three": {"n": 3}})
    assert made.given == {"one": {"n": 1}, "two": {"n": 2}}
    assert await made.ask([Question("three", "roots/list", {})], fits) == {"three": {"n": 3}}


async def test_a_body_that_is_cancelled_withdraws_what_it_asks():
    made, way = asking()
    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(made.ask, [ONE], fits)
            await way.news.wait()
            tasks.cancel_scope.cancel()
    assert (way.withdrawn, made.questions) == (["one"], ())


async def test_without_a_way_nobody_can_be_asked():
    with pytest.raises(NobodyToAsk):
        await Asking(None, 0.0).ask([ONE], fits)
    Asking(None, 0.0).complete("one")


def test_the_asker_is_found_where_the_events_go():
    class Holder:
        asker = "the asker"

        def emit(self, event: object) -> None: ...

        def __call__(self, event: object) -> None: ...

    assert asker_of(Holder().emit) == "the asker"
    assert asker_of(Holder()) == "the asker"
    assert asker_of(print) is None
    assert asker_of(list[object]().append) is None


@pytest.mark.parametrize(
    ("can", "name", "declared"),
    [
        ({}, "elicitation", False),
        ({"elicitation": {}}, "elicitation", True),
        ({"elicitation": {"form": {}, "url": {}}}, "elicitation", True),
        ({"elicitation": {"url": {}}}, "elicitation", False),
        ({"elicitation": {"url": {}}}, "elicitation.url", True),
        ({"elicitation": False}, "elicitation", False),
        ({"sampling": {}}, "sampling", True),
        ({"sampling": {}}, "sampling.tools", False),
        ({"sampling": None}, "sampling", False),
        ({"sampling": True}, "sampling", True),
        ({"sampling": True}, "sampling.tools", False),
    ],
)
def test_what_a_client_has_declared(can: JsonObject, name: str, declared: bool):
    assert is_declared(can, name) is declared


def test_what_is_missing_is_told_as_the_client_would_declare_it():
    assert required(["sampling", "sampling.tools", "elicitation.url"]) == {
        "sampling": {"tools": {}},
        "elicitation": {"url": {}},
    }
    with pytest.raises(MissingCapability, match=r"'sampling\.tools'") as refused:
        require({"sampling": {}}, ["sampling", "sampling.tools"])
    assert refused.value.data == {"requiredCapabilities": {"sampling": {"tools": {}}}}
