from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.files.readers.csv_rows import NOT_CLOSED
from qdecomp.files.readers.file_rows import FileKind, FileRow, json_rows, kind_by_name, table_rows


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("dev.csv", FileKind.CSV),
        ("dev.CSV.gz", FileKind.CSV),
        ("dev.jsonl", FileKind.JSON_LINES),
        ("dev.json.xz", FileKind.JSON_LINES),
        ("dev.ndjson", FileKind.JSON_LINES),
        ("dev.parquet", FileKind.OTHER),
        ("dev.csv.txt", FileKind.OTHER),
        ("dev", FileKind.OTHER),
    ],
)
def test_what_a_name_says(name: str, kind: FileKind) -> None:
    assert kind_by_name(name) is kind


def test_rows_of_a_table_are_counted_without_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('\nid,text\na,"x\ny"\n\n  \nb,"open\nc,z,more\n', encoding="utf-8")
    columns, rows = table_rows(path)
    assert columns == ["id", "text"]
    assert list(rows) == [
        FileRow(1, {"id": "a", "text": "x\ny"}),
        FileRow(2, {"id": "b", "text": "open\n"}, f"line 7: {NOT_CLOSED}"),
        FileRow(3, {"id": "c", "text": "z"}),
    ]


def test_json_lines_are_a_table_whose_columns_are_the_first_fields(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('{"id": "a", "count": 1}\n[1]\n{"count": 2}\n', encoding="utf-8")
    columns, rows = table_rows(path)
    assert columns == ["id", "count"]
    assert list(rows) == [
        FileRow(1, {"id": "a", "count": "1"}),
        FileRow(2, {}, "line 2: this line is not a JSON object"),
        FileRow(3, {"id": "", "count": "2"}),
    ]


def test_rows_of_json_lines_say_what_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1}\n\n[2]\noops\nnull\n', encoding="utf-8")
    assert list(json_rows(path)) == [
        FileRow(1, {"id": 1}),
        FileRow(3, {}, "a JSON list, not an object"),
        FileRow(4, {}, "not JSON"),
        FileRow(5, {}, "a JSON NoneType, not an object"),
    ]
