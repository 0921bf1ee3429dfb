from __future__ import annotations

import bz2
import gzip
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from qdecomp.data_structures.errors import DataError
from qdecomp.files import RowFile, read_json_lines
from qdecomp.files.sources import cache_folder


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
