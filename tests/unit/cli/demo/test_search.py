"""The demo's corpus and its ranking, as `web_search` gives them."""

import re

import pytest

from toolwire.cli.demo.corpus import Article, article_at, articles
from toolwire.cli.demo.search import (
    MAX_QUERY_CHARS,
    MAX_RESULTS,
    SNIPPET_CHARS,
    Index,
    corpus_index,
    query_terms,
    search,
    snippet,
)
from toolwire.cli.demo.text import terms

ENTRY = re.compile(r"^(\d+)\. (.+) — (https://example\.com/\S+)$", re.MULTILINE)


def page(title: str, text: str) -> Article:
    return Article(title=title, url=f"https://example.com/{title.casefold().replace(' ', '-')}", text=text)


def titles(pages: list[Article], query: str) -> list[str]:
    index = Index(pages)
    return [hit.article.title for hit in index.rank(query_terms(query), 10)]


def first_url(query: str) -> str:
    entry = ENTRY.search(search(query))
    assert entry, query
    return entry.group(3).removeprefix("https://example.com/")


def test_the_answer_to_the_seeds_query_begins_as_the_seed_prints_it():
    # seed 003, tools/call: {"query": "BeeOS AI agent platform", "max_results": 3}
    answer = search("BeeOS AI agent platform", 3)
    assert answer.startswith(
        "Here are the top 3 results for 'BeeOS AI agent platform':\n\n1. BeeOS: an AI agent platform"
    )
    assert [place for place, _, _ in ENTRY.findall(answer)] == ["1", "2", "3"]


def test_the_query_of_the_seeds_curl_line_finds_beeos_first():
    # seed 003, example: {"query": "BeeOS"}, no max_results
    answer = search("BeeOS")
    assert answer.startswith("Here are the top 3 results for 'BeeOS':\n\n1. BeeOS")
    assert all("BeeOS" in title for _, title, _ in ENTRY.findall(answer))


def test_each_entry_has_title_address_and_a_snippet_of_its_article():
    for entry in search("honey bees", 2).split("\n\n")[1:]:
        head, below = entry.split("\n")
        found = ENTRY.match(head)
        assert found
        article = article_at(found.group(3))
        assert article
        assert article.title == found.group(2)
        assert below.startswith("   ")
        shown = below.strip()
        assert len(shown) <= SNIPPET_CHARS
        assert shown.removesuffix("…") in article.text


@pytest.mark.parametrize(
    "query, url",
    [
        ("making a retry safe with an idempotency key", "idempotency/keys"),
        ("gateway timeout", "gateways/deadlines"),
        ("sign a webhook with hmac sha256", "webhooks/hmac-signing"),
        ("JSON-RPC error codes", "jsonrpc/error-codes"),
        ("how do bees make honey?", "science/honey"),
        ("capital of Portugal", "cities/lisbon"),
        ("ZURICH", "cities/zurich"),
        ("Zürich", "cities/zurich"),
        ("toolwire arrows", "toolwire/canvas-arrows"),
        ("幂等键", "zh/idempotency-key"),
        ("西湖在哪个城市", "zh/hangzhou"),
        ("什么是智能体平台", "zh/agent-platform"),
    ],
)
def test_the_article_on_the_subject_comes_first(query: str, url: str):
    assert first_url(query) == url


def test_a_rare_word_counts_more_than_a_common_one():
    common = [page(f"Common {number}", "network network network and so forth") for number in range(8)]
    rare = page("Rare", "a zeppelin in the sky above")
    assert titles([*common, rare], "network zeppelin")[0] == "Rare"


def test_more_of_the_queried_words_beat_more_repetitions_of_one():
    repeats = page("Repeats", "copper " * 12)
    both = page("Both", "copper wire and ten other words that have nothing to do with any of it")
    assert titles([repeats, both, page("Neither", "sand")], "copper wire") == ["Both", "Repeats"]


def test_a_short_text_beats_a_long_one_with_the_same_match():
    long = page("Long", "granite " + "filler " * 200)
    short = page("Short", "granite " + "filler " * 5)
    assert titles([long, short], "granite") == ["Short", "Long"]


