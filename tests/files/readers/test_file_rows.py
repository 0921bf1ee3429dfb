from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.files.readers.csv_rows import NOT_CLOSED
from qdecomp.files.readers.file_rows import FileRow, json_rows, table_rows


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        pytest.param(
            '\nid,text\na,"x\ny"\n\n  \nb,"open\nc,z,more\n',
            ["id", "text"],
            [
                FileRow(1, {"id": "a", "text": "x\ny"}),
                FileRow(2, {"id": "b", "text": "open\n"}, f"line 7: {NOT_CLOSED}"),
                FileRow(3, {"id": "c", "text": "z"}),
            ],
            id="rows are counted without blank lines",
        ),
        pytest.param(
            '{"id": "a", "count": 1}\n[1]\n{"count": 2}\n',
            ["id", "count"],
            [
                FileRow(1, {"id": "a", "count": "1"}),
                FileRow(2, {}, "line 2: this line is not a JSON object"),
                FileRow(3, {"id": "", "count": "2"}),
            ],
            id="the first object of JSON lines names the columns",
        ),
        pytest.param(
            '{"id": "a", "cou\n{"id": "b"}\n',
            [],
            [FileRow(1, {}, "line 1: this line is not a JSON object"), FileRow(2, {})],
            id="an object that is cut off is not a header",
        ),
    ],
)
def test_the_rows_of_a_table(tmp_path: Path, content: str, columns: list[str], rows: list[FileRow]) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(content, encoding="utf-8")
    found_columns, found_rows = table_rows(path)
    assert found_columns == columns
    assert list(found_rows) == rows


def test_rows_of_json_lines_say_what_is_no_object(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"id": 1}\n\n[2]\noops\nnull\n', encoding="utf-8")
    assert list(json_rows(path)) == [
        FileRow(1, {"id": 1}),
        FileRow(3, {}, "a JSON list, not an object"),
        FileRow(4, {}, "not JSON"),
        FileRow(5, {}, "a JSON NoneType, not an object"),
    ]
