from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.files.readers.file_kinds import FileKind, kind_by_name, kind_of_file


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("dev.csv", FileKind.CSV),
        ("dev.CSV.gz", FileKind.CSV),
        ("dev.tsv", FileKind.CSV),
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


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("dev.csv", "id,text\na,b\n", FileKind.CSV),
        ("dev.csv", '\n {"id": "a"}\n', FileKind.JSON_LINES),
        ("dev.csv", '{"id": "cut of', FileKind.JSON_LINES),
        ("dev.csv", '[{"id": "a"}]', FileKind.JSON_ARRAY),
        ("dev.txt", "{}", FileKind.JSON_LINES),
        ("dev.txt", "{red, blue} cubes", FileKind.OTHER),
        ("dev.txt", "[1] what is red", FileKind.OTHER),
        ("dev.jsonl", "[1]", FileKind.JSON_LINES),
        ("dev.jsonl", " \n\n", FileKind.NOTHING),
    ],
)
def test_the_first_line_counts_more_than_the_name(tmp_path: Path, name: str, content: str, kind: FileKind) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert kind_of_file(path) is kind
