"""Docstrings as descriptions for a model (sdk.md §4.1)."""

import pytest

from toolwire.sdk.authoring.docstring import Described, read_docstring


@pytest.mark.parametrize("doc", [None, "", "   \n  "])
def test_nothing_describes_nothing(doc: str | None):
    assert read_docstring(doc) == Described("", {})


def test_the_first_paragraph_is_one_line():
    assert read_docstring("Find\n    a flight.\n\n    With details.").text == "Find a flight."


def test_the_section_of_arguments_describes_parameters():
    doc = """Book a flight.

    Args:
        where (str, optional): The airport:
            three letters.

            Or a city.
        count: How many
        *rest: others
        broken line
    Returns:
        count: not this.
    """

    assert read_docstring(doc) == Described(
        "Book a flight.",
        {"where": "The airport: three letters. Or a city.", "count": "How many", "rest": "others broken line"},
    )


def test_a_docstring_that_begins_with_its_arguments_has_no_text():
    assert read_docstring("Args:\n    a: first") == Described("", {"a": "first"})


def test_rest_fields_describe_parameters():
    doc = """Book a flight.
    :param where: The airport,
        three letters.
    :param int count: How many.
    :returns: a ticket
    """

    assert read_docstring(doc) == Described(
        "Book a flight.", {"where": "The airport, three letters.", "count": "How many."}
    )
