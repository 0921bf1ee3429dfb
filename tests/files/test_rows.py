from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_questions
from qdecomp.files.rows import NOT_CLOSED, FileKind, Row, RowFile, _csv_rows

HEADER = "question_id,question_text,decomposition\n"


def forty_rows(broken: int | None = None) -> str:
    """Forty rows; in that one, counted from 1, a quotation mark is opened and never closed."""
    rows = [f'A_{n},"which cubes, of {n}?",return cubes ;return #1 of {n}\n' for n in range(1, 41)]
    if broken is not None:
        rows[broken - 1] = f'A_{broken},which cubes?,"return cubes\n'
    return HEADER + "".join(rows)


@given(st.lists(st.text(alphabet='a",\n ', max_size=12), max_size=30))
def test_every_line_is_in_a_row_and_no_row_is_in_two(lines: list[str]) -> None:
    texts = [line.replace("\n", "") + "\n" for line in lines]
    found = list(_csv_rows(iter(texts)))
    starts = [line for line, _, _ in found]
    assert starts == sorted(set(starts))
    assert starts[:1] == ([1] if lines else [])
    assert all(error is None or error == NOT_CLOSED for _, _, error in found)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("dev.csv", "id,text\na,b\n", FileKind.CSV),
        ("dev.CSV.gz", "id,text\na,b\n", FileKind.CSV),
        ("dev.tsv", "id,text\na,b\n", FileKind.CSV),
        ("dev.csv", '\n {"id": "a"}\n', FileKind.JSON_LINES),
        ("dev.csv", '{"id": "cut of', FileKind.JSON_LINES),
        ("dev.csv", '[{"id": "a"}]', FileKind.JSON_ARRAY),
        ("dev.txt", "{}", FileKind.JSON_LINES),
        ("dev.txt", "{red, blue} cubes", FileKind.OTHER),
        ("dev.csv.txt", "red cubes", FileKind.OTHER),
        ("dev.txt", "[1] what is red", FileKind.OTHER),
        ("dev.jsonl", "[1]", FileKind.JSON_LINES),
        ("dev.json.xz", "1", FileKind.JSON_LINES),
        ("dev.jsonl", " \n\n", FileKind.NOTHING),
    ],
)
def test_the_first_line_counts_more_than_the_name(tmp_path: Path, name: str, content: str, kind: FileKind) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert RowFile(path).kind is kind


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        pytest.param(
            '\nid,text\na,"x\ny"\n\n  \nb,"open\nc,z,\n',
            ["id", "text"],
            [
                Row(1, {"id": "a", "text": "x\ny"}, None, 3),
                Row(2, {"id": "b", "text": "open\n"}, NOT_CLOSED, 7),
                Row(3, {"id": "c", "text": "z"}, None, 8),
            ],
            id="rows are counted without blank lines",
        ),
        pytest.param(
            '{"id": "a", "count": 1}\n\n[1]\noops\n{"count": 2}\nnull\n',
            ["id", "count"],
            [
                Row(1, {"id": "a", "count": 1}, None, 1),
                Row(3, {}, "a JSON list, not an object", 3),
                Row(4, {}, "not JSON", 4),
                Row(5, {"count": 2}, None, 5),
                Row(6, {}, "a JSON NoneType, not an object", 6),
            ],
            id="objects have the numbers of their lines",
        ),
        pytest.param(
            '{"id": "a", "cou\n{"id": "b"}\n',
            [],
            [Row(1, {}, "not JSON", 1), Row(2, {"id": "b"}, None, 2)],
            id="an object that is cut off is not a header",
        ),
        pytest.param(
            '[{"id": "a"},\n\n {"id": "b"}, 3]\n',
            [],
            [Row(1, {"id": "a"}, None, 1), Row(2, {"id": "b"}, None, 2), Row(3, {}, "a JSON int, not an object", 3)],
            id="members of an array are counted",
        ),
        pytest.param(
            'text\n\na\n""\n\n',
            ["text"],
            [Row(1, {"text": ""}, None, 2), Row(2, {"text": "a"}, None, 3), Row(3, {"text": ""}, None, 4)],
            id="a blank line before others is an empty cell of a single column",
        ),
    ],
)
def test_the_rows_of_a_file(tmp_path: Path, content: str, columns: list[str], rows: list[Row]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content, encoding="utf-8")
    file = RowFile(path)
    assert file.columns == columns
    assert list(file) == rows


def test_a_comma_that_is_not_quoted_does_not_cut_a_cell_without_a_word(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text,more\na,which cubes, if any, are red?,x\nb,why?,y,,\nc\n", encoding="utf-8")
    first, second, third = RowFile(path)
    assert first.error == "5 cells, but the header has 3; text with commas must be quoted"
    assert (second.error, third.error) == (None, None)
    (example, *_) = read_questions(path, "text")
    assert example.error == first.error


def test_an_array_that_is_cut_off_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text('[{"id": "a"},\n', encoding="utf-8")
    with pytest.raises(DataError, match="this JSON array cannot be read") as error:
        list(RowFile(path))
    assert "\n" not in str(error.value)
