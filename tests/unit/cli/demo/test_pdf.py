"""The demo's summarize_pdf: real PDF files in, sentences of theirs out."""

from typing import Any

import pytest

from tests.unit.cli.demo.pdfs import pdf_of
from toolwire.cli.demo.agent import Demo
from toolwire.cli.demo.pdf import text_of
from toolwire.testing.agents import Harness

TIDES = (
    "Tides rise and fall twice a day. The moon pulls the water of the sea, and so makes the tides. The sun helps a "
    "little with the tides. Cats sleep. Ports keep tables of the tides, so that ships know when the water is high."
)
BREAD = (
    "Bread needs flour, water and time. The yeast in the dough turns flour into gas. A slow dough makes better bread. "
    "Dogs bark. The oven must be hot before the bread goes in."
)


def harness(data: bytes, **more: Any) -> Harness:
    file = {"file_id": "file_1", "filename": "q3.pdf", "content_type": "application/pdf", "data": data, **more}
    return Harness(Demo("agent_demo", "http://127.0.0.1:8094").agent(), attachments=[file])


@pytest.mark.parametrize("text", [TIDES, BREAD])
async def test_the_summary_is_made_of_the_files_sentences(text: str):
    answered = await harness(pdf_of(text)).acall("summarize_pdf", max_sentences=2)

    assert not answered.is_error
    assert len(answered.said) == 2
    assert all(sentence in text for sentence in answered.said)
    assert answered.text == " ".join(answered.said)


def test_lines_become_paragraphs_and_pages_follow_one_another():
    text = " ".join(f"Sentence {n} stands on its own." for n in range(200))
    assert text_of(pdf_of(text), 100_000).split() == text.split()
    assert text_of(pdf_of(text), 100) == text[:100].strip()
    assert "\n" not in text_of(pdf_of(TIDES), 10_000)


@pytest.mark.parametrize(
    ("data", "more", "problem"),
    [
        (b"not a pdf", {}, "this is no PDF file"),
        (b"%PDF-1.7\n" + b"\x00" * 100, {}, "this is no PDF file"),
        (pdf_of(""), {}, "has no text"),
        (pdf_of(TIDES), {"content_type": "image/png"}, "send application/pdf"),
        (pdf_of(TIDES), {"size": 30_000_000}, "send one of at most 20000000"),
        (pdf_of(TIDES), {"size": 7}, "of its 7 bytes"),
    ],
)
async def test_what_is_no_readable_pdf_is_an_error_that_a_model_may_read(data: bytes, more: Any, problem: str):
    answered = await harness(data, **more).acall("summarize_pdf")

    assert answered.is_error
    assert problem in answered.text


async def test_without_a_file_it_says_how_to_attach_one():
    answered = await Harness(Demo("agent_demo", "http://127.0.0.1:8094").agent()).acall("summarize_pdf")

    assert answered.is_error
    assert "presign-upload" in answered.text
