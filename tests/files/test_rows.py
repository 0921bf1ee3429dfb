"""The rows of files of every kind, wherever and however packed they are."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import read_json_lines, read_questions
from qdecomp.files.rows import NOT_CLOSED, FileKind, Row, RowFile
from qdecomp.files.sources import cache_folder


def forty_rows(broken: int | None = None) -> str:
    """Forty rows; in that one, counted from 1, a quotation mark is opened and never closed."""
    rows = [f'A_{n},"which cubes, of {n}?",return cubes ;return #1 of {n}\n' for n in range(1, 41)]
    if broken is not None:
        rows[broken - 1] = f'A_{broken},which cubes?,"return cubes\n'
    return "question_id,question_text,decomposition\n" + "".join(rows)


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("dev.csv", "id,text\na,b\n", FileKind.CSV),
        ("dev.CSV.gz", "id,text\na,b\n", FileKind.CSV),
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


def test_json_lines_name_the_bad_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n[2]\n')
    values = read_json_lines(path)
    assert next(values) == (1, {"a": 1})
    with pytest.raises(DataError, match="line 3 is a JSON list, not an object"):
        next(values)
    path.write_text('{"a": 1}\noops\n')
    with pytest.raises(DataError, match="line 2 is not JSON"):
        list(read_json_lines(path))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, bytes])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows"])
def test_compressed_files_are_read_by_their_content(tmp_path: Path, pack: Callable[[bytes], bytes], name: str) -> None:
    path = tmp_path / name
    path.write_bytes(pack(b"\xef\xbb\xbfone\r\ntwo"))
    assert [row.fields for row in RowFile(path).texts("text")] == [{"text": "one"}, {"text": "two"}]


@pytest.mark.parametrize(("start", "name"), [(b"PK\x03\x04", "zip"), (b"(\xb5/\xfd", "Zstandard")])
def test_what_cannot_be_unpacked_is_refused(tmp_path: Path, start: bytes, name: str) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(start + b"x" * 40)
    with pytest.raises(DataError, match=f"this is a {name} file; unpack it first"):
        RowFile(path)


def test_a_compressed_file_that_is_cut_off_is_our_error(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(gzip.compress(bytes(range(256)) * 100)[:-20])
    with pytest.raises(DataError, match=r"rows\.csv: "):
        list(RowFile(path))


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.write(write, b"id,text\na,one\n")
    os.close(write)
    assert [row.fields for row in RowFile(f"/dev/fd/{read}")] == [{"id": "a", "text": "one"}]
    os.close(read)


def test_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDECOMP_CACHE", "/somewhere")
    assert cache_folder() == Path("/somewhere")
    monkeypatch.delenv("QDECOMP_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder() == Path("/caches/qdecomp")
