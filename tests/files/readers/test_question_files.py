from __future__ import annotations

from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files.readers.question_files import read_questions


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("broken.parquet", b"PAR1" + bytes(100), "this Parquet file cannot be read"),
        ("table.csv", b"a,b\n1,2\n", "there is no column question_text or question"),
        ("latin.txt", "caf\u00e9".encode("latin-1"), "not a UTF-8 text file"),
        ("blank.txt", b"", "there are no questions in it"),
    ],
)
def test_a_message_names_its_file_once(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}: {reason}")
    assert str(error.value).count(name) == 1


def test_json_lines_in_a_file_that_is_called_csv_are_read(tmp_path: Path) -> None:
    path = tmp_path / "questions.csv"
    path.write_text('{"question_id": "a", "question": "which cubes are red ?"}\n', encoding="utf-8")
    assert [(row.question_id, row.question) for row in read_questions(path)] == [("a", "which cubes are red ?")]
