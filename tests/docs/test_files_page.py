"""What docs/how-to/files.md says of agents that read and return files is so."""

from docs_src.files.tutorial001 import agent
from tests.docs.pages import read
from toolwire.config import Config
from toolwire.testing.agents import Harness

PAGE = read("docs/how-to/files.md")
ROWS = b"name,age\nCy,7\nAda,9\nBob,8\n"


async def test_the_tables_agent_reads_the_file_and_returns_one():
    harness = Harness(agent, attachments=[{"file_id": "f", "content_type": "text/csv", "data": ROWS}])

    answered = await harness.acall("sort_rows", column="name")

    said, link = answered.reply.payload["content"]
    assert said == {"type": "text", "text": "3 rows"}
    assert (link["type"], link["name"], link["mimeType"]) == ("resource_link", "by-name.csv", "text/csv")
    assert link["uri"].startswith("toolwire://files/")
    assert harness.files["by-name.csv"].decode().split() == ["name,age", "Ada,9", "Bob,8", "Cy,7"]


async def test_a_file_of_another_type_or_too_large_is_an_error_that_a_model_reads():
    for file in ({"content_type": "image/png"}, {"content_type": "text/csv", "size": 6_000_000}):
        harness = Harness(agent, attachments=[{"file_id": "f", "data": ROWS, **file}])
        answered = await harness.acall("sort_rows", column="name")
        assert answered.is_error
        assert "send" in answered.text


def test_the_numbers_and_settings_are_those_of_the_configuration():
    config = Config()
    assert (config.upload_url_ttl_s, config.attachments_max, config.result_inline_limit_bytes) == (900, 16, 1024**2)
    for words in ("within 15 minutes", "up to 16 of them", "`result_inline_limit_bytes` (1 MiB)"):
        assert words in PAGE
