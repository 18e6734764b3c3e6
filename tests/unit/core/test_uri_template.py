"""URI templates, the part of RFC 6570 that a server can match (mcp.md 1.2, resource templates)."""

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.core.uri_template import UriTemplate, is_template


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("a://{id}", "a://7", {"id": "7"}),
        ("a://{id}/data", "a://x%20y/data", {"id": "x y"}),
        ("a://{id}/data", "a://x/y/data", None),
        ("a://{id}", "a://", None),
        ("a://{id}", "a://7?x=1", None),
        ("a://{id}", "a://7#x", None),
        ("a://{id}", "b://7", None),
        ("a://x.{kind}", "a://xy7", None),
        ("a://{one}-{two}", "a://1-2", {"one": "1", "two": "2"}),
        ("a://{+path}", "a://x/y/z", {"path": "x/y/z"}),
        ("a://{+path}/end", "a://x/y/end", {"path": "x/y"}),
        ("a://{id}{?page,size}", "a://7", {"id": "7"}),
        ("a://{id}{?page,size}", "a://7?", {"id": "7"}),
        ("a://{id}{?page,size}", "a://7?size=a+b%26&other=1", {"id": "7", "size": "a b&"}),
        ("a://{id}{?page,size}", "a://7?page=1&page=2", None),
        ("a://x{?q}", "a://x?q=1", {"q": "1"}),
    ],
)
def test_a_uri_is_taken_apart(template: str, uri: str, values: dict[str, str] | None):
    assert UriTemplate(template).match(uri) == values


@pytest.mark.parametrize(
    "uri", ["a://..", "a://../x", "a://x/..", "a://%2e%2e", "a://..%5Cx", "a:///x", "a://%2Fetc", "a://%00", "a://%ff"]
)
def test_a_value_that_could_lead_elsewhere_matches_nothing(uri: str):
    assert UriTemplate("a://{+path}").match(uri) is None


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0/\\"), min_size=1).filter(lambda text: text != ".."))
def test_whatever_is_filled_in_comes_back(text: str):
    template = UriTemplate("a://{id}/data{?q}")
    assert template.match(f"a://{quote(text, safe='')}/data?q={quote(text, safe='')}") == {"id": text, "q": text}


@given(st.text())
def test_no_uri_breaks_a_template(uri: str):
    UriTemplate("a://{id}/{+path}{?q}").match(uri)


def test_variables_are_known_in_their_order_and_which_may_be_left_out():
    template = UriTemplate("a://{one}/{+two}{?three,four}")
    assert template.names == ("one", "two", "three", "four")
    assert template.optional == {"three", "four"}


@pytest.mark.parametrize(
    "text",
    [
        "a://{}",
        "a://{id",
        "a://id}",
        "a://{/id}",
        "a://{id*}",
        "a://{id:3}",
        "a://{a,b}",
        "a://{?a}/b",
        "a://{?}",
        "a://{?a*}",
    ],
)
def test_what_cannot_be_matched_is_refused_with_what_can(text: str):
    with pytest.raises(ValueError, match=r"cannot be matched; write \{name\}"):
        UriTemplate(text)


def test_a_variable_stands_once():
    with pytest.raises(ValueError, match="has a variable twice"):
        UriTemplate("a://{id}/{id}")


@pytest.mark.parametrize(("uri", "is_one"), [("a://x", False), ("a://{x}", True), ("a://x}", True)])
def test_a_template_is_known_by_its_braces(uri: str, is_one: bool):
    assert is_template(uri) is is_one
