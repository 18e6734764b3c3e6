"""docs/tutorial/first-agent.md: what the tutorial says of its agents is so."""

import struct

import pytest

from docs_src.first_agent import tutorial001, tutorial002, tutorial003, tutorial004, tutorial005
from toolwire.testing.agents import Harness


def test_a_functions_name_docstring_and_hints_are_what_a_model_sees():
    (skill,) = tutorial001.agent.registration().skills

    assert (skill.name, skill.description) == ("forecast", "Tell the weather of the next days.")
    assert skill.input_schema == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "A city's English name"},
            "days": {"type": "integer", "default": 1},
        },
        "required": ["city"],
    }


def test_arguments_that_do_not_fit_never_reach_the_function():
    answered = Harness(tutorial001.agent).call("forecast", city=5)
    assert answered.is_error


def test_an_unexpected_exception_tells_the_caller_no_more_than_a_reference(caplog: pytest.LogCaptureFixture):
    answered = Harness(tutorial001.agent).call("forecast", city="Atlantis")

    assert answered.is_error
    assert "Atlantis" not in answered.text
    assert "KeyError" in caplog.text


def test_a_tool_error_is_what_the_caller_reads():
    answered = Harness(tutorial002.agent).call("forecast", city="Atlantis")
    assert answered.text == "no forecast for 'Atlantis'; there are Lisbon, Bergen"


async def test_progress_is_told_on_the_way():
    answered = await Harness(tutorial003.agent).acall("report")

    assert [(step.progress, step.total, step.message) for step in answered.progress] == [
        (1, 2, "looked at Lisbon"),
        (2, 2, "looked at Bergen"),
    ]
    assert answered.text.count("\n") == 1


def test_an_image_is_a_picture_and_a_dict_is_data():
    sky = Harness(tutorial004.agent).call("sky").reply.payload["content"][0]
    assert (sky["type"], sky["mimeType"]) == ("image", "image/png")
    picture = tutorial004.png_of_one_pixel(bytes(3))
    assert struct.unpack(">II", picture[16:24]) == (1, 1)

    climate = Harness(tutorial004.agent).call("climate", city="Lisbon")
    assert climate.reply.payload["structured"] == {"city": "Lisbon", "mean_c": 17.5, "rainy_days": 104}


@pytest.mark.parametrize("name", [name for name in vars(tutorial005) if name.startswith("test_")])
def test_the_tests_of_the_tutorial_pass(name: str):
    getattr(tutorial005, name)()