def test_a_match_in_the_title_beats_one_in_the_text():
    inside = page("Stones", "all about marble here")
    named = page("Marble", "all about stones here")
    assert titles([inside, named], "marble")[0] == "Marble"


def test_equal_scores_keep_the_order_of_the_corpus():
    twins = [page(name, "basalt") for name in ("One", "Two", "Six")]
    assert titles(twins, "basalt") == ["One", "Two", "Six"]


def test_an_article_without_any_queried_word_is_no_result():
    assert titles([page("Sea", "salt water"), page("Land", "dry dust")], "water") == ["Sea"]


def test_a_single_chinese_character_finds_the_words_it_is_part_of():
    assert first_url("潮") == "zh/tides"


def test_the_number_in_the_heading_is_the_number_found():
    assert search("mcp", 7).startswith("Here are the top 7 results for 'mcp':")
    assert search("Gutenberg", 7).startswith("Here are the top 1 results for 'Gutenberg':")


def test_nothing_found_is_said_with_what_to_do_next():
    assert (
        search("qwxyz vlorp")
        == f"No results for 'qwxyz vlorp'. Try other words; {len(articles())} articles were searched."
    )


def test_words_that_carry_no_topic_are_left_out_unless_there_are_no_others():
    assert query_terms("what is the honey of it") == ["honey"]
    assert query_terms("what is the") == ["what", "is", "the"]


@pytest.mark.parametrize("query", ["", "   \n\t", "?!…", "_-_"])
def test_a_query_without_words_is_refused_and_says_what_to_give(query: str):
    with pytest.raises(ValueError, match="give one or more words"):
        search(query)


@pytest.mark.parametrize("max_results", [0, -1, MAX_RESULTS + 1, 10**9])
def test_a_number_of_results_out_of_bounds_is_refused_with_the_bounds(max_results: int):
    with pytest.raises(ValueError, match=f"from 1 to {MAX_RESULTS}, got {max_results}"):
        search("mcp", max_results)


def test_the_bounds_themselves_are_allowed():
    assert len(ENTRY.findall(search("agent", 1))) == 1
    assert len(ENTRY.findall(search("agent", MAX_RESULTS))) == MAX_RESULTS


def test_a_query_longer_than_the_limit_is_refused():
    with pytest.raises(ValueError, match=f"at most {MAX_QUERY_CHARS}"):
        search("word " * MAX_QUERY_CHARS)


def test_a_long_query_is_cut_in_the_heading_and_keeps_it_on_one_line():
    heading = search("gateway\nkeys " * 50).split("\n\n")[0]
    assert heading.startswith("Here are the top 5 results for 'gateway keys gateway")
    assert heading.endswith("…':")
    assert "\n" not in heading
    assert len(heading) < 300


def test_a_snippet_begins_with_the_sentence_that_answers_best():
    filler = "Nothing of interest stands in this sentence, which is rather long for what it has to say. " * 4
    article = page("Filler", f"{filler}The obelisk was moved by barge. {filler}")
    assert snippet(article, ["obelisk"], Index([article])).startswith("The obelisk was moved by barge.")


def test_the_corpus_is_as_large_and_as_clean_as_the_demo_needs():
    pages = articles()
    assert 60 <= len(pages) <= 120
    assert len({article.url for article in pages}) == len({article.title for article in pages}) == len(pages)
    assert sum("/zh/" in article.url for article in pages) >= 5
    for article in pages:
        assert re.fullmatch(r"https://example\.com/[a-z0-9/-]+", article.url)
        assert "\n" not in article.title + article.text
        assert article.title == article.title.strip()
        assert 50 <= len(article.text.split()) <= 150 or "/zh/" in article.url, article.url
        assert len(corpus_index().rank(terms(article.title), 1)) == 1


def test_every_article_is_found_first_by_its_own_title():
    missed = [article.url for article in articles() if article_at(article.url) is None or not own_first(article)]
    assert missed == []


def own_first(article: Article) -> bool:
    return corpus_index().rank(query_terms(article.title), 1)[0].article is article


def test_an_unknown_address_has_no_article():
    assert article_at("https://example.com/nowhere") is None


def test_an_empty_index_finds_nothing():
    assert Index([]).rank(["bee"], 5) == []
    assert search("bee", index=Index([])) == "No results for 'bee'. Try other words; 0 articles were searched."
