"""Patterns for names: what they match, in time that cannot explode."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolwire.sdk.builtin.isolated.globs import compile_glob, compile_segment, expand_braces
from toolwire.sdk.builtin.isolated.ignores import Ignores, is_ignored, parse_rules


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("**", "a/b", True),
        ("**/b", "b", True),
        ("**/b", "a/a/b", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**", "b/x", False),
        ("**/x/**/y", "a/x/b/x/c/y", True),
        ("*", "a/b", False),
        ("./a//b", "a/b", True),
        ("a?c", "abc", True),
        ("[!a]", "b", True),
        ("[^a]", "a", False),
        ("[]]", "]", True),
        ("[", "[", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        ("a.b", "axb", False),
        ("{a,b{c,d}}e", "bde", True),
        ("{a}", "{a}", True),
        ("{a,}x", "x", True),
        ("a{", "a{", True),
    ],
)
def test_a_pattern_matches_a_path(pattern: str, path: str, expected: bool):
    assert compile_glob(pattern)(path.split("/")) is expected


@given(st.text("ab*?", max_size=12), st.text("ab", max_size=12))
def test_a_name_is_matched_as_by_fnmatch(pattern: str, name: str):
    assert (compile_segment(pattern).match(name) is not None) == fnmatch.fnmatchcase(name, pattern)


def test_many_stars_take_no_longer():
    assert compile_segment("*a" * 100 + "b").match("a" * 5000) is None
    assert compile_glob("**/a/" * 50 + "b")(["a"] * 500) is False


def test_braces_stand_for_their_choices_in_order():
    assert expand_braces("{a,b}{1,2}") == ["a1", "a2", "b1", "b2"]
    assert expand_braces(r"\{a,b}") == [r"\{a,b}"]


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("*.log", "a/b/x.log", True),
        ("*.log\n!keep.log", "keep.log", False),
        ("/top", "a/top", False),
        ("a/b", "x/a/b", False),
        ("a/*.txt", "a/b/c.txt", False),
        ("x/**", "x", False),
        ("x/**", "x/y/z", True),
        ("**/deep", "a/deep", True),
        ("build/", "build", False),
        (r"\#x", "#x", True),
        ("# x", "# x", False),
        ("x \nsp\\ ", "sp ", True),
        ("x  ", "x", True),
        ("{a,b}", "a", False),
        ("[z-a]\nx", "x", True),
        ("/\n!\n\n", "x", False),
    ],
)
def test_ignore_rules_are_those_of_git(rules: str, path: str, expected: bool):
    assert is_ignored([Ignores(parse_rules(rules), 0)], path.split("/"), is_directory=False) is expected


def test_a_rule_for_directories_is_for_them_alone():
    stack = [Ignores(parse_rules("build/"), 0)]

    assert is_ignored(stack, ["a", "build"], is_directory=True)


def test_rules_further_down_and_further_above_count_from_where_they_stand():
    above = Ignores(parse_rules("/pkg/src/*.c"), 0, ("pkg",))
    below = Ignores(parse_rules("!keep.c"), 1)

    assert is_ignored([above], ["src", "x.c"], is_directory=False)
    assert not is_ignored([above, below], ["src", "keep.c"], is_directory=False)
