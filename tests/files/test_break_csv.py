from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_break_csv, source_of

HEADER = "question_id,question_text,decomposition,operators,split\n"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_break_rows(tmp_path: Path) -> None:
    rows = (
        HEADER + "GEO_1,which rivers,\"return rivers ;return #1 , #1\",\"['select', 'union']\",train\nGEO_2,what,,,\n"
    )
    first, second = read_break_csv(write(tmp_path / "a.csv", rows))
    assert (first.row, first.question_id, first.source) == (1, "GEO_1", "GEO")
    assert first.operators == ("select", "union")
    assert second.decomposition is None
    assert second.operators == ()


def test_questions_alone_are_enough_and_a_compressed_file_with_a_byte_order_mark_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress("\ufeffquestion_id,question_text\nx,y\n".encode()))
    assert [(example.question_id, example.question) for example in read_break_csv(path)] == [("x", "y")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "missing columns: question_id, question_text"),
        ("a,b\n1,2\n", "missing columns: question_id, question_text"),
        (b"\xff\xfe\x00\x01", "not a UTF-8 text file"),
        (HEADER.encode() + b"x\x00y,\xff\n", "not a UTF-8 text file"),
    ],
)
def test_what_is_not_breaks_file_says_why(tmp_path: Path, content: str | bytes, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read_break_csv(write(tmp_path / "a.csv", content))


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_break_csv(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="this is a folder"):
        read_break_csv(tmp_path)


def test_sources() -> None:
    assert [source_of("ATIS_dev_1"), source_of("17")] == ["ATIS", "other"]
