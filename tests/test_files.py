from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import (
    progress,
    read_break_csv,
    read_json_lines,
    source_of,
    write_folder_atomically,
    write_text_atomically,
)

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
        ("", "no column question_id, question_text"),
        ("a,b\n1,2\n", "no column question_id, question_text"),
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


def test_json_lines_name_the_bad_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"a": 1}\n\n[2]\noops\n')
    values = read_json_lines(path)
    assert [next(values), next(values)] == [(1, {"a": 1}), (3, [2])]
    with pytest.raises(DataError, match="line 4 is not JSON: 'oops'"):
        next(values)


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "out.txt"
    with write_text_atomically(path) as stream:
        stream.write("one")
    with pytest.raises(ZeroDivisionError), write_text_atomically(path) as stream:
        stream.write(f"two {1 / 0}")
    assert path.read_text() == "one"
    assert list(path.parent.iterdir()) == [path]


def test_a_place_that_cannot_be_written_is_our_error(tmp_path: Path) -> None:
    write(tmp_path / "file", "x")
    with pytest.raises(DataError, match="cannot be written"), write_text_atomically(tmp_path / "file" / "out"):
        pass


def test_progress_passes_everything_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress(range(5), "counting", 5)) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().out == ""


def test_sources() -> None:
    assert [source_of("ATIS_dev_1"), source_of("17")] == ["ATIS", "other"]


def test_a_folder_appears_whole_and_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "report"
    write_folder_atomically(folder, {"a.txt": "ä\r\n", "b.txt": "1"})
    assert (folder / "a.txt").read_bytes() == "ä\r\n".encode()
    write_folder_atomically(folder, {"a.txt": "2", "b.txt": "", "c.txt": "3"})
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"a.txt": "2", "b.txt": "", "c.txt": "3"}
    assert [path.name for path in folder.parent.iterdir()] == ["report"]


def test_a_folder_that_cannot_be_written_leaves_nothing_and_keeps_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_folder_atomically(folder, {"a.txt": "old"})
    with pytest.raises(DataError, match="cannot be written"):
        write_folder_atomically(folder, {"a.txt": "new", "no/such/folder.txt": "x"})
    assert (folder / "a.txt").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_folder_with_other_files_and_a_file_in_its_place_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(DataError, match=r"holds other files, such as thesis\.txt"):
        write_folder_atomically(tmp_path, {"a.txt": ""})
    with pytest.raises(DataError, match="this is a file"):
        write_folder_atomically(tmp_path / "thesis.txt", {"a.txt": ""})
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
