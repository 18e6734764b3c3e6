import re
import sqlite3
from pathlib import Path

import pytest

from toolwire.adapters import queries
from toolwire.adapters.database import open_for_reading, open_for_writing
from toolwire.adapters.queries import SQL, for_rows, load


def test_a_query_is_read_by_its_name_without_what_is_said_about_it():
    text = "-- A file.\n\n-- name: one\n-- About it;\n-- really.\nSELECT 1;\n\n-- name: two\n-- Two.\nSELECT\n    2;\n"

    assert load(text) == {"one": "SELECT 1", "two": "SELECT\n    2"}


def test_every_query_of_the_file_is_described_and_read():
    text = Path(queries.__file__).with_suffix(".sql").read_text("utf-8")

    assert list(SQL) == re.findall(r"^-- name: (\w+)$", text, re.MULTILINE)


def test_every_query_is_used_by_name():
    directory = Path(queries.__file__).parent
    code = "".join(path.read_text("utf-8") for path in directory.glob("*.py"))

    assert [name for name in SQL if f'"{name}"' not in code] == []


def test_a_query_takes_as_many_rows_as_it_is_asked_to():
    assert for_rows("drop_streams", 1) == "DELETE FROM rows WHERE stream IN (VALUES (?))"
    assert for_rows("drop_streams", 3) == "DELETE FROM rows WHERE stream IN (VALUES (?), (?), (?))"
    assert "(VALUES (?, ?), (?, ?)) AS gone" in for_rows("delete_work", 2)


@pytest.mark.parametrize("name", SQL)
@pytest.mark.parametrize("rows", [1, 256])
def test_every_query_finds_its_rows_by_an_index(name: str, rows: int, tmp_path: Path):
    connection = open_for_writing(tmp_path / "store.db")
    sql = for_rows(name, rows)
    steps = connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * sql.count("?")).fetchall()
    connection.close()

    assert [detail for _, _, _, detail in steps if re.match(r"SCAN (records|rows|work)\b", detail)] == []


def test_a_reading_connection_cannot_write(tmp_path: Path):
    open_for_writing(tmp_path / "store.db").close()
    connection = open_for_reading(tmp_path / "store.db")

    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM records")
    connection.close()
