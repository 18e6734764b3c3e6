"""The demo's summariser: chosen sentences, in order, no more than asked for."""

import os
import subprocess
import sys
from contextlib import aclosing

import pytest

from toolwire.cli.demo.corpus import articles
from toolwire.cli.demo.summarize import (
    MAX_SENTENCE_CHARS,
    MAX_SENTENCES,
    MAX_TEXT_CHARS,
    choose,
    summarize,
)
from toolwire.cli.demo.text import sentences

STORY = (
    "The harbour of the town is old. "
    "My neighbour likes cheese. "
    "Ships bring grain to the harbour and the town stores the grain. "
    "It rained on Tuesday. "
    "Without the harbour and its ships the town would have no grain. "
    "Someone whistled."
)
CHINESE = "港口是城市的中心。昨天下雨了。船把粮食运到港口，城市储存粮食。有人吹口哨。没有港口和船，城市就没有粮食。"  # noqa: RUF001


def test_the_sentences_on_the_main_subject_are_chosen():
    assert choose(STORY, 3) == [
        "The harbour of the town is old.",
        "Ships bring grain to the harbour and the town stores the grain.",
        "Without the harbour and its ships the town would have no grain.",
    ]


def test_a_chinese_text_is_summarised_by_its_own_punctuation():
    assert choose(CHINESE, 3) == [
        "港口是城市的中心。",
        "船把粮食运到港口，城市储存粮食。",  # noqa: RUF001
        "没有港口和船，城市就没有粮食。",  # noqa: RUF001
    ]


@pytest.mark.parametrize("max_sentences", [1, 2, 3, 5, MAX_SENTENCES])
def test_a_summary_keeps_order_and_length_on_every_article(max_sentences: int):
    for article in articles():
        parts = sentences(article.text)
        chosen = choose(article.text, max_sentences)
        assert len(chosen) == min(max_sentences, len(parts))
        places = [parts.index(sentence) for sentence in chosen]
        assert places == sorted(set(places))


def test_a_sentence_said_twice_is_chosen_once():
    assert choose("Bees dance. Bees dance. Bees dance. Flowers wait for bees.", 2) == [
        "Bees dance.",
        "Flowers wait for bees.",
    ]


def test_a_second_sentence_that_says_the_same_gives_way_to_a_new_one():
    text = (
        "Copper cables carry the signal across the ocean floor. "
        "The ocean floor has copper cables that carry the signal. "
        "Repair ships of the signal company wait in the harbour of Brest. "
    )
    assert "Repair ships of the signal company wait in the harbour of Brest." in choose(text, 2)


def test_a_sentence_without_end_is_cut_with_an_ellipsis():
    (sentence,) = choose("word " * 10_000, 1)
    assert len(sentence) <= MAX_SENTENCE_CHARS
    assert sentence.endswith("word…")


@pytest.mark.parametrize("text", ["", " \n\n "])
def test_an_empty_text_is_refused(text: str):
    with pytest.raises(ValueError, match="send the text to summarise"):
        choose(text)


def test_a_text_above_the_limit_is_refused_with_the_limit():
    assert choose("a" * MAX_TEXT_CHARS)
    with pytest.raises(ValueError, match=f"at most {MAX_TEXT_CHARS}"):
        choose("a" * (MAX_TEXT_CHARS + 1))


@pytest.mark.parametrize("max_sentences", [0, -3, MAX_SENTENCES + 1])
def test_a_number_of_sentences_out_of_bounds_is_refused_with_the_bounds(max_sentences: int):
    with pytest.raises(ValueError, match=f"from 1 to {MAX_SENTENCES}, got {max_sentences}"):
        choose(STORY, max_sentences)


async def test_the_stream_yields_the_same_sentences_one_by_one():
    assert [sentence async for sentence in summarize(STORY, 2)] == choose(STORY, 2)


async def test_a_reader_may_stop_after_the_first_sentence():
    async with aclosing(summarize(STORY, 3)) as stream:
        async for sentence in stream:
            assert sentence == "The harbour of the town is old."
            break


async def test_the_stream_refuses_what_the_choice_refuses():
    with pytest.raises(ValueError, match="text is empty"):
        await anext(summarize(""))


def test_every_process_chooses_the_same_of_two_equal_sentences():
    program = (
        "from toolwire.cli.demo.summarize import choose; "
        "print(choose('Tides rise twice a day. The moon pulls the tides. Cats sleep all day.', 2))"
    )
    chosen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in "01234"
    }
    assert len(chosen) == 1
