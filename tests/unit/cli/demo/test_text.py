"""Sentences and search terms of English and Chinese text."""

import pytest

from toolwire.cli.demo.text import MAX_LATIN_TERM_CHARS, characters, joined, sentences, shorten, terms


@pytest.mark.parametrize(
    "text, expected",
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Pi is 3.14 or so. See example.com/a?b=c for more.", ["Pi is 3.14 or so.", "See example.com/a?b=c for more."]),
        ("Dr. J. Doe met Mr. Roe. They spoke.", ["Dr. J. Doe met Mr. Roe.", "They spoke."]),
        ("Keys, e.g. user_7, are text, i.e. strings. Good.", ["Keys, e.g. user_7, are text, i.e. strings.", "Good."]),
        (
            "Acme Inc. was first. Then came Acme Inc. It grew.",
            ["Acme Inc. was first.", "Then came Acme Inc.", "It grew."],
        ),
        ("The answer is no. See No. 5 of it.", ["The answer is no.", "See No. 5 of it."]),
        ("You go. So do I. We all go.", ["You go.", "So do I.", "We all go."]),
        ("Well... maybe. No... Yes.", ["Well... maybe.", "No...", "Yes."]),
        ('"Really?" he asked. "Yes!" She left.', ['"Really?" he asked.', '"Yes!"', "She left."]),
        ("Title\n\nFirst\nline. Second.", ["Title", "First line.", "Second."]),
        ("- one. two\n- three\n2. four", ["- one.", "two", "- three", "2. four"]),
        ("你好。吃了吗？走吧！好；再见", ["你好。", "吃了吗？", "走吧！", "好；", "再见"]),  # noqa: RUF001
        ("他说“走吧！”然后走了。End.", ["他说“走吧！”", "然后走了。", "End."]),  # noqa: RUF001
        ("  \n\n ", []),
        ("", []),
    ],
)
def test_text_is_cut_into_its_sentences(text: str, expected: list[str]):
    assert sentences(text) == expected


def test_joined_sentences_have_spaces_only_where_the_script_has_them():
    parts = ["One.", "Two.", "三。", "四。", "Five."]
    assert joined(parts) == "One. Two. 三。四。Five."
    assert joined([]) == ""


@pytest.mark.parametrize(
    "text, expected",
    [
        ("Agents CALL tools/call", ["agent", "call", "tool", "call"]),
        ("Time-outs", ["time", "out", "timeout"]),
        ("web_search JSON-RPC", ["web", "search", "json", "rpc", "jsonrpc"]),
        ("Zürich São", ["zurich", "sao"]),
        ("classes queries boxes bus this gas", ["class", "query", "box", "bus", "this", "gas"]),
        ("智能体平台", ["智能", "能体", "体平", "平台"]),
        ("用MCP 协议", ["用", "mcp", "协议"]),
        ("ガス 서울", ["ガス", "서울"]),
        ("42 -32003", ["42", "32003"]),
        ("…!?", []),
    ],
)
def test_text_is_folded_into_search_terms(text: str, expected: list[str]):
    assert terms(text) == [term for term in expected if term]


def test_both_spellings_of_an_accent_are_one_term():
    assert terms("caf\u00e9") == terms("cafe\u0301") == terms("CAFE")


def test_an_endless_word_is_cut():
    assert terms("x" * 10_000) == ["x" * MAX_LATIN_TERM_CHARS]


def test_characters_are_those_of_scripts_without_spaces():
    assert characters("潮 and 汐") == ["潮", "汐"]


@pytest.mark.parametrize(
    "text, room, expected",
    [
        ("short", 5, "short"),
        ("one two three", 9, "one two…"),
        ("one two, three", 9, "one two…"),
        ("incomprehensibility", 8, "incompr…"),
        ("一二三四五六七八", 5, "一二三四…"),
    ],
)
def test_a_text_is_shortened_at_the_end_of_a_word(text: str, room: int, expected: str):
    assert shorten(text, room) == expected
    assert len(shorten(text, room)) <= room


@pytest.mark.parametrize("pattern", ["e.g. ", ". ", "x. ", "1. ", "\n", "- \n", "。", "a-", "\"'", "J. K. "])
def test_a_hostile_text_of_many_marks_is_cut_like_any_other(pattern: str):
    # Each of these would take minutes if the work grew with the square of the length.
    text = pattern * (200_000 // len(pattern))
    assert sum(len(part) for part in sentences(text)) <= len(text)
    assert all(terms(text))
